"""PyDP (python-dp) 1.1.5, the Python wrapper of Google's C++ library: algorithms, mechanisms, and `pydp.ml`.

The README promises "a set of ε-differentially private algorithms, which can be used to produce aggregate statistics
over numeric data sets". With `linf_sensitivity` = k a user contributes k records: add/remove, in groups of k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit import AddRemove, Group, PrecisionCheck, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.pydp.parameter_checks import parameter_entries

LIBRARY, RELEASE = "pydp", "PyDP 1.1.5"
EPSILON, DELTA = 2.0, 0.005
HIGHEST = 2**28  # as in `served.py`
BUDGET, GAUSSIAN_BUDGET, PARTITION_BUDGET, BITS_BUDGET = 200_000, 260_000, 420_000, 20_000
TREE_BUDGET, TREE_TOLERANCE = 80_000, 0.9  # a quantile tree takes 80 to 160 microseconds

Pairs = Sequence[tuple[Sequence[Any], Sequence[Any]]]

_README = 'README: "a set of ε-differentially private algorithms"'
_ADDED: Pairs = [([], [1.0]), ([0.0] * 3, [0.0] * 3 + [1.0]), ([1.0] * 5, [1.0] * 5 + [0.0])]
_TWO_ADDED: Pairs = [([], [1.0, 1.0]), ([0.0] * 3, [0.0] * 3 + [1.0, 1.0]), ([1.0] * 5, [1.0] * 5 + [0.0, 0.0])]
_INTEGERS: Pairs = [([HIGHEST] * 7, [HIGHEST] * 8)]
_SUM: Pairs = [([], [1])]
_USERS: Pairs = [([1] * users, [1] * (users + 1)) for users in range(6)]


def _check(
    name: str, pairs: Pairs = _ADDED, source: str = _README, delta: float = 0.0, **settings: Any
) -> PrivacyCheck:
    relation = settings.pop("relation", AddRemove())
    return PrivacyCheck(
        name=f"pydp/{name} eps={EPSILON:g}" + (f" delta={delta:g}" if delta else ""),
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(EPSILON, delta, relation, f"{RELEASE}, {source}"),
        pairs=pairs,
        method="fixed",
        **{"budget": BUDGET, **settings},
    )


def _tree(name: str, pairs: Pairs = _ADDED, **settings: Any) -> PrivacyCheck:
    return _check(name, pairs, budget=TREE_BUDGET, tolerance=TREE_TOLERANCE, **settings)


def _two_entries(name: str) -> PrivacyCheck:
    return _check(f"{name}, two entries", _TWO_ADDED, relation=Group(2, AddRemove()))


def _partitions(name: str) -> PrivacyCheck:
    return _check(name, _USERS, _PARTITIONS, DELTA, budget=PARTITION_BUDGET)


def _bits(name: str, source: str, expected: Verdict) -> PrecisionCheck:
    return PrecisionCheck(
        name=f"pydp/{name} bits eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, AddRemove(), f"{RELEASE}, {source}"),
        pairs=_SUM,
        budget=BITS_BUDGET,
        query=sum,
        expected=expected,
        tolerance=2.0,
    )


_EPSILON = 'docstring of DPMachine.set_epsilon: "epsilon for achieving ε-differential privacy with the mechanism"'
_NOISE = 'docstring of NumericalMechanism: "(ε, δ)-differenially private additive noise numerical mechanisms"'
_PARTITIONS = 'docstring of PartitionSelectionStrategy: "(ε, δ)-differenially private partition selection strategies"'
_QUANTILES = 'docstring of QuantileTree: "Class for computing differentially private quantiles"'

CHECKS = [
    _check("BoundedMean"),
    _check("BoundedMean of integers", _INTEGERS, expected=Verdict.FAIL),
    _two_entries("BoundedMean"),
    _check("BoundedSum"),
    _check("BoundedSum of integers", _INTEGERS),
    _two_entries("BoundedSum"),
    _check("BoundedVariance"),
    _two_entries("BoundedVariance"),
    _check("BoundedStandardDeviation"),
    _tree("Max"),
    _tree("Max, two entries", _TWO_ADDED, relation=Group(2, AddRemove())),
    _tree("Min"),
    _tree("Median"),
    _tree("Percentile"),
    _check("Count"),
    _two_entries("Count"),
    _check("LaplaceMechanism", _SUM, _NOISE),
    _bits("LaplaceMechanism", _NOISE, Verdict.PASS),
    _check("LaplaceMechanism of integers", _SUM, _NOISE),
    _check("GaussianMechanism", _SUM, _NOISE, DELTA, budget=GAUSSIAN_BUDGET),
    _check("GaussianMechanism of integers", _SUM, _NOISE, DELTA, budget=GAUSSIAN_BUDGET),
    _partitions("truncated_geometric"),
    _partitions("laplace partitions"),
    _partitions("gaussian partitions"),
    _partitions("pre-thresholding"),
    _tree("QuantileTree", source=_QUANTILES),
    _check("ml.Geometric", _SUM, _EPSILON, expected=Verdict.FAIL),
    _check("ml.GeometricTruncated", _SUM, _EPSILON, expected=Verdict.FAIL),
    _check("ml.LaplaceBoundedDomain", _SUM, _EPSILON),
    _bits("ml.LaplaceBoundedDomain", _EPSILON, Verdict.FAIL),
    *(each.check for each in parameter_entries(Release(LIBRARY, "pydp", RELEASE), _README, _NOISE, _PARTITIONS)),
]

NOTES = {
    "pydp/BoundedMean of integers eps=2": (
        "The default `dtype` binds `BoundedMeanInt` (`pydp/algorithms/_algorithm.py: MetaAlgorithm.__map_dtype_str`; "
        "compiled), whose sum has 32 bits: 8 records of 2^28 add up to -2^31, as the outputs show, all of them 0 "
        "then. One record moves the centered sum by 15.5 upper bounds; the noise is made for half a bound. (The "
        "docstring of `add_entries` says that data beyond the overflow limit are not added.) The result of "
        "BoundedSum wraps too, but together with its noise, and keeps the claim."
    ),
    "pydp/ml.Geometric eps=2": (
        "`pydp/ml/mechanisms/geometric.py: Geometric.randomise` adds a `GeometricDistribution` sample, which is "
        "never negative; two-sided noise is commented out above it. An output equal to the count is impossible with "
        "one more record: epsilon is infinite. The noise follows `set_probability`, which the class does not "
        "document and without which it raises."
    ),
    "pydp/ml.GeometricTruncated eps=2": (
        "`pydp/ml/mechanisms/geometric.py: GeometricTruncated.randomise` truncates the one-sided noise of "
        "`Geometric`: epsilon is infinite."
    ),
    "pydp/ml.LaplaceBoundedDomain bits eps=2": (
        "`pydp/ml/mechanisms/laplace.py: LaplaceBoundedDomain.randomise` inverts the distribution function in "
        "doubles, value - scale sign(u) log(1 - 2 |u|): the last bits tell the value. The documentation has no "
        "caveat."
    ),
}

ABOUT = About(
    repository="OpenMined/PyDP",
    access={"*/BoundedMean of integers *": "one released mean; eight records of 2^28 under the same upper bound"},
    not_audited=(
        "Partial results: `quick_result` is audited, and not several results from one budget.",
        "Serialized summaries and `merge`.",
        "`ml.models` and `ml.naive_bayes`, which wrap scikit-learn.",
        "Confidence intervals, `distributions` and `util`, which make no claim.",
        "Integer forms of `Max`, `Min`, `Median` and `Percentile`.",
    ),
)
