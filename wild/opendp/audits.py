"""OpenDP 0.16.0: measurements, chains and the scikit-learn-like regression, against their own privacy maps.

A measurement promises `map(d_in)` for datasets at distance `d_in` of its input metric: one record added or removed, one
replaced (distance 2) where the number of records is known, any two records, or answers that differ by at most 1.
`.wild/opendp/bin/python wild/opendp/served.py` prints the maps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from audit import AddRemove, Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Substitution
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.opendp.parameter_checks import parameter_checks

LIBRARY, RELEASE = "opendp", "OpenDP 0.16.0"
DELTA = 0.005  # as in `served.py`
BUDGET, TOLERANCE = 34_000, 0.75  # 130 to 450 microseconds an output, and more than 1000 for the sparse vector
SMALL_BUDGET, SLOW_TOLERANCE = 17_000, 1.5

Pairs = Sequence[tuple[Any, Any]]

_FLOATS: Pairs = [([], [1.0]), ([0.0, 0.5], [0.0, 0.5, 1.0])]
_INTEGERS: Pairs = [([], [10]), ([2, 2], [2, 2, 1])]
_SIZED: Pairs = [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])]
_CATEGORIES: Pairs = [([], [1]), ([1, 2], [1, 2, 2])]
_ONE: Pairs = [([], [1.0])]
_KEYS: Pairs = [(["b"], ["b", "a"])]
_POINTS: Pairs = [([], [[1, -1, -1]]), ([[0, 0, 1]], [[0, 0, 1], [1, 1, -1]])]
_BYTES: Pairs = [([1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])]


def _source(what: str) -> str:
    return f"{RELEASE}, privacy map of {what}"


def one_check(name: str, pairs: Pairs, epsilon: float = 1.0, delta: float = 0.0, **settings: Any) -> PrivacyCheck:
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


_RESPONSE_EPSILON, BITS_EPSILON = math.log(0.6 / 0.2), 2 * math.log(3)
_CONVERTED = 1.26704  # of rho = 1/8 at DELTA, by make_zCDP_to_approxDP, rounded up
MAX = "make_zCDP_to_approxDP, of make_noisy_max"
BITVEC = "make_randomized_response_bitvec"

CHECKS = [
    one_check("sum", _FLOATS, source="make_laplace after make_sum"),
    one_check("sum of integers", _INTEGERS, source="make_laplace after make_sum"),
    one_check("count", _INTEGERS, source="make_laplace after make_count"),
    one_check("count distinct", _INTEGERS, source="make_laplace after make_count_distinct"),
    one_check("count by categories", _CATEGORIES, source="make_laplace after make_count_by_categories"),
    one_check("mean", _SIZED, relation=Substitution(), source="make_laplace after make_mean"),
    one_check("variance", _SIZED, relation=Substitution(), source="make_laplace after make_variance"),
    one_check("resized mean", _FLOATS, source="make_laplace after make_resize and make_mean"),
    one_check("make_private_quantile", _FLOATS),
    one_check("make_laplace", _ONE),
    _bits("make_laplace"),
    one_check("make_laplace, k=1", _ONE, 0.75),
    one_check(
        "make_gaussian", _ONE, _CONVERTED, DELTA, source="make_zCDP_to_approxDP, of make_gaussian", tolerance=1.5
    ),
    one_check("make_geometric, bounds", [([], [1]), ([1] * 4, [1] * 5)]),
    one_check("make_canonical_noise", _ONE, delta=DELTA, tolerance=1.5),
    _bits("make_canonical_noise", delta=DELTA),
    one_check("make_noisy_max", _POINTS),
    one_check("make_noisy_max, zCDP", _POINTS, _CONVERTED, DELTA, source=MAX, tolerance=1.5),
    one_check("make_noisy_top_k", _POINTS),
    one_check("make_randomized_response", [("a", "b")], _RESPONSE_EPSILON, relation=Local()),
    one_check(f"{BITVEC}, first and last bit", _BYTES, BITS_EPSILON, relation=Local(), source=BITVEC, tolerance=1.5),
    one_check("make_alp_queryable", _KEYS, budget=SMALL_BUDGET, tolerance=SLOW_TOLERANCE),
    *parameter_checks(Release(LIBRARY, "opendp", RELEASE)),
]


ABOUT = About(
    repository="opendp/opendp",
    not_audited=(
        "`make_private_lazyframe` and `make_private_expr`, the Polars interface.",
        "`extras.mbi`, which needs JAX, and `extras.numpy` (private PCA).",
        "Interactive composition: adaptive queryables, odometers and filters.",
        "`make_noise` and `make_noise_threshold` on big integers, and `make_user_measurement`, which has no claim of "
        "its own.",
        "Floats of 32 bits.",
    ),
)
