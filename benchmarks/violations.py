"""Measure the power of a default privacy audit over random violations of a tight Laplace mechanism.

A violation is an interval at a random place. One side, chosen at random, has it with probability 0.01, the other one
with that probability over the stated ratio; outside of it both laws are those of a mechanism for which the claim is
tight. Its width is log-uniform between 1e-9 and 1: below `_WIDE` the outputs in it are uniform, else it is the interval
of that probability at a random quantile. Beside the power, the resolution that the audits print is shown.

    python -m benchmarks.violations [--trials N] [--ratios 2 1.75 ...] [--loud 1.05 1.1] [--budget N]
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

import audit

CLAIM = 1.0
PROBABILITY = 0.01
PAIRS = [(0.0, 1.0)]
_WIDE = 2e-3


@dataclass(frozen=True)
class Violation:
    """A Laplace mechanism of scale 1 with an interval that is likelier on one side by the ratio e^`log_ratio`."""

    low: float
    high: float
    likelier: float  # the dataset on which it is
    log_ratio: float

    @classmethod
    def drawn(cls, log_ratio: float, rng: np.random.Generator) -> Violation:
        """Draw place, width and side."""
        likelier, width = float(rng.integers(2)), 10 ** rng.uniform(-9, 0)
        start = rng.uniform(0, 1 - PROBABILITY)
        low, high = (scipy.stats.laplace.ppf(q, loc=likelier) for q in (start, start + PROBABILITY))
        low = max(low, -20.0)
        return cls(low, low + width if width < _WIDE else min(high, 20.0), likelier, log_ratio)

    def __call__(self, dataset: float, size: int, rng: np.random.Generator) -> np.ndarray:
        """Return outputs."""
        law = scipy.stats.laplace(loc=dataset)
        inside, first, last = PROBABILITY, law.cdf(self.low), law.cdf(self.high)
        if dataset != self.likelier:
            inside *= math.exp(-self.log_ratio)
        outside = rng.random(size) * (1 - (last - first))
        outputs = law.ppf(np.where(outside < first, outside, outside + (last - first)))
        hit = rng.random(size) < inside
        if self.high - self.low < _WIDE:
            outputs[hit] = rng.uniform(self.low, self.high, int(hit.sum()))
        else:
            outputs[hit] = law.ppf(rng.uniform(first, last, int(hit.sum())))
        return np.asarray(outputs)


@dataclass(frozen=True)
class Loud:
    """A Laplace mechanism whose noise has scale 1 / `excess`, so that its epsilon is `excess` instead of 1."""

    excess: float

    def __call__(self, dataset: float, size: int, rng: np.random.Generator) -> np.ndarray:
        """Return outputs."""
        return dataset + rng.laplace(scale=1 / self.excess, size=size)


def suspected(seed: int, log_ratio: float | None = None, excess: float = 1.0, budget: Any = "auto") -> bool:
    """Return whether the first outputs of an audit at the significance 0.05 refute the claim."""
    rng = np.random.default_rng([seed, 7])
    mechanism = Loud(excess) if log_ratio is None else Violation.drawn(log_ratio, rng)
    claim = audit.PrivacyClaim(CLAIM, relation=audit.Local())
    result = audit.check_privacy(mechanism, claim, PAIRS, seed=seed, confirmation=None, budget=budget, workers=0)
    return result.verdict is audit.Verdict.FAIL


def power(trials: int, **case: Any) -> float:
    """Return the share of seeds that are suspected."""
    with multiprocessing.Pool() as pool:
        return sum(pool.imap_unordered(partial(suspected, **case), range(trials), chunksize=10)) / trials


def main() -> None:
    """Print one line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--ratios", type=float, nargs="*", default=[1.0, 1.5, 1.75, 2.0, 2.5])
    parser.add_argument("--loud", type=float, nargs="*", default=[1.0, 1.05, 1.1])
    parser.add_argument("--budget", type=int)
    asked = parser.parse_args()
    budget = asked.budget or "auto"
    cases = [(f"an interval of probability 0.01 at a ratio of e^{r:g}", dict(log_ratio=r)) for r in asked.ratios]
    cases += [(f"Laplace noise that is {x:g} times too loud", dict(excess=x)) for x in asked.loud]
    for name, case in cases:
        found = power(asked.trials, budget=budget, **case)
        print(f"{name}: suspected in {found:.3f} of {asked.trials}", flush=True)


if __name__ == "__main__":
    main()
