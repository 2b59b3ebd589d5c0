"""Measure false alarms on mechanisms whose outputs are exact and dependent within a call, and what that costs.

python -m benchmarks.dependence [--repeats N] [--budgets 1000 10000 100000] [--out FILE]

Every mechanism keeps (1, 0)-differential privacy exactly for each output. Their noise is shared within a call: by a
Gaussian copula, by all outputs, or by a random half of them. The second table compares the certified bound of
independent mechanisms with that of the plain game on the same budget: one call per stage and dataset, no correction.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

from audit import Local, PrivacyClaim, Verdict, check_privacy
from audit.events.candidates import choose_events
from audit.events.thresholds import TestDesign, critical_value
from audit.evidence.fixed_budget import Split, carry_out, draw_calls, joined, play
from audit.execution.batches import BLOCK
from audit.execution.seeds import Stream
from audit.execution.workers import HERE
from audit.mechanism.call import Subject
from audit.scorers import Training
from audit.statistics.guess_game import game_epsilon_lower_bound

SIGNIFICANCE, CONFIDENCE = 0.05, 0.999
PAIR = (0.0, 1.0)
CORRELATIONS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
DEPENDENT_AT = {1_000: 400, 10_000: 200, 100_000: 100, 1_000_000: 60}  # repeats by budget
Mechanism = Callable[[float, int, np.random.Generator], np.ndarray]


def _laplace(uniforms: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(uniforms - 0.5) * -np.log1p(-2 * np.abs(uniforms - 0.5)))


@dataclass(frozen=True)
class Copula:
    """Laplace noise of scale 1; normal scores of the outputs of a call have this correlation."""

    correlation: float

    def __call__(self, data: float, size: int, rng: np.random.Generator) -> np.ndarray:
        own, shared = rng.standard_normal(size), rng.standard_normal()
        scores = np.sqrt(1 - self.correlation) * own + np.sqrt(self.correlation) * shared
        return data + _laplace(special.ndtr(scores))


@dataclass(frozen=True)
class Shared:
    """Laplace noise of scale 1, the same for all outputs of a call, or for a random share of them."""

    share: float = 1.0

    def __call__(self, data: float, size: int, rng: np.random.Generator) -> np.ndarray:
        own, shared = rng.laplace(size=size), rng.laplace()
        return data + np.where(rng.random(size) < self.share, shared, own)


@dataclass(frozen=True)
class SharedResponse:
    """Randomized response, one coin for all outputs of a call, or for a random share of them."""

    share: float = 1.0

    def __call__(self, data: float, size: int, rng: np.random.Generator) -> np.ndarray:
        own, shared = rng.random(size), rng.random()
        truthful = np.where(rng.random(size) < self.share, shared, own) < special.expit(1.0)
        return np.where(truthful, data, 1 - data)


DEPENDENT: dict[str, Any] = {
    **{f"copula, correlation {correlation:g}": Copula(correlation) for correlation in CORRELATIONS},
    "shared noise": Shared(),
    "half-shared noise": Shared(0.5),
    "shared response": SharedResponse(),
    "half-shared response": SharedResponse(0.5),
}


def laplace(scale: float) -> Mechanism:
    """Return a Laplace mechanism on numbers."""
    return lambda data, size, rng: data + rng.laplace(0.0, scale, size)


def gaussian(data: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add standard normal noise: not private at delta = 0."""
    return data + rng.normal(size=size)


def rarely(data: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Differ between the datasets on an event of probability about 0.02."""
    return np.where(rng.random(size) < np.where(data > 0, 0.02, 0.02 * np.exp(-2)), 2.0, rng.random(size))


INDEPENDENT: dict[str, Mechanism] = {
    "Laplace, epsilon 1": laplace(1.0),
    "Laplace, epsilon 2": laplace(0.5),
    "Gaussian": gaussian,
    "rare event, epsilon 2": rarely,
}


def audited(mechanism: Mechanism, budget: int, seed: int) -> tuple[Verdict, float, float]:
    """Return the verdict on the claim epsilon = 1, the certified bound, and that without correction."""
    claim = PrivacyClaim(1.0, relation=Local())
    settings = {"budget": budget, "significance": SIGNIFICANCE, "confirmation": None, "seed": seed, "workers": 0}
    result = check_privacy(mechanism, claim, [PAIR], **settings)  # what the first outputs alone would say
    game = result.evidence.game
    uncorrected = 0.0 if game is None else game.epsilon_lower_bound(0.0, SIGNIFICANCE, 1.0)
    return result.verdict, result.epsilon_lower_bound, uncorrected


def plain_bound(mechanism: Mechanism, budget: int, seed: int) -> float:
    """Return the bound of the plain game: one training call per dataset, certifying calls as large as they may be."""
    subject, stream, split = Subject(mechanism), Stream(seed), Split.of(budget, 1)
    drawn, _ = carry_out(draw_calls(subject, [PAIR], 1, split.training, stream.child(0)))
    runs = 2 * (budget - split.training)
    design = TestDesign(0.0, critical_value(SIGNIFICANCE), 2 * split.training, runs, 1.0)
    events = choose_events(Training(*joined(drawn)[0], mechanism, PAIR), design)
    if events is None:
        return 0.0
    counts = carry_out(play(subject, PAIR, events, runs, stream, HERE, BLOCK))[0]
    return game_epsilon_lower_bound(counts, 0.0, SIGNIFICANCE)


def interval(count: int, trials: int) -> tuple[float, float]:
    """Return the exact interval of a rate at the confidence of this page."""
    found = stats.binomtest(count, trials).proportion_ci(CONFIDENCE, "exact")
    return float(found.low), float(found.high)


def false_alarms(budgets: Sequence[int], repeats: int | None) -> list[str]:
    """Return the rows of the table of true claims."""
    rows = [
        f"| mechanism | budget | audits | FAIL | rate of FAIL, {100 * CONFIDENCE:g} % interval | INCONCLUSIVE | PASS |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for budget in budgets:
        trials = repeats or DEPENDENT_AT.get(budget, 20)
        for name, mechanism in DEPENDENT.items():
            counts = Counter(audited(mechanism, budget, seed)[0] for seed in range(trials))
            low, high = interval(counts[Verdict.FAIL], trials)
            failed, others = counts[Verdict.FAIL], f"{counts[Verdict.INCONCLUSIVE]} | {counts[Verdict.PASS]}"
            flag = " **above the significance**" if low > SIGNIFICANCE else ""
            rows.append(f"| {name} | {budget:,} | {trials} | {failed} | {low:.4f} to {high:.4f}{flag} | {others} |")
            print(rows[-1], flush=True)
    return rows


def losses(budgets: Sequence[int], repeats: int | None) -> list[str]:
    """Return the rows of the table of independent mechanisms."""
    rows = [
        "| mechanism | budget | audits | mean bound | by the design effect | of the plain game | loss | its error |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for budget in budgets:
        trials = repeats or DEPENDENT_AT.get(budget, 20)
        for name, mechanism in INDEPENDENT.items():
            bounds = np.array(
                [
                    (*audited(mechanism, budget, seed)[1:], plain_bound(mechanism, budget, seed))
                    for seed in range(trials)
                ]
            )
            (ours, same, plain), gaps = bounds.mean(axis=0), bounds[:, 2] - bounds[:, 0]
            loss, error = 100 * gaps.mean() / plain, 100 * gaps.std(ddof=1) / np.sqrt(trials) / plain
            paired = f"{100 * (same - ours) / same:.2f} %" if same else ""
            found = f"{ours:.4f} | {paired} | {plain:.4f} | {loss:.2f} % | {error:.2f} %"
            rows.append(f"| {name} | {budget:,} | {trials} | {found} |")
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print both tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budgets", type=int, nargs="+", default=list(DEPENDENT_AT))
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--only", choices=("alarms", "losses"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    parts = []
    if options.only != "losses":
        parts.append(("True claims, dependent outputs", false_alarms(options.budgets, options.repeats)))
    if options.only != "alarms":
        parts.append(("Independent outputs: what the protection costs", losses(options.budgets, options.repeats)))
    text = "\n\n".join(f"## {title}\n\n" + "\n".join(rows) for title, rows in parts)
    if options.out:
        options.out.write_text(
            f"# Dependence within a call\n\nWritten by `python -m benchmarks.dependence`.\n\n{text}\n"
        )


if __name__ == "__main__":
    main()
