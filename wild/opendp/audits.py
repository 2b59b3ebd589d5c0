"""OpenDP 0.16.0: measurements, chains and the scikit-learn-like regression, against their own privacy maps.

A measurement promises `map(d_in)` for datasets at distance `d_in` of its input metric: one record added or removed, one
replaced (distance 2) where the number of records is known, any two records, or answers that differ by at most 1.
`.wild/opendp/bin/python wild/opendp/served.py` prints the maps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from audit import AddRemove, Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.opendp.parameter_checks import parameter_checks

LIBRARY, RELEASE = "opendp", "OpenDP 0.16.0"
DELTA, KEYS_DELTA = 0.005, 0.17  # as in `served.py`
BUDGET, TOLERANCE = 34_000, 0.75  # 130 to 450 microseconds an output, and more than 1000 for the sparse vector
SMALL_BUDGET, SLOW_TOLERANCE = 17_000, 1.5

Pairs = Sequence[tuple[Any, Any]]

_FLOATS: Pairs = [([], [1.0]), ([0.0, 0.5], [0.0, 0.5, 1.0])]
_INTEGERS: Pairs = [([], [10]), ([2, 2], [2, 2, 1])]
_SIZED: Pairs = [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])]
_CATEGORIES: Pairs = [([], [1]), ([1, 2], [1, 2, 2])]
_ONE: Pairs = [([], [1.0])]
_COUNTED: Pairs = [([], [1]), ([1] * 4, [1] * 5)]
_KEYS: Pairs = [(["b"], ["b", "a"])]
_POINTS: Pairs = [([], [[1, -1, -1]]), ([[0, 0, 1]], [[0, 0, 1], [1, 1, -1]])]
_BYTES: Pairs = [([1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])]
_LENGTHS: Pairs = [([0] * 7 + [1], [0] * 15 + [1])]
_FLAT = [[0.0, 0.6], [0.3, 0.6], [0.6, 0.6]]
_LINES: Pairs = [([*_FLAT, [0.9, 4.0]], [[0.9, 0.0], *_FLAT, [0.9, 4.0]])]


def _source(what: str) -> str:
    return f"{RELEASE}, privacy map of {what}"


def _check(name: str, pairs: Pairs, epsilon: float = 1.0, delta: float = 0.0, **settings: Any) -> PrivacyCheck:
    relation, source = settings.pop("relation", AddRemove()), settings.pop("source", name)
    return PrivacyCheck(
        name=f"opendp/{name} eps={epsilon:.4g}" + (f" delta={delta:g}" if delta else ""),
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(epsilon, delta, relation, _source(source)),
        pairs=pairs,
        method="fixed",
        **{"budget": BUDGET, "tolerance": TOLERANCE, **settings},
    )


def _bits(name: str, epsilon: float = 1.0, delta: float = 0.0) -> PrecisionCheck:
    return PrecisionCheck(
        name=f"opendp/{name} bits eps={epsilon:g}" + (f" delta={delta:g}" if delta else ""),
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(epsilon, delta, AddRemove(), _source(name)),
        pairs=_ONE,
        budget=SMALL_BUDGET,
        query=sum,
        tolerance=3.0,
    )


_RESPONSE_EPSILON, _BITS_EPSILON = math.log(0.6 / 0.2), 2 * math.log(3)
_CONVERTED = 1.26704  # of rho = 1/8 at DELTA, by make_zCDP_to_approxDP, rounded up
_GAUSSIAN_KEYS = 1.10226  # of rho = 1/8 and delta = 0.15866 at KEYS_DELTA, likewise
_MAX, _KEPT = (f"make_zCDP_to_approxDP, of {name}" for name in ("make_noisy_max", "make_gaussian_threshold"))
_THRESHOLD_DELTA = 0.0364  # rounded up from 0.036397
_BITVEC = "make_randomized_response_bitvec"
_REGRESSION = 'sklearn.linear_model.LinearRegression; make_pairwise_predict: "contributes b_in records"'

CHECKS = [
    _check("sum", _FLOATS, source="make_laplace after make_sum"),
    _check("sum of integers", _INTEGERS, source="make_laplace after make_sum"),
    _check("count", _INTEGERS, source="make_laplace after make_count"),
    _check("count distinct", _INTEGERS, source="make_laplace after make_count_distinct"),
    _check("count by categories", _CATEGORIES, source="make_laplace after make_count_by_categories"),
    _check("mean", _SIZED, relation=Substitution(), source="make_laplace after make_mean"),
    _check("variance", _SIZED, relation=Substitution(), source="make_laplace after make_variance"),
    _check("resized mean", _FLOATS, source="make_laplace after make_resize and make_mean"),
    _check("count by, make_laplace_threshold", _COUNTED, delta=_THRESHOLD_DELTA, expected=Verdict.FAIL),
    _check("make_gaussian_threshold", [([], ["a"])], _GAUSSIAN_KEYS, KEYS_DELTA, source=_KEPT, expected=Verdict.FAIL),
    _check("make_private_quantile", _FLOATS),
    _check("make_laplace", _ONE),
    _bits("make_laplace"),
    _check("make_laplace, k=1", _ONE, 0.75),
    _check("make_gaussian", _ONE, _CONVERTED, DELTA, source="make_zCDP_to_approxDP, of make_gaussian", tolerance=1.5),
    _check("make_geometric, bounds", [([], [1]), ([1] * 4, [1] * 5)]),
    _check("make_canonical_noise", _ONE, delta=DELTA, tolerance=1.5),
    _bits("make_canonical_noise", delta=DELTA),
    _check("make_noisy_max", _POINTS),
    _check("make_noisy_max, zCDP", _POINTS, _CONVERTED, DELTA, source=_MAX, tolerance=1.5),
    _check("make_noisy_top_k", _POINTS),
    _check("make_randomized_response", [("a", "b")], _RESPONSE_EPSILON, relation=Local()),
    _check(f"{_BITVEC}, first and last bit", _BYTES, _BITS_EPSILON, relation=Local(), source=_BITVEC, tolerance=1.5),
    _check(f"{_BITVEC}, two lengths", _LENGTHS, _BITS_EPSILON, relation=Local(), source=_BITVEC, expected=Verdict.FAIL),
    _check("make_alp_queryable", _KEYS, budget=SMALL_BUDGET, tolerance=SLOW_TOLERANCE),
    _check("LinearRegression", _LINES, 2.0, budget=SMALL_BUDGET, source=_REGRESSION, expected=Verdict.FAIL),
    *parameter_checks(Release(LIBRARY, "opendp", RELEASE)),
]

NOTES = {
    f"opendp/count by, make_laplace_threshold eps=1 delta={_THRESHOLD_DELTA:g}": (
        'A key with count 1 is released when 1 + noise >= 3, the threshold ("Exclude counts that are less than this '
        'minimum value", docstring of `opendp/measurements.py: make_laplace_threshold`): with probability e^-2 / (1 '
        "+ e^-1) = 0.0989 for discrete Laplace noise. The privacy map gives e^-3 / (1 + e^-1) = 0.0364, the "
        "probability of exceeding the threshold; for floats the two agree. The library is compiled. Its issue "
        "tracker has the same finding."
    ),
    f"opendp/make_gaussian_threshold eps={_GAUSSIAN_KEYS:.4g} delta={KEYS_DELTA:g}": (
        "As with make_laplace_threshold, a key with count 1 is released when 1 + noise >= 3: with probability 0.224 "
        "for discrete Gaussian noise of scale 2. The privacy map gives 0.159, the probability that continuous noise "
        "exceeds 2, and the conversion to (epsilon, delta) brings it to 0.17. The library is compiled "
        "(`opendp/measurements.py: make_gaussian_threshold`). Its issue tracker has the same finding."
    ),
    f"opendp/{_BITVEC}, two lengths eps={_BITS_EPSILON:.4g}": (
        "The domain, `bitvector_domain(max_weight=1)`, holds vectors of all lengths, any two are at discrete "
        "distance 1, and the length of the release is that of the record: epsilon is infinite for records of "
        "different lengths (`opendp/measurements.py: make_randomized_response_bitvec`; compiled). Its issue tracker "
        "has the same finding."
    ),
    "opendp/LinearRegression eps=2": (
        "`opendp/extras/sklearn/linear_model/_make_private_theil_sen/__init__.py: pairwise_predict` drops the last "
        "record when their number is odd, and pairs up the others. A record put in front of an even number of others "
        "replaces the last one, so that one prediction disappears and another appears, where `make_pairwise_predict` "
        "maps a distance of 1 to 1. The law on this pair, summed over pairings, has epsilon = 3.79. Needs the "
        "feature honest-but-curious, by which the caller of `make_user_transformation` vouches for its function: "
        "here the library is the caller. Its issue tracker has the same finding."
    ),
}

ABOUT = About(
    repository="opendp/opendp",
    upstream={
        "*_threshold *": "opendp/opendp issue 2922, open",
        "*two lengths*": "opendp/opendp issue 2930, open",
        "*/LinearRegression *": "opendp/opendp issue 2950, open",
    },
    access={
        "*_threshold *": "the released keys",
        "*two lengths*": "one report; its length is enough",
        "*/LinearRegression *": "the fitted line; the adversary knows the order of the records",
    },
    not_audited=(
        "`make_private_lazyframe` and `make_private_expr`, the Polars interface.",
        "`extras.mbi`, which needs JAX, and `extras.numpy` (private PCA).",
        "Interactive composition: adaptive queryables, odometers and filters.",
        "`make_noise` and `make_noise_threshold` on big integers, and `make_user_measurement`, which has no claim of "
        "its own.",
        "Floats of 32 bits.",
    ),
)
