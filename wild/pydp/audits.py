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
INTEGERS: Pairs = [([HIGHEST] * 7, [HIGHEST] * 8)]
SUM: Pairs = [([], [1])]
_USERS: Pairs = [([1] * users, [1] * (users + 1)) for users in range(6)]


def one_check(
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
    return one_check(name, pairs, budget=TREE_BUDGET, tolerance=TREE_TOLERANCE, **settings)


def _two_entries(name: str) -> PrivacyCheck:
    return one_check(f"{name}, two entries", _TWO_ADDED, relation=Group(2, AddRemove()))


def _partitions(name: str) -> PrivacyCheck:
    return one_check(name, _USERS, _PARTITIONS, DELTA, budget=PARTITION_BUDGET)


def bits_check(name: str, source: str, expected: Verdict) -> PrecisionCheck:
    return PrecisionCheck(
        name=f"pydp/{name} bits eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, AddRemove(), f"{RELEASE}, {source}"),
        pairs=SUM,
        budget=BITS_BUDGET,
        query=sum,
        expected=expected,
        tolerance=2.0,
    )


MACHINE = 'docstring of DPMachine.set_epsilon: "epsilon for achieving ε-differential privacy with the mechanism"'
_NOISE = 'docstring of NumericalMechanism: "(ε, δ)-differenially private additive noise numerical mechanisms"'
_PARTITIONS = 'docstring of PartitionSelectionStrategy: "(ε, δ)-differenially private partition selection strategies"'
_QUANTILES = 'docstring of QuantileTree: "Class for computing differentially private quantiles"'

CHECKS = [
    one_check("BoundedMean"),
    _two_entries("BoundedMean"),
    one_check("BoundedSum"),
    one_check("BoundedSum of integers", INTEGERS),
    _two_entries("BoundedSum"),
    one_check("BoundedVariance"),
    _two_entries("BoundedVariance"),
    one_check("BoundedStandardDeviation"),
    _tree("Max"),
    _tree("Max, two entries", _TWO_ADDED, relation=Group(2, AddRemove())),
    _tree("Min"),
    _tree("Median"),
    _tree("Percentile"),
    one_check("Count"),
    _two_entries("Count"),
    one_check("LaplaceMechanism", SUM, _NOISE),
    bits_check("LaplaceMechanism", _NOISE, Verdict.PASS),
    one_check("LaplaceMechanism of integers", SUM, _NOISE),
    one_check("GaussianMechanism", SUM, _NOISE, DELTA, budget=GAUSSIAN_BUDGET),
    one_check("GaussianMechanism of integers", SUM, _NOISE, DELTA, budget=GAUSSIAN_BUDGET),
    _partitions("truncated_geometric"),
    _partitions("laplace partitions"),
    _partitions("gaussian partitions"),
    _partitions("pre-thresholding"),
    _tree("QuantileTree", source=_QUANTILES),
    one_check("ml.LaplaceBoundedDomain", SUM, MACHINE),
    *(each.check for each in parameter_entries(Release(LIBRARY, "pydp", RELEASE), _README, _NOISE, _PARTITIONS)),
]


ABOUT = About(
    repository="OpenMined/PyDP",
    not_audited=(
        "Partial results: `quick_result` is audited, and not several results from one budget.",
        "Serialized summaries and `merge`.",
        "`ml.models` and `ml.naive_bayes`, which wrap scikit-learn.",
        "Confidence intervals, `distributions` and `util`, which make no claim.",
        "Integer forms of `Max`, `Min`, `Median` and `Percentile`.",
    ),
)
