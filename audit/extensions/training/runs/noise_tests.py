"""The tests of the noise of a training run, by its evidence from `noise.py`: exact, or by a union."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from scipy import special

from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.findings import (
    Finding,
    Missing,
    count_pvalue,
    distance_pvalue,
    normal_pvalue,
    number,
    two_sided,
)
from audit.extensions.training.runs.noise import CELLS, PATTERNS, NoiseEvidence, cosine_tail, ties_pvalue

_EQUAL = 0.999  # correlation of noise that is the same up to rounding
_MOST_PARTS = 64  # for a guess of the divisor or number of repeats of the noise
_CLEAR = 1e-6  # p-value of a shape that is named before its tails
_OUTER = 4 / CELLS  # probability of the four outermost cells


def noise_findings(claim: TrainingClaim, noise: NoiseEvidence) -> Iterator[Finding]:
    """Yield the tests of the noise, the clearest first: shared noise, its size, and its shape."""
    if not noise.steps:
        return
    if noise.bare:
        bare = f"up to {noise.bare} coordinates are released without noise, at {noise.bare_steps} steps"
        yield Finding("coordinates without noise", 0.0, lambda: bare)
    shaped = list(_shaped(noise))
    whole = shaped[1].pvalue  # of the shape; tails are named where it says nothing
    sized = list(_sized(claim, noise))
    uneven = min(part.pvalue for part in sized if part.part.startswith("noise of each"))
    worst = {"tails of the noise": whole, "noise in the span of earlier noise": uneven}
    worst = {name: pvalue for name, pvalue in worst.items() if pvalue < _CLEAR}
    first = "noise that returns" if is_reused(noise) else ""  # whatever underflows beside it
    found = [*_same(noise), *sized, *shaped, *_correlated(noise)]
    # one fault shows in several tests, in its own most clearly
    yield from sorted(found, key=lambda part: max((part.part != first) * part.pvalue, worst.get(part.part, 0.0)))


def _same(noise: NoiseEvidence) -> Iterator[Finding]:
    tried = noise.predictions
    yield Finding(
        "noise from the step number",
        min(1.0, 2 * tried * cosine_tail(noise.predicted, noise.predicted_values)) if tried else 1.0,
        lambda: (
            f"the noise has correlation {number(noise.predicted)} with that of a generator that its step number seeds"
        ),
    )
    at = tuple(step + 1 for step in noise.closest_steps)
    yield Finding(
        "noise that returns",
        min(1.0, 2 * noise.compared * cosine_tail(noise.closest, noise.sketch)) if noise.compared else 1.0,
        lambda: f"the noise of steps {at[0]} and {at[1]} has correlation {number(noise.closest)}{is_reused(noise)}",
    )


def _correlated(noise: NoiseEvidence) -> Iterator[Finding]:
    yield Finding(
        "noise shared by coordinates",
        normal_pvalue(*noise.lagged),
        lambda: f"the noise repeats over the coordinates, {noise.lag} apart: workers or layers share a seed",
    )
    yield Finding(
        "the sum under the noise",
        normal_pvalue(*noise.along),
        lambda: (
            f"the released vector is not the sum of the clipped gradients with noise: "
            f"{number(1 + noise.along_share)} times this sum is in it"
        ),
    )
    yield Finding(
        "noise of successive steps",
        min(1.0, 2 * min(normal_pvalue(*noise.successive), normal_pvalue(*noise.trend))),
        lambda: "the noise of successive steps is correlated",
    )
    yield Finding(
        "noise in the span of earlier noise",
        normal_pvalue(*noise.spanned),
        lambda: "the noise lies in the span of that of earlier steps, as if it had fewer dimensions than coordinates",
    )
    yield Finding(
        "equal values of the noise",
        ties_pvalue(noise.ties, noise.tie_values, noise.tie_width, noise.tie_distance),
        lambda: (
            f"{noise.ties:,} of {noise.tie_values:,} values of the noise are equal to another one up to sign: numbers "
            f"are drawn once and used again"
        ),
    )


def is_reused(noise: NoiseEvidence) -> str:
    """Return the meaning of equal noise; nothing for noise that is only correlated."""
    return ": a generator is reused" if noise.closest > _EQUAL else ""


def _sized(claim: TrainingClaim, noise: NoiseEvidence) -> Iterator[Finding]:
    steps, d = noise.steps, noise.dimension
    yield Finding(
        "size of the noise", _chi_square_pvalue(noise.squares, noise.values), lambda: _size_says(claim, noise)
    )
    (small, few), (large, many) = noise.small_batches, noise.large_batches
    if few and many and small > 0:
        ratio = (large / many) / (small / few)
        tails = special.fdtr(many, few, ratio), special.fdtrc(many, few, ratio)
        yield Finding(
            "noise and batch size",
            two_sided(*map(float, tails)),
            lambda: f"the variance of the noise is {number(ratio)} times as large at steps with large batches",
        )
    for part, count, (least, most), (low, high) in (
        ("noise of each coordinate", d, noise.coordinates_scores, noise.coordinates_ratios),
        ("noise of each step", steps, noise.steps_scores, noise.steps_ratios),
    ):
        said = f"the {part} has standard deviations from {number(low)} to {number(high)} times the claimed one"
        chance = min(1.0, 2 * count * float(special.ndtr(min(least, -most))))
        if part == "noise of each step":  # one that stands out, or many that vary
            chance = min(1.0, 2 * min(chance, _chi_square_pvalue(noise.steps_spread, steps)))
        yield Finding(part, chance, partial(str, said))


def _shaped(noise: NoiseEvidence) -> Iterator[Finding]:
    values = noise.values
    yield Finding(
        "mean of the noise",
        normal_pvalue(noise.total, values),
        lambda: f"the mean of the noise is {number(noise.total / values)} of its standard deviation, not 0",
    )
    yield Finding(
        "shape of the noise",
        distance_pvalue(noise.distance, noise.shape_values),
        lambda: f"the noise is not Gaussian: its distribution function is off by {number(noise.distance)}",
    )
    beyond = 2 * float(special.ndtr(-noise.largest))
    below = math.exp(values * math.log1p(-beyond)) if beyond < 1 else 0.0
    outer = count_pvalue(noise.outer, noise.shape_values, _OUTER) if noise.shape_values else 1.0
    largest = two_sided(below, values * beyond)
    far = f"{noise.outer:,} of {noise.shape_values:,} values are beyond {number(-float(special.ndtri(_OUTER / 2)))}"
    yield Finding(
        "tails of the noise",
        min(1.0, 2 * min(largest, outer)),
        lambda: (
            f"the largest of {values:,} values of the noise is {number(noise.largest)} standard deviations"
            if largest <= outer
            else f"the tails of the noise are not Gaussian: {far} standard deviations"
        ),
    )


def _chi_square_pvalue(squares: float, count: int) -> float:
    return two_sided(float(special.chdtr(count, squares)), float(special.chdtrc(count, squares)))


def multiplier_interval(claim: TrainingClaim, noise: NoiseEvidence, level: float) -> tuple[float, float]:
    """Return bounds of the noise multiplier that was run: exact, by the law of chi-square."""
    count = noise.values
    ends = special.chdtri(count, level / 2), special.chdtri(count, 1 - level / 2)
    low, high = (claim.noise_multiplier * math.sqrt(noise.squares / float(end)) for end in ends)
    return low, high


def _size_says(claim: TrainingClaim, noise: NoiseEvidence) -> str:
    count = noise.values
    ratio = min(noise.squares / count, 1e300)  # squares may overflow
    found, due = claim.noise_multiplier * math.sqrt(ratio), claim.noise_multiplier
    said = f"the noise multiplier is {number(found)} in place of {number(due)}, from {count:,} values"
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
        yield Missing("the size of the noise", f"only a change by {seen:.2g} would have been seen; record more steps")
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
