"""Broken textbook mechanisms: a changed field or part each, with the privacy that is left on the pair of its check.

`FAULTS` holds rows of a table: the name, the sampler, and the differences from the claims of its mechanism; the true
privacy is in `truths.toml`. A right mechanism with wrong parameters is `Concealed`: its law stays hidden.

A violation of (epsilon, delta) shows in a finite budget only where delta is not small: the Gaussian faults have delta
between 0.05 and 0.6. In a sparse vector TOP is free and BOTTOM is paid: one epoch with lam = 1 is claimed to be
(2, 0)-DP, answers are column sums, the threshold is 2; those of Lyu, Su & Li (2017), figure 1, are faults of
`bassily2018`. Noisy maxima that release the value are report-noisy-max 3 and 4 of the StatDP benchmark (Ding et al.
2018). Nissim, Raskhodnikova & Smith (2007) say why noise scaled by the data leaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, LabelFlip, Local
from audit.extensions.adapters import Documented
from mechanisms.exponential import (
    ExponentialMechanism,
    MonotoneExponentialMechanism,
    complementary_pair,
    label_mistakes,
    threshold_mistakes,
)
from mechanisms.faults.truths import TRUTHS
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism, analytic_deviation
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noisy_max import GumbelNoisyMax, LaplaceNoisyMax, opposite_moves
from mechanisms.papers.rows import Concealed, Fault, Paper
from mechanisms.parts.exponential import choose
from mechanisms.parts.sparse_vector import ENDLESS, Noise, SparseVector
from mechanisms.queries import Histogram, column_sums, count_positive
from mechanisms.randomized_response import RandomizedResponse
from mechanisms.sparse_vector import THRESHOLD, rows_at

Draw = Callable[[Any, int, np.random.Generator], np.ndarray]
Pair = tuple[Any, Any]
Row = tuple[str, Draw, dict[str, Any]]

BINS = Histogram((0, 1, 2))
COUNT = (np.ones(8), np.r_[0.0, np.ones(7)])
MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))  # one record from a bin to another
UNIT = (np.zeros(4), np.r_[1.0, np.zeros(3)])
FOUR = (0, 1, 2, 3)


def _faults(mechanism: str, source: str, pair: Pair, rows: list[Row], **claims: Any) -> list[Fault]:
    """Return the faults of a mechanism; `claims` hold for all rows that do not change them."""
    faults = []
    for name, draw, changes in rows:
        claimed = {"epsilon": 1.0, "delta": 0.0, "pair": pair, "relation": None, **claims, **changes}
        epsilon, delta, pairs = claimed["epsilon"], claimed["delta"], [claimed["pair"]]
        shown = claimed.get("shown") or f"eps={epsilon:g}" + f" delta={delta:g}" * (delta > 0)
        given = (source, draw, (epsilon, delta), pairs, claimed["relation"])
        truth = TRUTHS[mechanism][name]
        faults.append(Paper(mechanism, "").fault(f"{name} {shown}", truth, *given, budget=200_000))
    return faults


# ------------------------------------------------------------------------------------------------------------ Laplace


def clamp_late(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clamp the noisy sum of records in [0, 1] to [0, n], and the records not at all."""
    return np.clip(np.sum(data) + rng.laplace(scale=2.0, size=size), 0.0, len(data))


def share_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add one draw to all bins of a histogram."""
    return BINS(data) + rng.laplace(scale=2.0, size=(size, 1))


def scale_by_data(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add noise scaled to the largest record."""
    return np.sum(data) + rng.laplace(scale=np.max(data), size=size)


def _laplace(epsilon: float, query: Any = count_positive, sensitivity: float = 1.0) -> LaplaceMechanism:
    return LaplaceMechanism(query, sensitivity, epsilon)


_CLAMPED, _SCALED = (np.zeros(8), np.r_[3.0, np.zeros(7)]), (np.zeros(5), np.r_[1.0, np.zeros(4)])
_LAPLACE: list[Row] = [
    ("scale inverted", Concealed(_laplace(2.0)), {"epsilon": 0.5}),
    ("sensitivity forgotten", Concealed(_laplace(1.0, BINS)), {"pair": MOVE}),
    ("half noise", Concealed(_laplace(0.5)), {"epsilon": 0.25}),
    ("clamps after the noise", clamp_late, {"epsilon": 0.5, "pair": _CLAMPED}),
    ("one noise for all coordinates", share_noise, {"pair": MOVE}),
    ("scale from the data", scale_by_data, {"pair": _SCALED}),
    ("half noise, right law stated", Documented(_laplace(1.0), _laplace(0.5).law), {"epsilon": 0.5}),
]

# ----------------------------------------------------------------------------------------------------------- Gaussian


def _gaussian(epsilon: float, sensitivity: float, query: Any = count_positive) -> GaussianMechanism:
    return GaussianMechanism(query, sensitivity, epsilon, 0.05)


_SUMS = (np.zeros((6, 4)), np.vstack([np.ones((1, 4)), np.zeros((5, 4))]))
_TEXTBOOK, _VARIANCE = ClassicalGaussian(count_positive, 1.0, 5.5, 0.6), _gaussian(4.0, analytic_deviation(4.0, 0.05))
_ROOT = _gaussian(0.5, analytic_deviation(0.5, 0.05) ** -0.5)
_GAUSSIAN: list[Row] = [
    ("classical beyond one", Concealed(_TEXTBOOK), {"epsilon": 5.5, "delta": 0.6}),
    ("variance as deviation", Concealed(_VARIANCE), {"epsilon": 4.0}),
    ("deviation as variance", Concealed(_ROOT), {"epsilon": 0.5}),
    ("sensitivity of one coordinate", Concealed(_gaussian(1.0, 1.0, column_sums)), {"pair": _SUMS}),
    ("one bin moves", Concealed(_gaussian(1.0, 1.0, BINS)), {"pair": MOVE}),
    ("half noise, right law stated", Documented(_gaussian(1.0, 0.5), _gaussian(1.0, 1.0).law), {}),
]

# ---------------------------------------------------------------------------------------------------------- geometric


def _geometric(epsilon: float, shape: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.geometric(-math.expm1(-epsilon), size=shape) - 1


def add_one_side(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add the positive half of the noise alone."""
    return count_positive(data) + _geometric(0.5, size, rng)


def sign_magnitude(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add a magnitude times a fair sign."""
    return count_positive(data) + _geometric(1.0, size, rng) * rng.choice([-1, 1], size=size)


def redraw(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw counts outside [0, n] again, in place of clamping."""
    values = np.arange(len(data) + 1)
    return rng.choice(values, size=size, p=softmax(-1.0 * np.abs(values - count_positive(data))))


def clamp_to_data(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clamp from above to the exact count plus one."""
    return np.minimum(GeometricMechanism(count_positive, 1, 1.0)(data, size, rng), count_positive(data) + 1)


_RATE = Concealed(GeometricMechanism(count_positive, 1, 1.0))
_GEOMETRIC: list[Row] = [
    ("doubled rate", _RATE, {"epsilon": 0.5}),
    ("one-sided", add_one_side, {"epsilon": 0.5}),
    ("sign times geometric", sign_magnitude, {}),
    ("redraws outside the range", redraw, {}),
    ("clamps to the data", clamp_to_data, {}),
]

# ---------------------------------------------------------------------------------------------------------- noisy max


def release_maximum(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release the largest noisy answer instead of its index."""
    return np.max(column_sums(data) + rng.laplace(scale=2.0, size=(size, data.shape[1])), axis=1)


def release_exponential(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release the largest answer with one-sided noise."""
    return np.max(column_sums(data) + rng.exponential(scale=2.0, size=(size, data.shape[1])), axis=1)


def share_maximum(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add the same noise to every answer, so that the largest stays it."""
    return np.argmax(column_sums(data) + rng.laplace(scale=2.0, size=(size, 1)), axis=1)


def break_ties(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add no noise, and break ties at random."""
    sums = column_sums(data)
    return rng.choice(np.flatnonzero(sums == sums.max()), size=size)


def _all_move(queries: int) -> dict[str, Any]:
    return {"pair": (np.zeros((1, queries)), np.ones((1, queries)))}


_TIED = {"pair": opposite_moves(0)}
_HALF_MAX = LaplaceNoisyMax(column_sums, 1.0, monotone=True)  # one of three answers falls from 1 to 3 behind
_NOISY_MAX: list[Row] = [
    ("half laplace noise", Concealed(_HALF_MAX), {}),
    ("half gumbel noise", Concealed(GumbelNoisyMax(column_sums, 1.0, monotone=True)), {}),
    ("releases the value", release_maximum, _all_move(6)),
    ("releases the value, exponential", release_exponential, _all_move(3)),
    ("one noise for all answers", share_maximum, _TIED),
    ("random only among ties", break_ties, _TIED),
    ("half noise, right law stated", Documented(_HALF_MAX, LaplaceNoisyMax(column_sums, 1.0).law), {}),
]

# -------------------------------------------------------------------------------------------------------- exponential


def choose_among_data(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Choose thresholds among the feature values of the private records."""
    candidates = np.sort(data.X)
    return candidates[choose(threshold_mistakes(data, tuple(candidates)), 0.5, size, rng)]


def leave_out_worst(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Leave the worst candidate out of the draw."""
    mistakes = label_mistakes(data, (0, 1, 2))
    kept = np.delete(np.arange(3), np.argmax(mistakes))
    return kept[choose(mistakes[kept], 0.5, size, rng)]


_X, _PLACES = np.linspace(0.1, 0.9, 5), np.arange(6)
_FEATURE = (Labeled(_X, (_X >= 0.5) * 1), Labeled(np.r_[_X[:2], 0.45, _X[3:]], (_X >= 0.5) * 1))
_LABEL = (Labeled(_PLACES, np.array([0, 0, 0, 1, 1, 2])), Labeled(_PLACES, np.array([0, 0, 0, 1, 2, 2])))
_WITHOUT_HALF = MonotoneExponentialMechanism(label_mistakes, (0, 1), 1.0, 0.5)
_MARGIN = ExponentialMechanism(label_mistakes, (0, 1), 0.5, 1.0)  # mistakes minus hits move by 2, as 1 is declared
_EXPONENTIAL: list[Row] = [
    ("full epsilon", Concealed(_WITHOUT_HALF), {"epsilon": 0.5, "pair": complementary_pair(8)}),
    ("margin score", Concealed(_MARGIN), {}),
    ("candidates from the data", choose_among_data, {"pair": _FEATURE}),
    ("worst left out", leave_out_worst, {"pair": _LABEL}),
]

# ------------------------------------------------------------------------------------------------ randomized response


def resample_all(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keep with e^eps / (e^eps + K - 1), else draw from all labels, the record's own included."""
    return np.where(rng.random(size) < math.e / (math.e + 3), data, rng.integers(4, size=size))


def keep_as_of_two(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keep with e^eps / (e^eps + 1) whatever K."""
    other = (data + rng.integers(1, 4, size=size)) % 4
    return np.where(rng.random(size) < math.e / (math.e + 1), data, other)


def keep_last_label(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release the last label as it is."""
    return np.full(size, 3) if data == 3 else RandomizedResponse(FOUR, 1.0)(data, size, rng)


def keep_last_record(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Leave out the last label, by a loop bound."""
    flip = rng.random((size, len(data))) < 1 / (1 + math.e)
    flip[:, -1] = False
    return np.asarray(data.y ^ flip)


_LABELED = (Labeled(np.arange(3), np.array([0, 1, 0])), Labeled(np.arange(3), np.array([0, 1, 1])))
_KEPT = RandomizedResponse(FOUR, math.log(2 * math.e + 3))  # half of the other labels' probability is added to its own
_RESPONSE: list[Row] = [
    ("keeps, then resamples all", resample_all, {}),
    ("keep probability for two", keep_as_of_two, {}),
    ("last label kept", keep_last_label, {"pair": (0, 3)}),
    ("last record kept", keep_last_record, {"pair": _LABELED, "relation": LabelFlip()}),
    ("right law stated", Documented(_KEPT, RandomizedResponse(FOUR, 1.0).law), {}),
]

# ----------------------------------------------------------------------------------------------------------- snapping


def snap(values: np.ndarray, scale: float) -> np.ndarray:
    """Return values rounded to the smallest power of two at or above the scale."""
    grid = 2.0 ** math.ceil(math.log2(scale))
    return grid * np.floor(values / grid + 0.5)


def halve_scale(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw noise of half the scale."""
    return np.clip(snap(count_positive(data) + rng.laplace(size=size), 1.0), -64.0, 64.0)


def round_noise(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Round the noise and add the exact count."""
    return count_positive(data) + snap(rng.laplace(scale=2.0, size=size), 2.0)


def clamp_around_answer(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clamp to two steps around the exact count."""
    count = count_positive(data)
    return np.clip(snap(count + rng.laplace(size=size), 1.0), count - 2, count + 2)


_SNAPPING: list[Row] = [
    ("half scale", halve_scale, {"epsilon": 0.5}),
    ("grid follows the answer", round_noise, {"epsilon": 0.5}),
    ("clamp follows the answer", clamp_around_answer, {}),
]

# ------------------------------------------------------------------------------------------------------ sparse vector


def _sparse(epochs: int, query_scale: float, **changes: bool) -> Concealed:
    return Concealed(SparseVector(column_sums, Noise(1.0, THRESHOLD, epochs, query_scale, **changes)))


def _mirrored(first: np.ndarray, level: float) -> Pair:
    """Return answers at THRESHOLD + level + 1/2 where `first` is 1 and - 1/2 where it is 0, against the reverse."""
    return rows_at(np.full(first.size, level), first), rows_at(np.full(first.size, level), 1 - first)


_SWAP, _TURNS = _mirrored(np.array([1.0, 0.0]), 0.5), _mirrored(np.tile([1.0, 0.0], 5), 0.0)
_SPARSE: list[Row] = [
    ("no query noise", _sparse(1, 0.0), {}),
    ("one query noise", _sparse(1, 2.0, is_fresh=False), {}),
    ("cutoff off", _sparse(ENDLESS, 2.0), {"pair": _TURNS}),
]

FAULTS: list[Fault] = [
    *_faults("laplace", "Dwork & Roth 2014, Theorem 3.6", COUNT, _LAPLACE),
    *_faults("gaussian", "Balle & Wang 2018, Theorem 8", COUNT, _GAUSSIAN, delta=0.05),
    *_faults("geometric", "Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism", UNIT, _GEOMETRIC),
    *_faults("noisy max", "Dwork & Roth 2014, Claim 3.9", opposite_moves(2), _NOISY_MAX),
    *_faults("exponential", "McSherry & Talwar 2007, Theorem 6", complementary_pair(4), _EXPONENTIAL),
    *_faults("randomized response", "Kairouz, Bonawitz & Ramage 2016", (0, 1), _RESPONSE, relation=Local()),
    *_faults("snapping", "Mironov 2012, snapping mechanism", UNIT, _SNAPPING),
    *_faults("sparse vector", "Dwork & Roth 2014, Theorem 3.23, mirrored", _SWAP, _SPARSE, epsilon=2.0, shown="lam=1"),
]
CHECKS = [each.check for each in FAULTS]
