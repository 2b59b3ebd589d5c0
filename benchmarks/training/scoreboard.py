"""Run the faults of DP-SGD, and say what convicts them: conformance of one run, canaries in one run, or 1,000 runs.

Run as `python -m benchmarks.training.scoreboard [--runs 1000]`. It prints a table:

* *fault*, with the *truth*: its epsilon at delta = 1e-5, where its accountant says 3.50.
* *conformance*: the verdict of `audit.check_training` on one run, with the first thing that differs; for both models.
* *one run*: the bound from 300 canaries in one run of the logistic regression, and whether it exceeds the claim.
* *1,000 runs*: `audit.check_privacy` with 500 outputs per dataset, each of a whole run on the worst pair.

The last lines say how often the correct loop was convicted in `--runs` runs, and what became of the decoys. FAIL has an
error probability of 1e-6 each; the bound of one run one of 0.05.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import audit
from audit import Verdict
from audit.extensions import training
from benchmarks.training.faults import DECOYS, DELTA, FAULTS, Fault
from benchmarks.training.loop import CANARIES, CLIP, MODELS, Loop

GUESSES = 200  # of the canaries in one run; fixed beforehand
OUTPUTS = 500  # per dataset
SEED = 20


def one_run_bound(included: np.ndarray, left_out: np.ndarray) -> float:
    """Return a lower bound of epsilon from the scores of canaries in one run."""
    claim = audit.PrivacyClaim(claimed(), DELTA, audit.AddRemove(), "the accountant")
    return audit.check_canaries(included, left_out, claim, guesses=GUESSES).epsilon_lower_bound


def conformance(fault: type[Loop], model: str, seed: int) -> tuple[Any, float]:
    """Return the result of one recorded run with canaries, and its seconds."""
    started = time.perf_counter()
    loop = fault(model, _plan(seed).places, np.random.default_rng([SEED, seed]))
    recorder = loop.recorder(seed)
    loop.run(recorder)
    return audit.check_training(recorder, loop.claim), time.perf_counter() - started


def by_one_run(fault: type[Loop]) -> tuple[float, float]:
    """Return the bound from the canaries of one run, and its seconds."""
    started, plan = time.perf_counter(), _plan(0)
    loop = fault("logistic", plan.places, np.random.default_rng(SEED))
    gradients = np.zeros((CANARIES, loop.dimension))
    for canary in range(CANARIES):
        gradients[canary, [canary, loop.dimension - 1 - canary]] = CLIP / math.sqrt(2)
    scores = training.AlignmentScores(gradients)
    loop.run(scores=scores)
    return one_run_bound(*plan.split(scores.values)), time.perf_counter() - started


def by_many_runs(fault: Fault) -> tuple[Any, float]:
    """Return the result of a privacy check of the whole run, on the worst pair, and its seconds."""
    started = time.perf_counter()

    def mechanism(canaries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([_seen(fault.loop(fault.pair, canaries, rng).run()) for _ in range(size)])

    claim = audit.PrivacyClaim(claimed(), DELTA, audit.AddRemove(), "the accountant")
    pair = [(np.zeros(0, dtype=int), np.zeros(1, dtype=int))]
    result = audit.check_privacy(mechanism, claim, pair, budget=OUTPUTS, workers=0, method="fixed", confirmation=None)
    return result, time.perf_counter() - started


def _seen(released: np.ndarray) -> list[float]:
    """Return what an attacker reads of a run on a worst pair: along the canary, over the steps, over the shards."""
    d = released.shape[1]
    along, other = released[:, 0] + released[:, -1], released[:, 1:-1]
    shards = released[:, 0] - released[:, d // 2]
    return [
        along.sum(),
        along.max(),
        along.min(),
        along.std(),
        np.abs(shards).max(),
        released[:, -1].max(),
        other.std(),
    ]


def claimed() -> float:
    """Return what the accountant of the correct loop says."""
    from audit.extensions.training.runs.epsilon import epsilon_of_claim

    return epsilon_of_claim(Loop().claim, Loop().records)


def _plan(seed: int) -> training.CanaryPlan:
    return training.CanaryPlan.flip(CANARIES, seed=seed)


def row(fault: Fault) -> list[str]:
    """Return the cells of a fault."""
    checks = [conformance(fault.loop, model, 1) for model in ("logistic", "network")]
    bound, one = by_one_run(fault.loop)
    many, thousand = by_many_runs(fault)
    verdicts = "/".join(str(result.verdict) for result, _ in checks)
    first = checks[0][0].reason.partition(". ")[0].partition(";")[0]
    truth = f"{fault.sign} {fault.epsilon:.3g}" + (f" ({fault.note})" if fault.note else "")
    return [
        fault.name,
        truth,
        verdicts,
        f"{max(seconds for _, seconds in checks):.1f}",
        f"{bound:.2f}{' convicted' if bound > claimed() else ''}",
        f"{one:.1f}",
        f"{many.epsilon_lower_bound:.2f}{' convicted' if many.verdict is Verdict.FAIL else ''}",
        f"{thousand:.0f}",
        first,
    ]


def verdict_of(loop: type[Loop], seed: int) -> str:
    """Return the verdict of one run of a correct loop; every third one is of the network."""
    return str(conformance(loop, "network" if seed % 3 == 0 else "logistic", seed)[0].verdict)


HEADS = ("fault", "truth", "conformance", "s", "one run", "s", f"{2 * OUTPUTS:,} runs", "s", "first difference")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="of the correct loop")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    options, started = parser.parse_args(), time.perf_counter()
    with Parallel(n_jobs=options.jobs) as parallel:
        rows = parallel(delayed(row)(fault) for fault in FAULTS)
        print(f"claimed: epsilon {claimed():.4g} at delta {DELTA:g}\n")
        print("| " + " | ".join(HEADS) + " |\n|" + " --- |" * len(HEADS))
        for cells in rows:
            print("| " + " | ".join(cells) + " |", flush=True)
        correct = Counter(parallel(delayed(verdict_of)(Loop, seed) for seed in range(options.runs)))
        print(f"\ncorrect loop, {options.runs:,} runs: {dict(correct)}")
        for decoy in DECOYS:
            found = Counter(parallel(delayed(verdict_of)(decoy, seed) for seed in range(10)))
            print(f"decoy {decoy.__name__}, 10 runs: {dict(found)}")
    print(f"{len(FAULTS)} faults, {len(MODELS) - 2} models, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
