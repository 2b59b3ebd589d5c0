"""Loops with noise that is correlated on purpose, right and wrong: what the check of a recorded run says of each.

`python -m benchmarks.training.correlated_loops [--seeds 167]` prints the verdicts of six correct loops at that many
seeds each, and of twelve faulty ones. 600 records, 60 of them in each batch; a record returns after ten steps, ten
times.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import audit
from audit import training
from audit.training import Strategy

RECORDS, STEPS, SEPARATION, DIMENSION, NOISE = 600, 100, 10, 40, 2.0
ROWS = np.random.default_rng(4).normal(size=(RECORDS, DIMENSION))
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
BANDED = Strategy("banded", (1.0, 0.5, 0.375, 0.3125))
BUFFERED = Strategy("buffered", (0.3, 0.9, 0.2, 0.5))
_places = np.subtract.outer(np.arange(STEPS), np.arange(STEPS))
_matrix = np.where(_places >= 0, 0.6 ** np.maximum(_places, 0) * (1 + 0.5 * np.cos(np.arange(STEPS))), 0.0)
MATRIX = Strategy("matrix", tuple(_matrix[np.tril_indices(STEPS)]))


@dataclass(frozen=True)
class Loop:
    """A claimed strategy, and what is run: each part of it as claimed unless given."""

    strategy: Strategy | None
    run: Strategy | None = None  # whose noise is added
    scale: float = 1.0  # of the noise, beside the claimed one
    sample: Callable[[int, np.random.Generator], np.ndarray] | None = None
    fresh: Callable[[int, np.ndarray, np.random.Generator], np.ndarray] | None = None  # the numbers under the noise
    correlate: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # (whitening, numbers) -> noise

    @property
    def claim(self) -> audit.TrainingClaim:
        told = {"noise_multiplier": NOISE, "steps": STEPS, "clip": 1.0, "divisor": 60.0}
        return audit.TrainingClaim(sampling="separated", separation=SEPARATION, strategy=self.strategy, **told)

    def recorded(self, seed: int) -> training.Recorder:
        """Return the recorder of one run."""
        claim, rng = self.claim, np.random.default_rng([seed, 6])
        recorder = training.Recorder(claim, RECORDS, seed=seed)
        numbers = rng.normal(size=(STEPS, DIMENSION)) * claim.noise_scale * self.scale
        for step in range(STEPS if self.fresh else 0):
            numbers[step] = self.fresh(step, numbers, rng)  # type: ignore[misc]
        strategy = self.run or self.strategy
        whitening = np.eye(STEPS) if strategy is None else strategy.whitening(STEPS)
        noise = (self.correlate or np.linalg.solve)(whitening, numbers)
        order = rng.permutation(RECORDS)
        for step in range(STEPS):
            batch = self.sample(step, rng) if self.sample else order[step % 10 * 60 : (step % 10 + 1) * 60]
            clipped = ROWS[batch]
            noisy = clipped.sum(axis=0) + noise[step]
            recorder.step(batch, clipped=clipped, noisy_sum=noisy, released=noisy / 60)
        return recorder

    def verdict(self, seed: int, **settings: Any) -> Any:
        """Return the result of the check of one run."""
        recorder = self.recorded(seed)
        return audit.check_training(recorder, recorder.claim, unchecked=("alone",), **settings)


def restarted(whitening: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return noise whose correlation starts anew with each epoch."""
    parts = [np.linalg.solve(whitening[:10, :10], numbers[start : start + 10]) for start in range(0, STEPS, 10)]
    return np.concatenate(parts)


def _shuffled_anew(step: int, rng: np.random.Generator) -> np.ndarray:
    order = np.random.default_rng([step // 10, 8]).permutation(RECORDS)
    return order[step % 10 * 60 : (step % 10 + 1) * 60]


def _norm(strategy: Strategy) -> float:
    return strategy.sensitivity(STEPS, SEPARATION)


CORRECT = {
    "banded": Loop(BANDED),
    "buffered": Loop(BUFFERED),
    "tree": Loop(Strategy("tree")),
    "matrix": Loop(MATRIX),
    "no correlation": Loop(None),
    "one band": Loop(Strategy("banded", (2.0,))),
}
FAULTS = {
    "wrong band": Loop(BANDED, Strategy("banded", BANDED.numbers[:2])),
    "a coefficient 20 % off": Loop(BANDED, Strategy("banded", (1.0, 0.6, 0.375, 0.3125))),
    "wrong decay of a buffer": Loop(BUFFERED, Strategy("buffered", (0.3, 0.7, 0.2, 0.5))),
    "noise restarted at each epoch": Loop(BUFFERED, correlate=restarted),
    "sensitivity of one participation": Loop(BANDED, scale=BANDED.sensitivity(STEPS, STEPS) / _norm(BANDED)),
    "not scaled by the sensitivity": Loop(Strategy("tree"), scale=1 / _norm(Strategy("tree"))),
    "columns taken to have norm 1": Loop(BANDED, scale=math.sqrt(10) / _norm(BANDED)),
    "epochs shuffled anew": Loop(BANDED, sample=_shuffled_anew),
    "Poisson batches": Loop(BANDED, sample=lambda step, rng: np.flatnonzero(rng.random(RECORDS) < 0.1)),
    "generator restored from step 20": Loop(
        BANDED, fresh=lambda step, numbers, rng: numbers[step - 30] if 50 <= step < 80 else numbers[step]
    ),
    "strategy in place of its inverse": Loop(BANDED, correlate=np.matmul),
    "independent noise": Loop(BANDED, Strategy("banded", (1.0,))),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=167, help="of each correct loop")
    seeds, together = parser.parse_args().seeds, Counter[str]()
    for name, loop in CORRECT.items():
        told = Counter(str(loop.verdict(seed).verdict) for seed in range(seeds))
        together += told
        print(f"correct  {name:34} {dict(told)}", flush=True)
    print(f"correct loops together: {dict(together)}")
    for name, loop in FAULTS.items():
        result = loop.verdict(1)
        print(f"faulty   {name:34} {result.verdict} {result.reason[:110]}", flush=True)


if __name__ == "__main__":
    main()
