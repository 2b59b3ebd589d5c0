"""Broken textbook mechanisms: a changed field or part each, with the privacy that is left on the pair of its check.

`FAULTS` holds tables: the name of a fault and its sampler, and in `CHANGED` the differences from the claims of its
mechanism; the true privacy is in `truths.toml`. A right mechanism with wrong parameters is `Concealed`: its law stays
hidden.

A violation of (epsilon, delta) shows in a finite budget only where delta is not small: the Gaussian faults have delta
between 0.05 and 0.6. In a sparse vector TOP is free and BOTTOM is paid: one epoch with lam = 1 is claimed to be
(2, 0)-DP, answers are column sums, the threshold is 2; those of Lyu, Su & Li (2017), figure 1, are faults of
`bassily2018`. Noisy maxima that release the value are report-noisy-max 3 and 4 of the StatDP benchmark (Ding et al.
2018). Nissim, Raskhodnikova & Smith (2007) say why noise scaled by the data leaks.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, LabelFlip, Local, PrivacyCheck
from audit.extensions.adapters import Documented
from mechanisms import exponential
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

Draw = Callable[[Any, int, np.random.Generator], Any]
Pair = tuple[Any, Any]

BINS = Histogram((0, 1, 2))
COUNT = (np.ones(8), np.r_[0.0, np.ones(7)])
MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))  # one record from a bin to another
UNIT = (np.zeros(4), np.r_[1.0, np.zeros(3)])


def _laplace(epsilon: float, query: Any = count_positive, sensitivity: float = 1.0) -> LaplaceMechanism:
    return LaplaceMechanism(query, sensitivity, epsilon)


_LAPLACE: dict[str, Draw] = {
    "scale inverted": Concealed(_laplace(2.0)),
    "sensitivity forgotten": Concealed(_laplace(1.0, BINS)),
    "half noise": Concealed(_laplace(0.5)),
    "clamps after the noise": lambda data, n, rng: np.clip(np.sum(data) + rng.laplace(scale=2, size=n), 0, len(data)),
    "one noise for all coordinates": lambda data, n, rng: BINS(data) + rng.laplace(scale=2, size=(n, 1)),
    "scale from the data": lambda data, n, rng: np.sum(data) + rng.laplace(scale=np.max(data), size=n),
    "half noise, right law stated": Documented(_laplace(1.0), _laplace(0.5).law),
}


def _gaussian(epsilon: float, sensitivity: float, query: Any = count_positive) -> GaussianMechanism:
    return GaussianMechanism(query, sensitivity, epsilon, 0.05)


_GAUSSIAN: dict[str, Draw] = {
    "classical beyond one": Concealed(ClassicalGaussian(count_positive, 1.0, 5.5, 0.6)),
    "variance as deviation": Concealed(_gaussian(4.0, analytic_deviation(4.0, 0.05))),
    "deviation as variance": Concealed(_gaussian(0.5, analytic_deviation(0.5, 0.05) ** -0.5)),
    "sensitivity of one coordinate": Concealed(_gaussian(1.0, 1.0, column_sums)),
    "one bin moves": Concealed(_gaussian(1.0, 1.0, BINS)),
    "half noise, right law stated": Documented(_gaussian(1.0, 0.5), _gaussian(1.0, 1.0).law),
}


def _geometric(epsilon: float, shape: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.geometric(-math.expm1(-epsilon), size=shape) - 1


def redraw(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw counts outside [0, n] again, in place of clamping."""
    values = np.arange(len(data) + 1)
    return rng.choice(values, size=size, p=softmax(-1.0 * np.abs(values - count_positive(data))))


_WHOLE = GeometricMechanism(count_positive, 1, 1.0)
_GEOMETRIC: dict[str, Draw] = {
    "doubled rate": Concealed(_WHOLE),
    "one-sided": lambda data, n, rng: count_positive(data) + _geometric(0.5, n, rng),
    "sign times geometric": lambda d, n, rng: count_positive(d) + _geometric(1.0, n, rng) * rng.choice([-1, 1], size=n),
    "redraws outside the range": redraw,
    "clamps to the data": lambda data, n, rng: np.minimum(_WHOLE(data, n, rng), count_positive(data) + 1),
}
_HALF_MAX = LaplaceNoisyMax(column_sums, 1.0, monotone=True)  # one of three answers falls from 1 to 3 behind


def release_noisy(data: Any, noise: np.ndarray) -> np.ndarray:
    """Release the largest noisy answer instead of its index."""
    return np.max(column_sums(data) + noise, axis=1)


_NOISY_MAX: dict[str, Draw] = {
    "half laplace noise": Concealed(_HALF_MAX),
    "half gumbel noise": Concealed(GumbelNoisyMax(column_sums, 1.0, monotone=True)),
    "releases the value": lambda data, n, rng: release_noisy(data, rng.laplace(scale=2, size=(n, data.shape[1]))),
    "releases the value, exponential": lambda d, n, rng: release_noisy(d, rng.exponential(2, size=(n, d.shape[1]))),
    "one noise for all answers": lambda d, n, rng: np.argmax(column_sums(d) + rng.laplace(size=(n, 1)), axis=1),
    "random only among ties": lambda d, n, rng: rng.choice(np.flatnonzero((s := column_sums(d)) == s.max()), size=n),
    "half noise, right law stated": Documented(_HALF_MAX, LaplaceNoisyMax(column_sums, 1.0).law),
}


def choose_among_data(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Choose thresholds among the feature values of the private records."""
    candidates = np.sort(data.X)
    return candidates[choose(exponential.threshold_mistakes(data, tuple(candidates)), 0.5, size, rng)]


def leave_out_worst(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Leave the worst candidate out of the draw."""
    mistakes = exponential.label_mistakes(data, (0, 1, 2))
    kept = np.delete(np.arange(3), np.argmax(mistakes))
    return kept[choose(mistakes[kept], 0.5, size, rng)]


_EXPONENTIAL: dict[str, Draw] = {
    "full epsilon": Concealed(exponential.MonotoneExponentialMechanism(exponential.label_mistakes, (0, 1), 1.0, 0.5)),
    # mistakes minus hits move by 2, as 1 is declared
    "margin score": Concealed(exponential.ExponentialMechanism(exponential.label_mistakes, (0, 1), 0.5, 1.0)),
    "candidates from the data": choose_among_data,
    "worst left out": leave_out_worst,
}


def keep_label(data: Any, size: int, rng: np.random.Generator, others: int, is_redrawn: bool) -> np.ndarray:
    """Keep a label of four with e / (e + others), else draw one of the others, or of all."""
    other = rng.integers(4, size=size) if is_redrawn else (data + rng.integers(1, 4, size=size)) % 4
    return np.where(rng.random(size) < math.e / (math.e + others), data, other)


def keep_last_record(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Leave out the last label, by a loop bound."""
    flip = rng.random((size, len(data))) < 1 / (1 + math.e)
    flip[:, -1] = False
    return np.asarray(data.y ^ flip)


_FOUR = RandomizedResponse((0, 1, 2, 3), 1.0)
# half of the other labels' probability is added to its own
_KEPT = RandomizedResponse((0, 1, 2, 3), math.log(2 * math.e + 3))
_RESPONSE: dict[str, Draw] = {
    "keeps, then resamples all": partial(keep_label, others=3, is_redrawn=True),
    "keep probability for two": partial(keep_label, others=1, is_redrawn=False),
    "last label kept": lambda data, n, rng: np.full(n, 3) if data == 3 else _FOUR(data, n, rng),
    "last record kept": keep_last_record,
    "right law stated": Documented(_KEPT, _FOUR.law),
}


def snap(values: np.ndarray, scale: float) -> np.ndarray:
    """Return values rounded to the smallest power of two at or above the scale."""
    grid = 2.0 ** math.ceil(math.log2(scale))
    return grid * np.floor(values / grid + 0.5)


def _snapped(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return snap(count_positive(data) + rng.laplace(size=size), 1.0)


_SNAPPING: dict[str, Draw] = {
    "half scale": lambda data, n, rng: np.clip(_snapped(data, n, rng), -64, 64),
    "grid follows the answer": lambda data, n, rng: count_positive(data) + snap(rng.laplace(scale=2, size=n), 2.0),
    "clamp follows the answer": lambda data, n, rng: np.clip(
        _snapped(data, n, rng), count_positive(data) - 2, count_positive(data) + 2
    ),
}


def _sparse(epochs: int, query_scale: float, **changes: bool) -> Concealed:
    return Concealed(SparseVector(column_sums, Noise(1.0, THRESHOLD, epochs, query_scale, **changes)))


_SPARSE: dict[str, Draw] = {
    "no query noise": _sparse(1, 0.0),
    "one query noise": _sparse(1, 2.0, is_fresh=False),
    "cutoff off": _sparse(ENDLESS, 2.0),
}


def _mirrored(first: np.ndarray, level: float) -> Pair:
    """Return answers at THRESHOLD + level + 1/2 where `first` is 1 and - 1/2 where it is 0, against the reverse."""
    return rows_at(np.full(first.size, level), first), rows_at(np.full(first.size, level), 1 - first)


def _all_move(queries: int) -> Pair:
    return np.zeros((1, queries)), np.ones((1, queries))


_X, _PLACES = np.linspace(0.1, 0.9, 5), np.arange(6)
CHANGED: dict[str, dict[str, Any]] = {  # claims and pairs that are not those of the mechanism's row below
    "laplace scale inverted": {"epsilon": 0.5},
    "laplace sensitivity forgotten": {"pair": MOVE},
    "laplace half noise": {"epsilon": 0.25},
    "laplace clamps after the noise": {"epsilon": 0.5, "pair": (np.zeros(8), np.r_[3.0, np.zeros(7)])},
    "laplace one noise for all coordinates": {"pair": MOVE},
    "laplace scale from the data": {"pair": (np.zeros(5), np.r_[1.0, np.zeros(4)])},
    "laplace half noise, right law stated": {"epsilon": 0.5},
    "gaussian classical beyond one": {"epsilon": 5.5, "delta": 0.6},
    "gaussian variance as deviation": {"epsilon": 4.0},
    "gaussian deviation as variance": {"epsilon": 0.5},
    "gaussian sensitivity of one coordinate": {"pair": (np.zeros((6, 4)), np.eye(6)[:, :1].repeat(4, axis=1))},
    "gaussian one bin moves": {"pair": MOVE},
    "geometric doubled rate": {"epsilon": 0.5},
    "geometric one-sided": {"epsilon": 0.5},
    "noisy max releases the value": {"pair": _all_move(6)},
    "noisy max releases the value, exponential": {"pair": _all_move(3)},
    "noisy max one noise for all answers": {"pair": opposite_moves(0)},
    "noisy max random only among ties": {"pair": opposite_moves(0)},
    "exponential full epsilon": {"epsilon": 0.5, "pair": exponential.complementary_pair(8)},
    "exponential candidates from the data": {
        "pair": (Labeled(_X, (_X >= 0.5) * 1), Labeled(np.r_[_X[:2], 0.45, _X[3:]], (_X >= 0.5) * 1))
    },
    "exponential worst left out": {
        "pair": (Labeled(_PLACES, np.array([0, 0, 0, 1, 1, 2])), Labeled(_PLACES, np.array([0, 0, 0, 1, 2, 2])))
    },
    "randomized response last label kept": {"pair": (0, 3)},
    "randomized response last record kept": {
        "pair": (Labeled(np.arange(3), np.array([0, 1, 0])), Labeled(np.arange(3), np.array([0, 1, 1]))),
        "relation": LabelFlip(),
    },
    "snapping half scale": {"epsilon": 0.5},
    "snapping grid follows the answer": {"epsilon": 0.5},
    "sparse vector cutoff off": {"pair": _mirrored(np.tile([1.0, 0.0], 5), 0.0)},
}


def _faults(mechanism: str, source: str, pair: Pair, table: dict[str, Draw], **claims: Any) -> Iterator[Fault]:
    """Return the faults of a mechanism; `claims` hold for all that `CHANGED` does not change."""
    for name, draw in table.items():
        changes = CHANGED.get(f"{mechanism} {name}", {})
        claimed = {"epsilon": 1.0, "delta": 0.0, "pair": pair, "relation": None, **claims, **changes}
        epsilon, delta, pairs = claimed["epsilon"], claimed["delta"], [claimed["pair"]]
        shown = claimed.get("shown") or f"eps={epsilon:g}" + f" delta={delta:g}" * (delta > 0)
        given = (source, draw, (epsilon, delta), pairs, claimed["relation"])
        yield Paper(mechanism, "").fault(f"{name} {shown}", TRUTHS[mechanism][name], *given, budget=200_000)


_SWAP = _mirrored(np.array([1.0, 0.0]), 0.5)
FAULTS: list[Fault] = [
    *_faults("laplace", "Dwork & Roth 2014, Theorem 3.6", COUNT, _LAPLACE),
    *_faults("gaussian", "Balle & Wang 2018, Theorem 8", COUNT, _GAUSSIAN, delta=0.05),
    *_faults("geometric", "Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism", UNIT, _GEOMETRIC),
    *_faults("noisy max", "Dwork & Roth 2014, Claim 3.9", opposite_moves(2), _NOISY_MAX),
    *_faults("exponential", "McSherry & Talwar 2007, Theorem 6", exponential.complementary_pair(4), _EXPONENTIAL),
    *_faults("randomized response", "Kairouz, Bonawitz & Ramage 2016", (0, 1), _RESPONSE, relation=Local()),
    *_faults("snapping", "Mironov 2012, snapping mechanism", UNIT, _SNAPPING),
    *_faults("sparse vector", "Dwork & Roth 2014, Theorem 3.23, mirrored", _SWAP, _SPARSE, epsilon=2.0, shown="lam=1"),
]
# Textbook noise in doubles: a sampler reaches only some of them, and the sum with the answer lies on another grid for
# another answer (Mironov 2012). Answers that are small against the noise leak most.
PRECISION: list[PrivacyCheck] = [
    Paper("precision", "Dwork & Roth 2014").promise(
        f"fault/{name} of doubles eps=0.1",
        f"Theorem {theorem}",
        Concealed(mechanism),
        (0.1, delta),
        [(np.zeros(5), np.r_[1.0, np.zeros(4)])],
        method="fixed",
        floats="audit",
        budget=20_000,
    )
    for name, mechanism, delta, theorem in (
        ("laplace", _laplace(0.1), 0.0, "3.6"),
        ("gaussian", ClassicalGaussian(count_positive, 1.0, 0.1, 1e-5), 1e-5, "A.1"),
    )
]
CHECKS = [*(each.check for each in FAULTS), *PRECISION]
