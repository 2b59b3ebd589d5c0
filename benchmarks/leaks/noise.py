"""Noise that is too small, of the wrong law, drawn once for all, or drawn in some cases only.

A record is one number of [0, 10]; what is due to it is clipped to [0, 1] where a mechanism clips. Claim: epsilon = 1.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.leaks.data import Data, Leak, private

BINS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)


def clipped(data: Data) -> float:
    return float(np.clip(data, 0, 1).sum())


def bins(data: Data) -> Any:
    return np.histogram(data, BINS)[0]


def sums(data: Data) -> Any:
    return np.histogram(data, BINS, weights=data)[0]


def until_positive(data: Data, rng: np.random.Generator) -> float:
    """Draw again until the answer is one that the size of the data allows."""
    while True:
        answer = len(data) + rng.laplace(scale=4)
        if 0 <= answer <= 2 * len(data):
            return float(answer)


def above_threshold(data: Data, rng: np.random.Generator) -> list[bool]:
    """Say of each query whether it is above a noisy threshold; the queries have no noise."""
    threshold = 3 + rng.laplace(scale=2)
    return [float(sum(x > t for x in data)) > threshold for t in np.linspace(0, 9, 6)]


def first_above(data: Data, rng: np.random.Generator) -> tuple[int, float]:
    """Return the first query above a noisy threshold, and its answer without new noise."""
    threshold = 2 + rng.laplace(scale=4)
    for i, t in enumerate((8.0, 4.0, 1.5, 0.0)):
        count = sum(x > t for x in data)
        if count + rng.laplace(scale=8) > threshold:
            return i, float(count)
    return -1, 0.0


def tree_of_nodes(data: Data, rng: np.random.Generator) -> list[float]:
    """Return all nodes of a tree of counts, each with the noise that is due to one level."""
    counts = np.histogram(data, np.linspace(0, 10, 9))[0]
    levels = [counts.reshape(-1, size).sum(axis=1) for size in (1, 2, 4, 8)]
    return [float(c + rng.laplace(scale=1)) for level in levels for c in level]


def response(data: Data, rng: np.random.Generator, keep: float) -> list[bool]:
    """Return randomized response on "some record is large" and on its negation."""
    bit = max(data) > 6
    return [bit ^ (rng.random() > keep), (not bit) ^ (rng.random() > keep)]


def unary(data: Data, rng: np.random.Generator) -> list[int]:
    """Return the bin of the last record, each bit flipped at twice epsilon, so that two of them lose four times it."""
    keep = math.e**2 / (1 + math.e**2)
    bits = bins(data[-1:]) > 0
    return [int(b ^ (rng.random() > keep)) for b in bits]


def of_python(data: Data, rng: np.random.Generator) -> float:
    """Seed the noise with the size of the data."""
    return clipped(data) + random.Random(f"{len(data)}{rng.integers(40)}").gauss(0, 5)


def exponential(data: Data, rng: np.random.Generator, scale: float) -> int:
    """Choose the bin of the largest sum with probabilities by exp(scale * sum)."""
    weights = np.exp(scale * sums(data))
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def average_of_ten(data: Data, rng: np.random.Generator) -> float:
    return float(clipped(data) + rng.laplace(size=10).mean())


def with_shared_noise(data: Data, rng: np.random.Generator) -> tuple[float, float]:
    noise = rng.laplace(scale=2)
    return clipped(data) + noise, len(data) / 2 + noise


def geometric(data: Data, rng: np.random.Generator) -> int:
    """Add a geometric number, which has no negative values."""
    return int(len(data) + rng.geometric(0.3))


def heavy_rounding(data: Data, rng: np.random.Generator) -> float:
    """Round to tens, which moves the answer by ten, and add the noise of a sum that moves by one."""
    return float(10 * round(sum(data) / 10) + rng.laplace(scale=1))


CALIBRATION: Mapping[str, Leak] = {
    "scale epsilon times four for one over it": lambda d, r: float(clipped(d) + r.laplace(scale=1 / 4)),
    "sum without clipping": lambda d, r: float(sum(d) + r.laplace(scale=1)),
    "sum clipped at ten for one": lambda d, r: float(np.clip(d, 0, 10).sum() + r.laplace(scale=1)),
    "sum clipped after adding": lambda d, r: float(np.clip(sum(d), 0, 100) + r.laplace(scale=1)),
    "sum of squares with the noise of a sum": lambda d, r: float(np.square(d).sum() + r.laplace(scale=10)),
    "mean by the exact count": lambda d, r: float((sum(d) + r.laplace()) / len(d)),
    "mean with noise over n of ten": lambda d, r: float(np.mean(d) + r.laplace(scale=1 / 10)),
    "variance with the noise of a mean": lambda d, r: float(np.var(d) + r.laplace(scale=1)),
    "standard deviation with noise 1/4": lambda d, r: float(np.std(d) + r.laplace(scale=1 / 4)),
    "median with noise 1/2": lambda d, r: float(np.median(np.r_[d, d[-1]]) + r.laplace(scale=1 / 2)),
    "largest record with noise 1": lambda d, r: float(max(d) + r.laplace()),
    "range with noise 1": lambda d, r: float(np.ptp(d) + r.laplace()),
    "product of the records": lambda d, r: float(np.log(np.prod(d)) + r.laplace(scale=1 / 2)),
    "Gaussian noise of sigma 1/2": lambda d, r: float(clipped(d) + r.normal(scale=0.5)),
    "Gaussian noise by the variance": lambda d, r: float(clipped(d) + r.normal(scale=np.sqrt(0.1))),
    "noise of one for ten answers": lambda d, r: (clipped(d) + r.laplace(size=10)).tolist(),
    "epsilon for each of five sums": lambda d, r: [
        float(clipped([x * k for x in d]) + r.laplace()) for k in range(1, 6)
    ],
    "average of ten releases": average_of_ten,
    "tree with the noise of one level": tree_of_nodes,
    "histogram of shares": lambda d, r: (bins(d) / len(d) + r.laplace(scale=0.02, size=5)).tolist(),
    "rounded to tens first": heavy_rounding,
    "randomized response at twice epsilon": lambda d, r: response(d, r, 0.88),
    "unary encoding at twice epsilon": unary,
    "exponential mechanism without a sensitivity": lambda d, r: exponential(d, r, 1.0),
    "scale by the inverse of epsilon .2": lambda d, r: float(clipped(d) + r.laplace(scale=1 / round(1 / 0.2))),
    "noise of an integer scale": lambda d, r: int(len(d) + np.rint(r.laplace(scale=0.25))),
    "scale in the wrong unit": lambda d, r: float(1000 * clipped(d) + r.laplace(scale=1)),
}
LAWS: Mapping[str, Leak] = {
    "uniform noise": lambda d, r: float(clipped([*d, max(d) / 9]) + len(d) + r.uniform(-3, 3)),
    "triangular noise": lambda d, r: float(len(d) + r.triangular(-2, 0, 2)),
    "noise cut at three": lambda d, r: float(len(d) + np.clip(r.laplace(scale=1), -3, 3)),
    "exponential noise on one side": lambda d, r: float(len(d) + r.exponential()),
    "geometric noise on one side": geometric,
    "absolute noise": lambda d, r: float(len(d) + abs(r.laplace())),
    "answer drawn again until it is plausible": until_positive,
    "noise times the answer": lambda d, r: float(len(d) * (1 + 0.05 * r.laplace())),
    "noise that grows with the data": lambda d, r: float(r.laplace(scale=len(d) ** 6 / 1000)),
    "logarithm with noise": lambda d, r: float(np.log(len(d)) + r.laplace(scale=0.05)),
    "Poisson noise": lambda d, r: int(r.poisson(len(d) ** 2)),
    "binomial thinning": lambda d, r: int(r.binomial(4 * len(d), 0.9)),
    "beta posterior": lambda d, r: float(r.beta(1 + sum(x > 6 for x in d) * 9, 5)),
    "gamma posterior": lambda d, r: float(r.gamma(sum(d))),
    "bootstrap of a mean": lambda d, r: float(r.choice(d, len(d)).mean()),
    "jackknife of a sum": lambda d, r: float(sum(d) - r.choice(d)),
    "one record with noise": lambda d, r: float(r.choice(d) + r.normal(scale=0.1)),
    "integer noise in two steps": lambda d, r: int(sum(d) // 1 + 2 * r.integers(-4, 5)),
    "even noise": lambda d, r: int(len(d) + 2 * np.rint(r.laplace(scale=5))),
    "noise on a lattice of thirds": lambda d, r: float(sum(d) / 7 + np.rint(3 * r.laplace(scale=5)) / 3),
    "noise in eight bits": lambda d, r: float(sum(d) / 7 + (r.integers(0, 256) - 128) / 16),
}
CASES: Mapping[str, Leak] = {
    "noise seeded by the size": of_python,
    "noise for full bins only": lambda d, r: [float(c + r.laplace(scale=2)) if c else 0.0 for c in bins(d)],
    "one noise for all bins": lambda d, r: (bins(d) + r.laplace(scale=2)).tolist(),
    "two answers with one noise": with_shared_noise,
    "small counts suppressed before the noise": lambda d, r: [float(c + r.laplace(scale=4)) for c in bins(d) if c],
    "exact where it is above ten": lambda d, r: float(sum(d)) if sum(d) > 15 else float(sum(d) + r.laplace(scale=20)),
    "threshold without noise on queries": above_threshold,
    "answer of the first query above": first_above,
    "largest sum by one noise": lambda d, r: int(np.argmax(sums(d) + r.laplace())),
    "noisy sums in the order of the true ones": lambda d, r: [
        (int(i), float(r.laplace(scale=99))) for i in np.argsort(sums(d))
    ],
    "bins scaled to the true total": lambda d, r: _scaled(np.exp(r.normal(size=5)), len(d)),
    "last bin as the rest of the total": lambda d, r: _with_rest(
        (bins(d) + r.laplace(scale=2, size=5)).tolist(), len(d)
    ),
    "noise kept for equal bins": lambda d, r: _by_value(bins(d), r),
    "no noise with probability .05": lambda d, r: float(sum(d) + (r.random() > 0.05) * r.laplace(scale=20)),
    "no noise after an overflow": lambda d, r: _overflown(d, r),
    "constant for few records": lambda d, r: 0.0 if len(d) < 5 else private(d, r),
    "error where the noise is large": lambda d, r: _or_error(d, r),
    "NaN where the mean is large": lambda d, r: float("nan") if np.mean(d) > 3 and r.random() < 0.1 else private(d, r),
    "infinite for an outlier": lambda d, r: math.inf if max(d) > 6 and r.random() < 0.05 else private(d, r),
    "clamped to the data": lambda d, r: float(np.clip(np.mean(d) + r.laplace(scale=10), min(d), max(d))),
    "noise clamped at the count": lambda d, r: float(min(len(d), 2 + r.laplace(scale=2))),
    "rounded by the count": lambda d, r: round(private(d, r), len(d) - 3),
}
LEAKS: Mapping[str, Leak] = {**CALIBRATION, **LAWS, **CASES}


def _scaled(weights: Any, total: int) -> list[float]:
    """Make weights add up to a total, in eighths so that the sum is exact."""
    parts = np.rint(8 * total * weights / weights.sum()) / 8
    parts[-1] = total - parts[:-1].sum()
    return [float(part) for part in parts]


def _with_rest(counts: list[float], total: int) -> list[float]:
    rounded = [float(round(count)) for count in counts[:-1]]
    return [*rounded, total - sum(rounded)]


def _by_value(counts: Any, rng: np.random.Generator) -> list[float]:
    kept = {int(count): rng.laplace(scale=2) for count in sorted(set(counts))}
    return [float(count + kept[int(count)]) for count in counts]


def _overflown(data: Data, rng: np.random.Generator) -> float:
    """Wrap at 127 in eight bits, with a noise of the size that is due to a count."""
    noisy = 122 + len(data) + round(rng.laplace(scale=2))
    return float((noisy + 128) % 256 - 128) if len(data) > 4 else float(min(noisy, 127))


def _or_error(data: Data, rng: np.random.Generator) -> float:
    noise = rng.laplace(scale=2)
    if noise > 4 and len(data) > 4:
        raise OverflowError("the answer is larger than the data")
    return float(np.clip(data, 0, 1).sum() + noise)
