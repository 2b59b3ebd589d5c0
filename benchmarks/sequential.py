"""Count the pairs of outputs that the sequential audit needs to refute a false claim.

    python -m benchmarks.sequential [--runs N] [--only TEXT]

95 %, mean over runs with its standard error. The floor is ln(20) / D, D the divergence of the pair from the nearest
pair that keeps the claim: no valid sequential test needs fewer pairs on average, even one that knows both laws.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np

from audit.extensions.sequential.game import play_sequentially
from audit.outputs.encode import Outputs

Side = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A pair of laws, a false claim, and what to expect."""

    name: str
    left: Side
    right: Side
    epsilon: float
    delta: float
    target: float
    floor: float
    most: int = 20_000


def _laplace(mean: float, scale: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.laplace(mean, scale, size)


def _gaussian(mean: float, scale: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.normal(mean, scale, size)


def _bit(probability: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return (rng.random(size) < probability).astype(np.int64)


def _mean_release(noise: Callable[..., np.ndarray], epsilon: float) -> tuple[Side, Side]:
    """The mean of (0) and of (0, 1) with noise of scale 2 / (n epsilon): n itself is not protected."""
    return partial(noise, 0.0, 2 / epsilon), partial(noise, 0.5, 1 / epsilon)


_LAPLACE = partial(_laplace, 0.0, 1.0), partial(_laplace, 1.0, 1.0)
_RESPONSE = partial(_bit, 1 / (1 + math.exp(-1))), partial(_bit, 1 / (1 + math.exp(1)))

CASES = (
    Case("Laplace mean, n leaked", *_mean_release(_laplace, 0.01), 0.01, 0.0, 65, 28.5),
    Case("Laplace mean, n leaked", *_mean_release(_laplace, 0.1), 0.1, 0.0, 80, 34.6),
    Case("Gaussian mean, n leaked", *_mean_release(_gaussian, 0.01), 0.01, 1e-5, 45, math.nan),
    Case("Gaussian mean, n leaked", *_mean_release(_gaussian, 0.1), 0.1, 1e-5, 52, math.nan),
    Case("Laplace, epsilon 1", *_LAPLACE, 0.5, 0.0, 140, 76.7),
    Case("Laplace, epsilon 1", *_LAPLACE, 0.8, 0.0, 1000, 523.2),
    Case("randomised response, epsilon 1", *_RESPONSE, 0.5, 0.0, 95, 56.9),
    Case("randomised response, epsilon 1", *_RESPONSE, 0.8, 0.0, 620, 369.8),
)


def steps_to_refute(case: Case, seed: int) -> int:
    """Pairs used in one run; the most allowed when the claim was not refuted."""
    rngs = [np.random.default_rng([seed, side]) for side in (0, 1)]

    def draw(side: int, size: int) -> Outputs:
        raw = (case.left, case.right)[side](rngs[side], size)
        return Outputs(raw, raw.astype(float))

    return play_sequentially(draw, case.epsilon, case.delta, 0.05, case.most).steps


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print(f"{'mechanism':32} {'claim':>14} {'target':>7} {'pairs':>8} {'s.e.':>6} {'floor':>6} {'s/run':>6}")
    for case in CASES:
        claim = f"{case.epsilon:g}, {case.delta:g}"
        if asked.only not in f"{case.name} {claim}":
            continue
        started = time.perf_counter()
        jobs = (joblib.delayed(steps_to_refute)(case, run) for run in range(asked.runs))
        steps = np.array(joblib.Parallel(n_jobs=2)(jobs))
        spent = (time.perf_counter() - started) / asked.runs
        error = steps.std(ddof=1) / math.sqrt(len(steps))
        measured = f"{case.target:7.0f} {steps.mean():8.1f} {error:6.1f} {case.floor:6.1f} {spent:6.2f}"
        print(f"{case.name:32} {claim:>14} {measured}", flush=True)


if __name__ == "__main__":
    main()
