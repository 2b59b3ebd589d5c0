"""Loops with noise that is correlated on purpose, right and wrong: what the check of a recorded run says of each.

`python -m benchmarks.training.correlated_loops [--seeds 112]` prints the verdicts of nine correct loops at that many
seeds each, and of the faulty ones. 600 records, 60 of them in each batch, about, over 100 steps. A record returns after
ten steps, ten times; or is in one of ten bins; or in one of two groups, from which it enters at rate 0.2.
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
from audit.extensions import training
from audit.extensions.training import Strategy

RECORDS, STEPS, SEPARATION, DIMENSION, NOISE = 600, 100, 10, 40, 2.0
GROUPS, RATE = 2, 0.2
_BINS = np.random.default_rng(8).integers(SEPARATION, size=RECORDS)
ROWS = np.random.default_rng(4).normal(size=(RECORDS, DIMENSION))
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
BANDED = Strategy("banded", (1.0, 0.5, 0.375, 0.3125))
TWO = Strategy("banded", (1.0, 0.5))
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
    sampling: str = "separated"

    @property
    def claim(self) -> audit.TrainingClaim:
        told: dict[str, Any] = {"noise_multiplier": NOISE, "steps": STEPS, "clip": 1.0, "divisor": 60.0}
        told |= {"separation": GROUPS, "rate": RATE} if self.sampling == "cyclic" else {"separation": SEPARATION}
        return audit.TrainingClaim(sampling=self.sampling, strategy=self.strategy, **told)

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
        order, group = rng.permutation(RECORDS), rng.integers(GROUPS, size=RECORDS)
        bins = rng.integers(SEPARATION, size=RECORDS)
        for step in range(STEPS):
            if self.sample:
                batch = self.sample(step, rng)
            elif self.sampling == "cyclic":
                batch = np.flatnonzero((group == step % GROUPS) & (rng.random(RECORDS) < RATE))
            else:
                batch = np.flatnonzero(bins == step % SEPARATION) if self.sampling == "bins" else _part(order, step)
            clipped = ROWS[batch]
            noisy = clipped.sum(axis=0) + noise[step]
            recorder.step(batch, clipped=clipped, noisy_sum=noisy, released=noisy / 60)
        return recorder

    def verdict(self, seed: int, **settings: Any) -> Any:
        """Return the result of the check of one run."""
        recorder = self.recorded(seed)
        return audit.check_training(recorder, recorder.claim, unchecked=("alone", "update"), **settings)


def restarted(whitening: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return noise whose correlation starts anew with each epoch."""
    parts = [np.linalg.solve(whitening[:10, :10], numbers[start : start + 10]) for start in range(0, STEPS, 10)]
    return np.concatenate(parts)


def _part(order: np.ndarray, step: int) -> np.ndarray:
    return order[step % 10 * 60 : (step % 10 + 1) * 60]


def _shuffled_anew(step: int, rng: np.random.Generator) -> np.ndarray:
    return _part(np.random.default_rng([step // 10, 8]).permutation(RECORDS), step)


def _drawn_anew(step: int, rng: np.random.Generator) -> np.ndarray:
    """Return the batch of a step where bins are drawn in each epoch."""
    return np.flatnonzero(np.random.default_rng([step // 10, 9]).integers(SEPARATION, size=RECORDS) == step % 10)


def _regrouped(step: int, rng: np.random.Generator) -> np.ndarray:
    """Return the batch of a step where groups are drawn in each round."""
    group = np.random.default_rng([step // GROUPS, 9]).integers(GROUPS, size=RECORDS)
    return np.flatnonzero((group == step % GROUPS) & (rng.random(RECORDS) < RATE))


def _in_group(step: int) -> np.ndarray:
    return np.arange(step % GROUPS, RECORDS, GROUPS)


def _norm(strategy: Strategy) -> float:
    return strategy.sensitivity(STEPS, SEPARATION)


CORRECT = {
    "banded": Loop(BANDED),
    "buffered": Loop(BUFFERED),
    "tree": Loop(Strategy("tree")),
    "matrix": Loop(MATRIX),
    "no correlation": Loop(None),
    "one band": Loop(Strategy("banded", (2.0,))),
    "cyclic Poisson, two bands": Loop(TWO, sampling="cyclic"),
    "balls in bins": Loop(None, sampling="bins"),
    "balls in bins, banded": Loop(BANDED, sampling="bins"),
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
    "cyclic: Poisson from all records": Loop(
        TWO, sampling="cyclic", sample=lambda step, rng: np.flatnonzero(rng.random(RECORDS) < RATE / GROUPS)
    ),
    "cyclic: a fixed size from each group": Loop(
        TWO, sampling="cyclic", sample=lambda step, rng: rng.permutation(_in_group(step))[:60]
    ),
    "cyclic: groups drawn anew": Loop(TWO, sampling="cyclic", sample=_regrouped),
    "cyclic: a rate of one quarter": Loop(
        TWO, sampling="cyclic", sample=lambda step, rng: _in_group(step)[rng.random(RECORDS // GROUPS) < 0.25]
    ),
    "bins: epochs that are cut": Loop(
        None, sampling="bins", sample=lambda step, rng: _part(np.random.default_rng(7).permutation(RECORDS), step)
    ),
    "bins: drawn anew in each epoch": Loop(None, sampling="bins", sample=_drawn_anew),
    "bins: a record is in none": Loop(
        None, sampling="bins", sample=lambda step, rng: np.flatnonzero(_BINS[:-1] == step % 10)
    ),
    "bins: noise for one participation": Loop(None, sampling="bins", scale=1 / math.sqrt(10)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=112, help="of each correct loop")
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
