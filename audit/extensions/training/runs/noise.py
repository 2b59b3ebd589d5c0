"""The noise of a training run, in units of the claimed scale: its evidence, collected step by step.

Given everything before a step, the claimed noise of that step is a vector of independent standard normal numbers. So
sums of squares are chi-square; the cosine between this vector and any vector from before has a law that is free of the
scale; and one from the steps of the past needs no correction for its choice. A coordinate
without gradient and noise is no part of a step: layers may start late or take turns.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audit.api import text, validate
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.findings import (
    Finding,
    Missing,
    count_pvalue,
    distance_pvalue,
    double_smaller_tail,
    normal_pvalue,
)

CELLS = 1024  # of equal probability, for the shape; a distance between two of their ends is known to 0.001
_LOOKED = 65_536  # coordinates of a step, at most, whose shape and correlations are looked at
_SKETCH = 256  # coordinates that are kept of every step, to find noise that returns
_KEPT = 2_048  # steps whose pairs are all compared
_SPANNED = 64  # steps whose span is compared with later ones
_TIED = 131_072  # values of all steps, about, among which ties are counted
_FADING = 0.9  # by step, of the weight of earlier noise
_PREDICTED = 4  # steps whose noise is predicted from their number
_FEWEST = 8  # coordinates below which cosines are not looked at
PATTERNS = 32  # sets of coordinates that take part, of which so many are told apart
_EXACT, _NEAR = 1e-12, 1e-6  # differences of equal values in float64, and of three neighbors in float32
_GUESSED, _SEARCHED_VALUES, _LEAVES = 48, 4_096, 4  # numbers of a generator, looked for among so many; first layers
_EQUAL = 0.999  # correlation of noise that is the same up to rounding
_MOST_PARTS = 64  # for a guess of the divisor or number of repeats of the noise
_CLEAR = 1e-6  # p-value of a shape that is named before its tails
_OUTER = 4 / CELLS  # probability of the four outermost cells

Tail = tuple[float, int]  # a sum and the number of its terms


@dataclass(frozen=True)
class NoiseEvidence:
    """Evidence of the noise of a run; all of it in units of the claimed standard deviation."""

    steps: int = 0
    dimension: int = 0  # coordinates that ever took part
    values: int = 0  # of all steps
    squares: float = 0.0  # sum of all squares
    total: float = 0.0  # sum of all values
    steps_ratios: tuple[float, float] = (1.0, 1.0)  # least and largest standard deviation of a step
    steps_scores: tuple[float, float] = (0.0, 0.0)  # least and largest normal score of the sum of squares of a step
    steps_spread: float = 0.0  # sum of squares of these scores
    coordinates_ratios: tuple[float, float] = (1.0, 1.0)  # the same of a coordinate over the steps
    coordinates_scores: tuple[float, float] = (0.0, 0.0)
    distance: validate.Probability = 0.0  # of the distribution function from the normal one, at the ends of cells
    shape_values: int = 0  # values that it is of
    largest: float = 0.0  # absolute value
    closest: validate.Probability = 0.0  # largest absolute cosine between two steps
    sketch: int = 0  # coordinates that it is of
    closest_steps: tuple[int, int] = (0, 0)
    compared: int = 0  # pairs of steps
    successive: Tail = (0.0, 0)  # normal scores of the cosines of successive steps
    trend: Tail = (0.0, 0)  # the same, with a mean of all earlier steps that fades
    along: Tail = (0.0, 0)  # normal scores of the cosines with the sum of the clipped gradients
    along_share: float = 0.0  # of that sum, which the noise holds on average
    spanned: Tail = (0.0, 0)  # normal scores of the energy in the span of earlier steps
    ties: int = 0  # values that are equal to another one up to sign
    tie_values: int = 0  # among so many
    tie_width: int = 1  # neighbors that have to agree with those of another place
    tie_distance: float = _EXACT  # below which values are equal
    outer: int = 0  # values in the four outermost of 1,024 cells of equal probability
    predicted: validate.Probability = 0.0  # largest absolute cosine with the noise seeded by the number of a step
    predicted_values: int = 0  # that it is of
    predictions: int = 0  # seeds and places that were tried
    bare: int = 0  # coordinates that were released without noise
    bare_steps: int = 0  # steps with such coordinates
    patterns: int = 1  # sets of coordinates that took part in a step


class Noise:
    """Collect the noise of a run, step by step; `values` are in units of the claimed standard deviation."""

    def __init__(self, steps: int, rng: np.random.Generator) -> None:
        self._rng, self._steps = rng, steps
        self._steps_squares: list[tuple[float, int]] = []
        self.dimension = 0
        self._total = self._largest = 0.0
        self._cells = np.zeros(CELLS, dtype=np.int64)
        self._counts: Any = 0  # steps of each coordinate; one number while all take part
        self._rows: list[np.ndarray] = []
        self._tied: list[np.ndarray] = []
        # standard normal for independent noise, whatever its scale
        self._scores: dict[str, list[float]] = {name: [] for name in ("successive", "trend", "along", "spanned")}
        self._faded, self._is_coarse, self._grid = np.zeros(1), False, 0.0
        self._products = self._sums = 0.0  # of noise with the clipped sum, and of the latter with itself
        self._early: dict[int, np.ndarray] = {}
        self._bare, self._bare_steps = 0, 0
        self._patterns: set[bytes] = set()

    def add(self, values: np.ndarray, clipped_sum: np.ndarray, is_coarse: bool = False) -> None:
        """Add the noise of a step, and the sum of clipped gradients that it was added to, in the same units.

        It is coarse if it was computed in float32, where different values may be equal.
        """
        if not self.dimension:
            self._start(values.size)
        active = values != 0
        if bare := int(np.count_nonzero(~active & (clipped_sum != 0))):
            self._bare, self._bare_steps = max(self._bare, bare), self._bare_steps + 1
        count = int(active.sum())
        if count < values.size and len(self._patterns) < PATTERNS:
            self._patterns.add(np.packbits(active).tobytes())
        self._is_coarse |= is_coarse
        reach = float(np.abs(clipped_sum).max(initial=0.0)) + 8.0
        self._grid = max(self._grid, reach * (6e-8 if is_coarse else 1.2e-16))
        self._steps_squares.append((float(values @ values), count))
        self._by_coordinate += (values * values).astype(np.float32)
        self._counts = self._counts + 1 if count == values.size else np.add(self._counts, active, dtype=np.int32)
        self._total += float(values.sum())
        self._largest = max(self._largest, float(np.abs(values).max(initial=0.0)))
        looked, beside = values[self._looked], clipped_sum[self._looked]
        cells = np.minimum((special.ndtr(looked[looked != 0]) * CELLS).astype(np.int64), CELLS - 1)
        self._cells += np.bincount(cells, minlength=CELLS)
        if len(self._rows) < _KEPT:
            self._rows.append(values[self._sketched].astype(np.float32))
        self._tied.append(looked[: max(3, _TIED // self._steps)].copy())
        if count >= _FEWEST:
            self._compare(looked, beside)
        if 2 <= len(self._steps_squares) <= 1 + _PREDICTED:  # a run with one fixed seed may draw its first noise alike
            self._early[len(self._steps_squares) - 1] = values[:_SEARCHED_VALUES].copy()
        self._last = looked.astype(np.float32)

    def _start(self, d: int) -> None:
        self.dimension = d
        self._by_coordinate = np.zeros(d, np.float32)
        self._sketched = np.sort(self._rng.choice(d, min(d, _SKETCH), replace=False))
        self._looked: Any = slice(None)
        if d > _LOOKED:  # in runs of three neighbors
            starts = 3 * self._rng.choice(d // 3, _LOOKED // 3, replace=False)
            self._looked = (starts[:, None] + np.arange(3)).ravel().astype(np.int32)
        self._basis = np.zeros((0, min(d, _LOOKED // 16)), np.float32)
        self._most = min(_SPANNED, (self._basis.shape[1] - 1) // 2)

    def _compare(self, looked: np.ndarray, beside: np.ndarray) -> None:
        if len(self._steps_squares) > 1:
            self._scores["successive"] += _cosine_scores(looked, self._last)
            self._faded = self._last + _FADING * self._faded
            self._scores["trend"] += _cosine_scores(looked, self._faded)
            self._project(looked[: self._basis.shape[1]])
        if beside.any():
            self._scores["along"] += _cosine_scores(looked, beside)
            self._products += float(looked @ beside)
            self._sums += float(beside @ beside)

    def _project(self, values: np.ndarray) -> None:
        """Score the share of the energy in the span of earlier steps: a beta law, whatever the scale."""
        last = self._last[: self._basis.shape[1]]
        if len(self._basis) < self._most and (rest := last - self._basis.T @ (self._basis @ last)).any():
            rest -= self._basis.T @ (self._basis @ rest)  # again, against rounding
            norm = float(np.linalg.norm(rest))
            if norm > 1e-6 * float(np.linalg.norm(last)):
                self._basis = np.vstack([self._basis, (rest / norm).astype(np.float32)])
        k, d = len(self._basis), values.size
        if k and np.all(values):
            share = min(1.0, float(np.sum((self._basis @ values) ** 2)) / float(values @ values))  # 1 up to rounding
            low, high = special.betainc(k / 2, (d - k) / 2, share), special.betaincc(k / 2, (d - k) / 2, share)
            score = special.ndtri(max(low, 1e-300)) if low < high else -special.ndtri(max(high, 1e-300))
            self._scores["spanned"].append(float(score))

    def evidence(self) -> NoiseEvidence:
        """Return the collected evidence, as plain data."""
        if not self._steps_squares:
            return NoiseEvidence()
        squares, counts = map(np.array, zip(*self._steps_squares, strict=True))
        shown = int(self._cells.sum())
        found = np.cumsum(self._cells[:-1]) / max(1, shown)
        scores = _chi_scores(squares, counts)
        by_coordinate, of_each = np.broadcast_arrays(self._by_coordinate, self._counts)
        taking = of_each > 0
        over_steps = _chi_scores(by_coordinate[taking].astype(float), of_each[taking])
        width, apart = (3, _NEAR) if self._is_coarse else (1, _EXACT)
        tails: dict[str, Any] = {name: (float(sum(scores)), len(scores)) for name, scores in self._scores.items()}
        return NoiseEvidence(
            steps=len(squares),
            dimension=int(taking.sum()),
            values=int(counts.sum()),
            squares=float(squares.sum()),
            total=self._total,
            steps_ratios=_ratios(squares, counts),
            steps_scores=_ends(scores),
            steps_spread=float(np.sum(scores**2)),
            coordinates_ratios=_ratios(by_coordinate[taking], of_each[taking]),
            coordinates_scores=_ends(over_steps),
            distance=float(np.abs(found - np.arange(1, CELLS) / CELLS).max()) if shown else 0.0,
            shape_values=shown,
            largest=self._largest,
            along_share=self._products / self._sums if self._sums else 0.0,
            outer=int(self._cells[:2].sum() + self._cells[-2:].sum()),
            bare=self._bare,
            bare_steps=self._bare_steps,
            patterns=max(1, len(self._patterns)),
            **_closest(np.array(self._rows)),
            **_ties(self._tied, width, max(apart, 8 * self._grid)),
            **_predict(self._early),
            **tails,
        )


def _cosine_scores(values: np.ndarray, other: np.ndarray) -> list[float]:
    """Return the normal score of a cosine, if there is one; only coordinates at which there is noise are compared."""
    other = np.where(values != 0, other, 0.0)
    norms = math.sqrt(float(values @ values) * float(other @ other))
    count = int(np.count_nonzero(values))
    return [normal_score(float(values @ other) / norms, count)] if norms > 0 and count >= 2 else []


def _predict(early: dict[int, np.ndarray]) -> dict[str, Any]:
    """Return the clearest cosine of early noise with noise seeded by its step number, of how many values, the tries.

    A layer may have draws of its own, so that a few numbers are looked for at each place.
    """
    best, width, tried = 0.0, 0, 0
    for step, values in early.items():
        width = min(_GUESSED, values.size)
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        norms = np.linalg.norm(windows, axis=1)
        for guess in (guess[:width] for seed in (step, step + 1) for guess in _draw_with_seed(seed)):
            tried += len(windows)
            cosines = np.abs(windows @ guess) / np.maximum(norms * np.linalg.norm(guess), 1e-300)
            best = max(best, float(cosines.max()))
    return {"predicted": min(1.0, best), "predicted_values": width, "predictions": tried}


def _draw_with_seed(seed: int) -> Iterator[np.ndarray]:
    """Yield normal numbers of the generators at hand: of NumPy and Python, and of torch and JAX where loaded."""
    yield np.random.default_rng(seed).normal(size=_GUESSED)
    yield np.random.RandomState(seed).normal(size=_GUESSED)
    for name in ("gauss", "normalvariate"):
        draw = getattr(random.Random(seed), name)
        yield np.array([draw(0.0, 1.0) for _ in range(_GUESSED)])
    if torch := sys.modules.get("torch"):
        drawn = torch.normal(0.0, 1.0, (_GUESSED,), generator=torch.Generator().manual_seed(seed))
        yield np.asarray(drawn, dtype=float)
    if jax := sys.modules.get("jax"):
        for key in (jax.random.PRNGKey(seed), jax.random.fold_in(jax.random.PRNGKey(0), seed)):
            halves = [key, *jax.random.split(key)]  # as a generator is carried on; then one key for each leaf
            keys = [each for half in halves for each in (half, *jax.random.split(half, _LEAVES))]
            yield from np.array([jax.random.normal(each, (_GUESSED,)) for each in keys], dtype=float)


def cosine_tail(cosine: float, dimension: int) -> float:
    """Return the probability that a cosine with a fixed direction is at least so large, for normal noise."""
    half = (dimension - 1) / 2
    return float(special.betaincc(half, half, min(1.0, max(0.0, (1 + cosine) / 2))))


def normal_score(cosine: float, dimension: int) -> float:
    """Return the standard normal number that is as extreme as a cosine, at most 37 in absolute value."""
    tail = max(cosine_tail(abs(cosine), dimension), 1e-300)
    return math.copysign(-float(special.ndtri(tail)), cosine)


def _chi_scores(squares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return standard normal numbers that are as extreme as sums of squares, at most 37 in absolute value."""
    low, high = special.chdtr(counts, squares), special.chdtrc(counts, squares)
    tails = np.maximum(np.minimum(low, high), 1e-300)
    return np.where(counts > 0, np.where(low < high, 1.0, -1.0) * special.ndtri(tails), 0.0)


def _ends(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _ratios(squares: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    taking = counts > 0
    return _ends(np.sqrt(squares[taking] / counts[taking])) if taking.any() else (1.0, 1.0)


def _ties(rows: list[np.ndarray], width: int, apart: float) -> dict[str, Any]:
    """Return how many blocks of neighbors agree with other ones up to signs, and among how many."""
    windows = [np.lib.stride_tricks.sliding_window_view(row, width) for row in rows if row.size >= width]
    blocks = np.abs(np.concatenate(windows)) if windows else np.zeros((0, width))
    blocks = blocks[(blocks > 0).all(axis=1)]
    blocks = blocks[np.argsort(blocks[:, 0])]
    same = (np.abs(np.diff(blocks, axis=0)) < apart).all(axis=1)
    return {"ties": int(same.sum()), "tie_values": len(blocks), "tie_width": width, "tie_distance": apart}


def ties_pvalue(ties: int, values: int, width: int, apart: float) -> float:
    """Return a bound of the probability of so many ties of continuous noise.

    The distribution function takes equal values to spacings of uniform numbers below t = 0.8 times their distance,
    which are negatively associated: k of n are with probability (n choose k) (n t)^k at most. Blocks of w neighbors:
    at least one in 8 w - 3 ties has no value in common with the others of these, which are independent. So many sets
    of k pairs of n blocks are expected to be ties: (n^2 p / 2)^k / k!, p the probability of one.
    """
    if not ties:
        return 1.0
    near = math.log(1.6 * apart)
    if width > 1:
        disjoint = -(-ties // (8 * width - 3))
        pairs = 2 * math.log(values) - math.log(2) + width * near
        return math.exp(min(0.0, disjoint * pairs - float(special.gammaln(disjoint + 1))))
    ways = special.gammaln(values + 1) - special.gammaln(ties + 1) - special.gammaln(values - ties + 1)
    return math.exp(min(0.0, float(ways) + ties * (math.log(values) + near)))


def _closest(rows: np.ndarray) -> dict[str, Any]:
    """Return the largest absolute cosine between two steps, the steps, the number of pairs, and the least dimension."""
    widths = np.count_nonzero(rows, axis=1)
    kept = np.flatnonzero(widths >= _FEWEST)
    if kept.size < 2:
        return {}
    rows = rows[kept]
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    cosines = np.abs(np.triu(unit @ unit.T, 1))
    place = int(np.argmax(cosines))
    return {
        "closest": min(1.0, float(cosines.flat[place])),
        "closest_steps": tuple(int(kept[at]) for at in divmod(place, len(kept))),
        "compared": kept.size * (kept.size - 1) // 2,
        "sketch": int(widths[kept].min()),
    }


def noise_findings(claim: TrainingClaim, noise: NoiseEvidence) -> Iterator[Finding]:
    """Yield the tests of the noise, the clearest first: shared noise, its size, and its shape."""
    if not noise.steps:
        return
    if noise.bare:
        bare = f"up to {noise.bare} coordinates are released without noise, at {noise.bare_steps} steps"
        yield Finding("coordinates without noise", 0.0, bare)
    shaped = list(_test_shape(noise))
    whole = shaped[1].pvalue  # of the shape; tails are named where it says nothing
    sized = list(_test_size(claim, noise))
    uneven = min(part.pvalue for part in sized if part.part.startswith("noise of each"))
    worst = {"tails of the noise": whole, "noise in the span of earlier noise": uneven}
    worst = {name: pvalue for name, pvalue in worst.items() if pvalue < _CLEAR}
    first = "noise that returns" if is_reused(noise) else ""  # whatever underflows beside it
    found = [*_same(noise), *sized, *shaped, *_test_correlation(noise)]
    # one fault shows in several tests, in its own most clearly
    yield from sorted(found, key=lambda part: max((part.part != first) * part.pvalue, worst.get(part.part, 0.0)))


def _same(noise: NoiseEvidence) -> Iterator[Finding]:
    tried = noise.predictions
    yield Finding(
        "noise from the step number",
        min(1.0, 2 * tried * cosine_tail(noise.predicted, noise.predicted_values)) if tried else 1.0,
        f"the noise has correlation {text.number(noise.predicted)} with that of a generator that its step number seeds",
    )
    first, second = (step + 1 for step in noise.closest_steps)
    yield Finding(
        "noise that returns",
        min(1.0, 2 * noise.compared * cosine_tail(noise.closest, noise.sketch)) if noise.compared else 1.0,
        f"the noise of steps {first} and {second} has correlation {text.number(noise.closest)}{is_reused(noise)}",
    )


def _test_correlation(noise: NoiseEvidence) -> Iterator[Finding]:
    yield Finding(
        "the sum under the noise",
        normal_pvalue(*noise.along),
        f"the released vector is not the sum of the clipped gradients with noise: {text.number(1 + noise.along_share)} "
        f"times this sum is in it",
    )
    yield Finding(
        "noise of successive steps",
        min(1.0, 2 * min(normal_pvalue(*noise.successive), normal_pvalue(*noise.trend))),
        "the noise of successive steps is correlated",
    )
    yield Finding(
        "noise in the span of earlier noise",
        normal_pvalue(*noise.spanned),
        "the noise lies in the span of that of earlier steps, as if it had fewer dimensions than coordinates",
    )
    yield Finding(
        "equal values of the noise",
        ties_pvalue(noise.ties, noise.tie_values, noise.tie_width, noise.tie_distance),
        f"{noise.ties:,} of {noise.tie_values:,} values of the noise are equal to another one up to sign: numbers are "
        f"drawn once and used again",
    )


def is_reused(noise: NoiseEvidence) -> str:
    """Return the meaning of equal noise; nothing for noise that is only correlated."""
    return ": a generator is reused" if noise.closest > _EQUAL else ""


def _test_size(claim: TrainingClaim, noise: NoiseEvidence) -> Iterator[Finding]:
    steps, d = noise.steps, noise.dimension
    yield Finding("size of the noise", _chi_square_pvalue(noise.squares, noise.values), _size_says(claim, noise))
    for part, count, (least, most), (low, high) in (
        ("noise of each coordinate", d, noise.coordinates_scores, noise.coordinates_ratios),
        ("noise of each step", steps, noise.steps_scores, noise.steps_ratios),
    ):
        said = (
            f"the {part} has standard deviations from {text.number(low)} to {text.number(high)} times the claimed one"
        )
        chance = min(1.0, 2 * count * float(special.ndtr(min(least, -most))))
        if part == "noise of each step":  # one that stands out, or many that vary
            chance = min(1.0, 2 * min(chance, _chi_square_pvalue(noise.steps_spread, steps)))
        yield Finding(part, chance, said)


def _test_shape(noise: NoiseEvidence) -> Iterator[Finding]:
    values = noise.values
    said = f"the mean of the noise is {text.number(noise.total / max(1, values))} of its standard deviation, not 0"
    yield Finding("mean of the noise", normal_pvalue(noise.total, values), said)
    said = f"the noise is not Gaussian: its distribution function is off by {text.number(noise.distance)}"
    yield Finding("shape of the noise", distance_pvalue(noise.distance, noise.shape_values), said)
    beyond = 2 * float(special.ndtr(-noise.largest))
    below = math.exp(values * math.log1p(-beyond)) if beyond < 1 else 0.0
    outer = count_pvalue(noise.outer, noise.shape_values, _OUTER) if noise.shape_values else 1.0
    largest = double_smaller_tail(below, values * beyond)
    said = f"the largest of {values:,} values of the noise is {text.number(noise.largest)} standard deviations"
    if outer < largest:
        edge = text.number(-float(special.ndtri(_OUTER / 2)))
        far = f"{noise.outer:,} of {noise.shape_values:,} values are beyond {edge}"
        said = f"the tails of the noise are not Gaussian: {far} standard deviations"
    yield Finding("tails of the noise", min(1.0, 2 * min(largest, outer)), said)


def _chi_square_pvalue(squares: float, count: int) -> float:
    return double_smaller_tail(float(special.chdtr(count, squares)), float(special.chdtrc(count, squares)))


def multiplier_interval(claim: TrainingClaim, noise: NoiseEvidence, level: float) -> tuple[float, float]:
    """Return bounds of the noise multiplier that was run: exact, by the law of chi-square."""
    count = max(1, noise.values)
    ends = special.chdtri(count, level / 2), special.chdtri(count, 1 - level / 2)
    low, high = (claim.noise_multiplier * math.sqrt(noise.squares / float(end)) for end in ends)
    return low, high


def _size_says(claim: TrainingClaim, noise: NoiseEvidence) -> str:
    count = noise.values
    ratio = min(noise.squares / max(1, count), 1e300)  # squares may overflow
    found, due = claim.noise_multiplier * math.sqrt(ratio), claim.noise_multiplier
    said = f"the noise multiplier is {text.number(found)} in place of {text.number(due)}, from {count:,} values"
    low, high = (end**2 / due**2 for end in multiplier_interval(claim, noise, 1e-6))
    times, parts = round(ratio), round(1 / math.sqrt(ratio)) if ratio else 0
    guesses = (
        (claim.divisor**2, "as if the noise of the sum were added to the mean"),
        (1 / claim.divisor**2, "as if the noise of the mean were added to the sum"),
        (times, f"as if noise were added {times} times per step"),
        (1 / max(1, parts) ** 2, f"as if it were divided by {parts}"),
    )
    fits = [guess for at, guess in guesses[: 4 if max(times, parts) <= _MOST_PARTS else 2] if low <= at <= high]
    return f"{said}: {fits[0]}" if fits and not low <= 1 <= high else said


def noise_gaps(noise: NoiseEvidence, level: float, tolerance: float) -> Iterator[Missing]:
    """Yield the deviations that the recorded noise could not have shown at the level of one test."""
    if not noise.steps:
        yield Missing("noise", "give `clipped` and `noisy_sum` at each step, as numbers of more than 16 bits")
        return
    seen = multiplier_resolution(noise, level)
    if seen > tolerance:
        yield Missing("the size of the noise", f"these steps show only a change by {seen:.2g}; record more steps")
    if noise.patterns >= PATTERNS:
        advice = "which coordinates take part differs from step to step, and may depend on data: add noise to all"
        yield Missing("the coordinates of a step", advice)
    if not noise.compared or 2 * noise.compared * cosine_tail(1.0, noise.sketch) > level:
        yield Missing("noise that returns", "it needs two steps and 8 coordinates at least")


def multiplier_resolution(noise: NoiseEvidence, level: float) -> float:
    """Return the relative change of the noise multiplier that shows with power 0.8, by the normal approximation."""
    count = max(1, noise.values)
    return float((special.ndtri(1 - level / 2) + special.ndtri(0.8)) / math.sqrt(2 * count))


def shape_resolution(noise: NoiseEvidence, level: float) -> float:
    """Return which share of the values, if it had another law, would show with power 0.8 at least.

    By the distance of distribution functions, twice by Massart's inequality: from the test, and from its miss.
    """
    if not noise.shape_values:
        return 1.0
    tails = math.sqrt(math.log(2 / level)) + math.sqrt(math.log(2 / 0.2))
    return min(1.0, tails / math.sqrt(2 * noise.shape_values))
