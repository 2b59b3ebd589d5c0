"""PipelineDP 0.3.1: the metrics of its engine on the local backend, with Laplace noise, and its exponential mechanism.

`DPEngine.aggregate` "computes DP aggregate metrics" within the budget of its accountant, for privacy units added or
removed. Every record is a privacy unit here, and the one partition is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.mechanism import Served

LIBRARY, RELEASE = "pipeline_dp", "PipelineDP 0.3.1"
EPSILON, STEEP = 2.0, 5.0  # as in `served.py`
BUDGET, TOLERANCE = 20_000, 1.75  # 150 to 400 microseconds an output
LARGE_BUDGET = 34_000

Pairs = Sequence[tuple[Sequence[float], Sequence[float]]]

_ADDED: Pairs = [([0.0, 0.0], [0.0, 0.0, 1.0])]
_ENDS: Pairs = [([-1.0], [-1.0, 1.0])]
_EQUAL: Pairs = [([0.0] * 141, [0.0] * 142)]
_ENGINE = 'docstring of NaiveBudgetAccountant: "total_epsilon: epsilon for the entire pipeline"'
_CHOICE = 'docstring of ExponentialMechanism: "choose a parameter ... in a differentially private way"'


def _check(name: str, pairs: Pairs = _ADDED, epsilon: float = EPSILON, **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"pipeline-dp/{name}{settings.pop('suffix', '')} eps={epsilon:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(epsilon, 0.0, AddRemove(), f"{RELEASE}, {settings.pop('source', _ENGINE)}"),
        pairs=pairs,
        method="fixed",
        **{"budget": BUDGET, "tolerance": TOLERANCE, **settings},
    )


CHECKS = [
    _check("COUNT"),
    _check("COUNT", [([], [1.0])], suffix=" of nothing", expected=Verdict.FAIL),
    _check("PRIVACY_ID_COUNT"),
    _check("SUM"),
    _check("MEAN"),
    _check("VARIANCE in [0, 1]"),
    _check("VARIANCE in [-1, 1]", _ENDS, budget=LARGE_BUDGET, expected=Verdict.FAIL),
    _check("PERCENTILE"),
    _check("ExponentialMechanism", _EQUAL, STEEP, source=_CHOICE, budget=LARGE_BUDGET, expected=Verdict.FAIL),
]

NOTES = {
    "pipeline-dp/COUNT of nothing eps=2": (
        "`pipeline_dp/dp_engine.py: _check_col` raises ValueError for an empty list, though the partition is public: "
        "whether there is a record at all shows with certainty. The docstring of `DPEngine.aggregate` has no such "
        "condition."
    ),
    "pipeline-dp/VARIANCE in [-1, 1] eps=2": (
        "`pipeline_dp/combiners.py: VarianceCombiner.create_accumulator` sums (x - middle)^2, between 0 and 1 here; "
        "`dp_computations.py: compute_dp_var` adds noise for values of [0, 1] less their middle, at most 1/2 in "
        "size. The squares spend twice their third of epsilon: true epsilon 4/3 of the claim for bounds -b and b."
    ),
    "pipeline-dp/ExponentialMechanism eps=5": (
        "`pipeline_dp/dp_computations.py: ExponentialMechanism._calculate_probabilities` takes exp(score epsilon / "
        "sensitivity) without subtracting the largest: beyond 709 it is infinite, and the choice raises ValueError. "
        "Whether there are 141 or 142 equal records shows with certainty."
    ),
}

ABOUT = About(
    repository="OpenMined/PipelineDP",
    access={
        "*/COUNT of nothing *": "whether the pipeline failed",
        "*/ExponentialMechanism *": "whether the choice failed",
    },
    not_audited=(
        "`VECTOR_SUM`, `select_partitions` and aggregation with private partitions.",
        "Gaussian noise, and the accountant over privacy-loss distributions.",
        "Bounds on contributions: each user has one record in one partition here.",
        "The Beam and Spark backends: the local one is audited.",
        "Pre-aggregation, the utility analysis and the data-frame interface.",
    ),
)
