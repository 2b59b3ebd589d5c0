"""Count the outputs that a default audit of slow calls draws until it refutes a false claim, and what it costs.

Each call takes at least 60 microseconds, as that of a library written in another language does. Beside it, the pairs
of outputs of a whole sequential check of a mean whose size leaks, its confirmation and its probe included.

    python -m benchmarks.early_looks [--runs N]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import audit

SECONDS = 60e-6
PAIRS = [(np.zeros(1), np.ones(1))]
LEAKED_MEAN = 0.01  # epsilon that the mean claims
RELATION = audit.Local()


def slow_laplace(data: np.ndarray, rng: np.random.Generator) -> float:
    """Return a noisy number, of epsilon 1, after some time."""
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        pass
    return float(data.sum() + rng.laplace())


def leaked_mean(data: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return noisy means of numbers in [0, 1]; the noise of one number has twice the scale of that of two."""
    return np.asarray(0.5 * data[0] + rng.laplace(scale=(2 - data[0]) / LEAKED_MEAN, size=size))


def outputs_until_fail(epsilon: float, seed: int) -> tuple[int, bool, float]:
    """Return the outputs of an audit at the defaults, whether it is FAIL, and its CPU seconds."""
    claim, started = audit.PrivacyClaim(epsilon, relation=RELATION), time.process_time()
    result = audit.check_privacy(audit.per_call(slow_laplace), claim, PAIRS, seed=seed, workers=0)
    return result.samples, result.verdict is audit.Verdict.FAIL, time.process_time() - started


def pairs_of_leaked_mean(seed: int) -> tuple[int, bool, float]:
    """Return the pairs of outputs of a whole sequential check, whether it is FAIL, and its CPU seconds."""
    claim, started = audit.PrivacyClaim(LEAKED_MEAN, relation=RELATION), time.process_time()
    result = audit.check_privacy(leaked_mean, claim, PAIRS, method="sequential", budget=20_000, seed=seed, workers=0)
    return result.samples // 2, result.verdict is audit.Verdict.FAIL, time.process_time() - started


def main() -> None:
    """Print one line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    runs = range(parser.parse_args().runs)
    cases = [
        ("outputs, epsilon 1 claimed as 0.5, per call", lambda seed: outputs_until_fail(0.5, seed)),
        ("outputs, epsilon 1 claimed as 0.8, per call", lambda seed: outputs_until_fail(0.8, seed)),
        ("pairs, mean of epsilon 0.01 whose size leaks", pairs_of_leaked_mean),
    ]
    for name, measured in cases:
        drawn, refuted, seconds = zip(*map(measured, runs), strict=True)
        said = f"median {statistics.median(drawn):,.0f}, most {max(drawn):,}"
        print(f"{name}: {said}; FAIL {sum(refuted)} of {len(runs)}; {statistics.median(seconds):.2f} CPU s", flush=True)


if __name__ == "__main__":
    main()
