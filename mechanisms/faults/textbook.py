"""Broken textbook mechanisms: one change each to what draws the outputs, with the privacy that is left.

Every fault is a function `(dataset, size, rng)`, and its docstring ends with its true privacy on the pair of its check.
A violation of (epsilon, delta) shows in a finite budget only where delta is not small: the Gaussian faults have delta
between 0.05 and 0.6. The sparse vectors are those of Lyu, Su & Li (2017), figure 1, mirrored (TOP is free here, BOTTOM
is paid): one epoch with lam = 1 is claimed to be (2, 0)-DP, answers are column sums, the threshold is 2, and where
outputs carry values a BOTTOM is -1. Noisy maxima that release the value are report-noisy-max 3 and 4 of the StatDP
benchmark (Ding et al. 2018). Nissim, Raskhodnikova & Smith (2007) say why noise scaled by the data leaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, LabelFlip, Local, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.exponential import complementary_pair, label_mistakes, threshold_mistakes
from mechanisms.gaussian import GaussianMechanism, analytic_deviation, classical_deviation
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noisy_max import LaplaceNoisyMax, opposite_moves
from mechanisms.queries import Histogram, column_sums, count_positive, numeric_answer
from mechanisms.randomized_response import RandomizedResponse
from mechanisms.sparse_vector import BOTTOM, NO_ANSWER, THRESHOLD, TOP, rows_at

BUDGET = 200_000
CHECKS: list[PrivacyCheck] = []

Draw = Callable[[Any, int, np.random.Generator], np.ndarray]
Pair = tuple[Any, Any]


def _claims(
    mechanism: str, source: str, pair: Pair, epsilon: float = 1.0, delta: float = 0.0, relation: Any = None
) -> Callable[..., Callable[[Draw], Draw]]:
    """Return what lists faults of a mechanism: each with its name, and with what differs from these claims."""

    def broken(name: str, shown: str = "", **changes: Any) -> Callable[[Draw], Draw]:
        claimed = {"epsilon": epsilon, "delta": delta, "pair": pair, "relation": relation or Substitution(), **changes}
        stated = shown or f"eps={claimed['epsilon']:g}" + f" delta={claimed['delta']:g}" * (claimed["delta"] > 0)

        def add(draw: Draw) -> Draw:
            CHECKS.append(
                PrivacyCheck(
                    name=f"fault/{mechanism} {name} {stated}",
                    mechanism=draw,
                    claim=PrivacyClaim(
                        claimed["epsilon"], claimed["delta"], claimed["relation"], f"claimed after {source}"
                    ),
                    pairs=[claimed["pair"]],
                    expected=Verdict.FAIL,
                    budget=BUDGET,
                )
            )
            return draw

        return add

    return broken


BINS = Histogram((0, 1, 2))
COUNT = (np.ones(8), np.r_[0.0, np.ones(7)])
MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))  # one record from a bin to another
UNIT = (np.zeros(4), np.r_[1.0, np.zeros(3)])

# ------------------------------------------------------------------------------------------------------------ Laplace
laplace = _claims("laplace", "Dwork & Roth 2014, Theorem 3.6", COUNT)


@laplace("scale inverted", epsilon=0.5)
def inverted_scale(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of scale epsilon instead of 1 / epsilon, which changes nothing at epsilon = 1. True privacy: (2, 0)."""
    return count_positive(data) + rng.laplace(scale=0.5, size=size)


@laplace("sensitivity forgotten", pair=MOVE)
def forgotten_sensitivity(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """A histogram with noise for a sensitivity of 1. True privacy: (2 epsilon, 0), both bins shift by 1."""
    return BINS(data) + rng.laplace(size=(size, 3))


@laplace("half noise", epsilon=0.25)
def half_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of half the scale. True privacy: (2 epsilon, 0)."""
    return count_positive(data) + rng.laplace(scale=2.0, size=size)


@laplace("clamps after the noise", epsilon=0.5, pair=(np.zeros(8), np.r_[3.0, np.zeros(7)]))
def late_clamp(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """A sum of records in [0, 1] of which only the noisy sum is clamped, to [0, n].

    True privacy: (3 epsilon, 0) for a record 3: the atom at 0 has mass 1/2 left, e^(-3 epsilon) / 2 right.
    """
    return np.clip(np.sum(data) + rng.laplace(scale=2.0, size=size), 0.0, len(data))


@laplace("one noise for all coordinates", pair=MOVE)
def shared_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """A histogram whose bins share a draw. True privacy: none (delta = 1): differences of bins are exact."""
    return BINS(data) + rng.laplace(scale=2.0, size=(size, 1))


@laplace("scale from the data", pair=(np.zeros(5), np.r_[1.0, np.zeros(4)]))
def private_scale(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Noise scaled to the largest record. True privacy: none (delta = 1): all zeros get no noise."""
    return np.sum(data) + rng.laplace(scale=np.max(data), size=size)


@dataclass(frozen=True)
class HalfLaplaceRightLaw(LaplaceMechanism):
    """States the right law, and draws half of the noise. True privacy: (2 epsilon, 0)."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return numeric_answer(self.query, dataset) + rng.laplace(scale=self.scale / 2, size=size)


laplace("half noise, right law stated", epsilon=0.5)(HalfLaplaceRightLaw(count_positive, 1.0, 0.5))

# ----------------------------------------------------------------------------------------------------------- Gaussian
gaussian = _claims("gaussian", "Balle & Wang 2018, Theorem 8", COUNT, 1.0, 0.05)


@gaussian("classical beyond one", epsilon=5.5, delta=0.6)
def classical_beyond_one(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The textbook deviation at an epsilon far above 1, where it is not proved.

    True privacy: delta(5.5) = 0.794 at the deviation 0.220; (8.14, 0.6)-DP.
    """
    return count_positive(data) + rng.normal(scale=classical_deviation(5.5, 0.6), size=size)


@gaussian("variance as deviation", epsilon=4.0)
def variance_as_deviation(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The variance in place of the deviation, harmful below 1. True privacy: delta(4) = 0.578."""
    return count_positive(data) + rng.normal(scale=analytic_deviation(4.0, 0.05) ** 2, size=size)


@gaussian("deviation as variance", epsilon=0.5)
def deviation_as_variance(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The deviation in place of the variance, harmful above 1. True privacy: delta(0.5) = 0.122."""
    return count_positive(data) + rng.normal(scale=math.sqrt(analytic_deviation(0.5, 0.05)), size=size)


@gaussian("sensitivity of one coordinate", pair=(np.zeros((6, 4)), np.vstack([np.ones((1, 4)), np.zeros((5, 4))])))
def one_coordinate(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Four sums with the noise of one: l2 sensitivity 1 instead of 2. True privacy: delta(1) = 0.321."""
    return column_sums(data) + rng.normal(scale=analytic_deviation(1.0, 0.05), size=(size, 4))


@gaussian("one bin moves", pair=MOVE)
def one_bin(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """A histogram with the sensitivity 1 of add/remove instead of sqrt(2). True privacy: delta(1) = 0.149."""
    return BINS(data) + rng.normal(scale=analytic_deviation(1.0, 0.05), size=(size, 3))


@dataclass(frozen=True)
class HalfGaussianRightLaw(GaussianMechanism):
    """States the right law, and draws half of the noise. True privacy: delta(1) = 0.321."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return numeric_answer(self.query, dataset) + rng.normal(scale=self.deviation / 2, size=size)


gaussian("half noise, right law stated")(HalfGaussianRightLaw(count_positive, 1.0, 1.0, 0.05))

# ---------------------------------------------------------------------------------------------------------- geometric
geometric = _claims("geometric", "Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism", UNIT)


def _geometric(epsilon: float, shape: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.geometric(-math.expm1(-epsilon), size=shape) - 1


@geometric("doubled rate", epsilon=0.5)
def doubled_rate(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Ratio e^(-2 epsilon) instead of e^-epsilon. True privacy: (2 epsilon, 0)."""
    return count_positive(data) + np.subtract(*_geometric(1.0, (2, size), rng))


@geometric("one-sided", epsilon=0.5)
def one_sided(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The positive half of the noise alone.

    True privacy: delta(epsilon') = 1 - e^-epsilon for every epsilon' >= epsilon: the lower count never occurs above.
    """
    return count_positive(data) + _geometric(0.5, size, rng)


@geometric("sign times geometric")
def signed_magnitude(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """A magnitude times a fair sign, so that zero counts twice. True privacy: (epsilon + log 2, 0)."""
    return count_positive(data) + _geometric(1.0, size, rng) * rng.choice([-1, 1], size=size)


@geometric("redraws outside the range")
def redrawn(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Counts outside [0, n] are drawn again, not clamped: Z_c = (1 + r - r^(c+1) - r^(n-c+1)) / (1 - r) normalizes.

    True privacy: (epsilon + log(Z_1 / Z_0), 0), r = e^-epsilon: 1.2009 for n = 4.
    """
    values = np.arange(len(data) + 1)
    return rng.choice(values, size=size, p=softmax(-1.0 * np.abs(values - count_positive(data))))


@geometric("clamps to the data")
def private_clamp(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clamped from above to the exact count plus one.

    True privacy: delta(epsilon') = e^-epsilon / (1 + e^-epsilon) = 0.269 for every epsilon': c + 2 never occurs left.
    """
    count = count_positive(data)
    return np.minimum(count + np.subtract(*_geometric(1.0, (2, size), rng)), count + 1)


# ---------------------------------------------------------------------------------------------------------- noisy max
noisy_max = _claims("noisy max", "Dwork & Roth 2014, Claim 3.9", opposite_moves(2))


def _all_move(queries: int) -> Pair:
    return np.zeros((1, queries)), np.ones((1, queries))


@noisy_max("half laplace noise")
def half_laplace_max(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of scale 1 / epsilon although answers move in both directions: one of three falls from 1 to 3 behind.

    True privacy: (1.934, 0); 2 epsilon in the limit of a distant answer.
    """
    return np.argmax(column_sums(data) + rng.laplace(size=(size, data.shape[1])), axis=1)


@noisy_max("half gumbel noise")
def half_gumbel_max(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The same with Gumbel noise. True privacy: (1.856, 0); 2 epsilon in the limit of a distant answer."""
    return np.argmax(column_sums(data) + rng.gumbel(size=(size, data.shape[1])), axis=1)


@noisy_max("releases the value", pair=_all_move(6))
def released_maximum(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The largest noisy answer instead of its index.

    True privacy: (m epsilon / 2, 0) on m answers that all move by 1: 3 for m = 6, by "below all", of probability 2^-6.
    """
    return np.max(column_sums(data) + rng.laplace(scale=2.0, size=(size, data.shape[1])), axis=1)


@noisy_max("releases the value, exponential", pair=_all_move(3))
def released_exponential(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The largest answer with one-sided noise.

    True privacy: delta(epsilon') >= (1 - e^(-epsilon / 2))^m = 0.061 for m = 3: below 1 on the left only.
    """
    return np.max(column_sums(data) + rng.exponential(scale=2.0, size=(size, data.shape[1])), axis=1)


@noisy_max("one noise for all answers", pair=opposite_moves(0))
def shared_maximum(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The same noise on every answer, so that the largest stays it. True privacy: none (delta = 1)."""
    return np.argmax(column_sums(data) + rng.laplace(scale=2.0, size=(size, 1)), axis=1)


@noisy_max("random only among ties", pair=opposite_moves(0))
def random_ties(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """No noise; ties are broken at random. True privacy: none (delta = 1)."""
    sums = column_sums(data)
    return rng.choice(np.flatnonzero(sums == sums.max()), size=size)


@dataclass(frozen=True)
class HalfMaxRightLaw(LaplaceNoisyMax):
    """States the right law, and draws half of the noise. True privacy: (1.934, 0)."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.argmax(sums + rng.laplace(scale=self.scale / 2, size=(size, sums.size)), axis=1)


noisy_max("half noise, right law stated")(HalfMaxRightLaw(column_sums, 1.0))

# -------------------------------------------------------------------------------------------------------- exponential
exponential = _claims("exponential", "McSherry & Talwar 2007, Theorem 6", complementary_pair(4))

_X, _PLACES = np.linspace(0.1, 0.9, 5), np.arange(6)
_FEATURE = (Labeled(_X, (_X >= 0.5) * 1), Labeled(np.r_[_X[:2], 0.45, _X[3:]], (_X >= 0.5) * 1))
_LABEL = (Labeled(_PLACES, np.array([0, 0, 0, 1, 1, 2])), Labeled(_PLACES, np.array([0, 0, 0, 1, 2, 2])))


@exponential("full epsilon", epsilon=0.5, pair=complementary_pair(8))
def full_epsilon(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Weights exp(-epsilon err), without the factor 1/2, for a score that moves in both directions.

    True privacy: (log[(1 + e^(eps m)) / (1 + e^(eps (m - 2)))], 0) on m labels of which one flips: 0.970 for m = 8.
    """
    return rng.choice(2, size=size, p=softmax(-0.5 * label_mistakes(data, (0, 1))))


@exponential("margin score")
def margin_score(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Mistakes minus hits, which one label moves by 2, with a declared sensitivity of 1.

    True privacy: that of the full epsilon: 1.891 for m = 4.
    """
    return rng.choice(2, size=size, p=softmax(-(2 * label_mistakes(data, (0, 1)) - len(data)) / 2))


@exponential("candidates from the data", pair=_FEATURE)
def private_candidates(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Thresholds are chosen among the feature values of the private records.

    True privacy: delta(epsilon') >= 0.339 for every epsilon': a new value occurs on one side only.
    """
    candidates = np.sort(data.X)
    return rng.choice(candidates, size=size, p=softmax(-0.5 * threshold_mistakes(data, tuple(candidates))))


@exponential("worst left out", pair=_LABEL)
def worst_left_out(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """The worst candidate is left out of the draw.

    True privacy: delta(epsilon') = 1 / (1 + e^(epsilon / 2)) = 0.378 for every epsilon', where the worst changes.
    """
    mistakes = label_mistakes(data, (0, 1, 2))
    kept = np.delete(np.arange(3), np.argmax(mistakes))
    return rng.choice(kept, size=size, p=softmax(-mistakes[kept] / 2))


# ------------------------------------------------------------------------------------------------ randomized response
response = _claims("randomized response", "Kairouz, Bonawitz & Ramage 2016", (0, 1), relation=Local())


@response("keeps, then resamples all")
def resampled(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keeps with e^eps / (e^eps + K - 1), else draws from all labels, the record's own included.

    True privacy: (log(1 + K e^epsilon / (K - 1)), 0): 1.531 for K = 4.
    """
    return np.where(rng.random(size) < math.e / (math.e + 3), data, rng.integers(4, size=size))


@response("keep probability for two")
def kept_as_of_two(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keeps with e^eps / (e^eps + 1) whatever K. True privacy: (epsilon + log(K - 1), 0): 2.099 for K = 4."""
    other = (data + rng.integers(1, 4, size=size)) % 4
    return np.where(rng.random(size) < math.e / (math.e + 1), data, other)


@response("last label kept", pair=(0, 3))
def last_label(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The last label is released as it is.

    True privacy: delta(epsilon') >= 1 - 1 / (e^epsilon + K - 1) = 0.825 for every epsilon'; other pairs keep epsilon.
    """
    return np.full(size, 3) if data == 3 else RandomizedResponse((0, 1, 2, 3), 1.0)(data, size, rng)


_LABELED = (Labeled(np.arange(3), np.array([0, 1, 0])), Labeled(np.arange(3), np.array([0, 1, 1])))


@response("last record kept", pair=_LABELED, relation=LabelFlip())
def last_record(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """A loop bound leaves out the last label. True privacy: none on its flip (delta = 1); epsilon on any other."""
    flip = rng.random((size, len(data))) < 1 / (1 + math.e)
    flip[:, -1] = False
    return np.asarray(data.y ^ flip)


@dataclass(frozen=True)
class KeptRightLaw(RandomizedResponse):
    """States the right law, and keeps the record with half of the other labels' probability added.

    True privacy: (log((K - 1) (1 + keep) / (1 - keep)), 0), keep = e^eps / (e^eps + K - 1): 2.133 for K = 4.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        jump = np.where(rng.random(size) < (1 + self.keep) / 2, 0, rng.integers(1, len(self.labels), size=size))
        return self._released((self._position(dataset) + jump) % len(self.labels))


response("right law stated")(KeptRightLaw((0, 1, 2, 3), 1.0))

# ----------------------------------------------------------------------------------------------------------- snapping
snapping = _claims("snapping", "Mironov 2012, snapping mechanism", UNIT)


def snapped(values: np.ndarray, scale: float) -> np.ndarray:
    """Return values rounded to the smallest power of two at or above the scale."""
    grid = 2.0 ** math.ceil(math.log2(scale))
    return grid * np.floor(values / grid + 0.5)


@snapping("half scale", epsilon=0.5)
def half_scale(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of half the scale. True privacy: (2 epsilon, 0), on every grid cell beyond both counts."""
    return np.clip(snapped(count_positive(data) + rng.laplace(size=size), 1.0), -64.0, 64.0)


@snapping("grid follows the answer", epsilon=0.5)
def private_grid(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The noise is rounded and the exact count added. True privacy: none (delta = 1): no output in common."""
    return count_positive(data) + snapped(rng.laplace(scale=2.0, size=size), 2.0)


@snapping("clamp follows the answer")
def clamp_around_answer(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clamped to two steps around the exact count.

    True privacy: delta(epsilon') >= e^-1.5 / 2 = 0.112 for every epsilon': 3 never occurs under count 0.
    """
    count = count_positive(data)
    return np.clip(snapped(count + rng.laplace(size=size), 1.0), count - 2, count + 2)


# ------------------------------------------------------------------------------------------------------ sparse vector
def one_threshold(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one noisy threshold an output, shape (size, 1)."""
    return THRESHOLD + rng.laplace(size=(size, 1))


def first_epoch(above: np.ndarray) -> np.ndarray:
    """Return the codes up to and including the first BOTTOM, no answer afterwards."""
    paid = np.cumsum(~above, axis=1) - ~above  # BOTTOMs before this query
    return np.where(paid > 0, NO_ANSWER, np.where(above, TOP, BOTTOM)).astype(np.int8)


def _mirrored(first: np.ndarray, level: float) -> Pair:
    """Return answers at THRESHOLD + level + 1/2 where `first` is 1 and - 1/2 where it is 0, against the reverse."""
    return rows_at(np.full(first.size, level), first), rows_at(np.full(first.size, level), 1 - first)


_SWAP = _mirrored(np.array([1.0, 0.0]), 0.5)
_RAISED, _PREFIX = np.r_[np.full(10, 0.5), 0.0], np.r_[np.ones(10), 0.0]
sparse_vector = partial(
    _claims("sparse vector", "Dwork & Roth 2014, Theorem 3.23, mirrored", _SWAP, 2.0), shown="lam=1"
)


@sparse_vector("query noise too small", pair=(rows_at(_RAISED, _PREFIX), rows_at(_RAISED, 1 - _PREFIX)))
def small_query_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Query noise of scale lam instead of 2 lam.

    True privacy: (3 / lam, 0) in the worst case. On ten queries that fall and one that rises "all TOP, then BOTTOM" has
    probability 0.0730 against 0.0046: log-ratio 2.77.
    """
    return first_epoch(column_sums(data) + rng.laplace(size=(size, data.shape[1])) > one_threshold(size, rng))


@sparse_vector("no query noise")
def no_query_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Only the threshold is noisy.

    True privacy: none: on (w + 1, w) against (w, w + 1) TOP, BOTTOM has (1 - e^(-1 / lam)) / 2 = 0.316 left only.
    """
    return first_epoch(column_sums(data) > one_threshold(size, rng))


@sparse_vector("one query noise")
def one_query_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """One draw of the query noise for all queries.

    True privacy: none: TOP, BOTTOM has P(0 <= threshold noise - query noise < 1) = 0.157 on the left only.
    """
    return first_epoch(column_sums(data) + rng.laplace(scale=2.0, size=(size, 1)) > one_threshold(size, rng))


@sparse_vector("value on top", pair=(np.zeros((1, 40)), np.ones((1, 40))))
def value_on_top(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Releases the noisy answer for each query above the threshold, -60 here.

    True privacy: (m / (2 lam), 0) on m answers far above it that all move by 1: 20 for m = 40.
    """
    noisy = column_sums(data) + rng.laplace(scale=2.0, size=(size, data.shape[1]))
    codes = first_epoch(noisy > one_threshold(size, rng) - THRESHOLD - 60)
    return np.where(codes == TOP, noisy, codes - 1.0)


@sparse_vector("cutoff off", pair=_mirrored(np.tile([1.0, 0.0], 5), 0.0))
def no_cutoff(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Goes on after each BOTTOM with a new threshold, while one epoch is claimed.

    True privacy: (3.946, 0) on ten answers in turn at w + 1/2 and w - 1/2, by TOP and BOTTOM in turn; grows with them.
    """
    threshold, codes = one_threshold(size, rng)[:, 0], []
    for answer in column_sums(data):
        above = answer + rng.laplace(scale=2.0, size=size) > threshold
        codes.append(np.where(above, TOP, BOTTOM))
        threshold = np.where(above, threshold, one_threshold(size, rng)[:, 0])
    return np.stack(codes, axis=1).astype(np.int8)


@sparse_vector("no query noise and no cutoff", pair=_SWAP[::-1])
def no_query_noise_no_cutoff(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """One noisy threshold, exact answers, every query answered: the fifth variant of Lyu, Su & Li.

    True privacy: none: on (w, w + 1) against (w + 1, w) BOTTOM, TOP has 0.316 on the left only.
    """
    return (column_sums(data) > one_threshold(size, rng)).astype(np.int8)


@sparse_vector("bottom is free", pair=_mirrored(np.r_[np.ones(3), np.zeros(3)], 0.0))
def free_bottom(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """One noisy threshold, query noise of scale lam, no cutoff: the sixth variant of Lyu, Su & Li.

    True privacy: grows with the queries: (4.58, 0) on three answers that fall and three that rise, by quadrature.
    """
    return (column_sums(data) + rng.laplace(size=(size, data.shape[1])) > one_threshold(size, rng)).astype(np.int8)
