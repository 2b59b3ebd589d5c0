"""PipelineDP 0.3.1: the metrics of its engine on the local backend, with Laplace noise, and its exponential mechanism.

`DPEngine.aggregate` "computes DP aggregate metrics" within the budget of its accountant, for privacy units added or
removed. Every record is a privacy unit here, and the one partition is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit import AddRemove, PrivacyCheck, PrivacyClaim
from wild.about import About
from wild.mechanism import Served

LIBRARY, RELEASE = "pipeline_dp", "PipelineDP 0.3.1"
EPSILON = 2.0  # as in `served.py`
BUDGET, TOLERANCE = 20_000, 1.75  # 150 to 400 microseconds an output

Pairs = Sequence[tuple[Sequence[float], Sequence[float]]]

_ADDED: Pairs = [([0.0, 0.0], [0.0, 0.0, 1.0])]
_ENGINE = 'docstring of NaiveBudgetAccountant: "total_epsilon: epsilon for the entire pipeline"'


def one_check(name: str, pairs: Pairs = _ADDED, epsilon: float = EPSILON, **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"pipeline-dp/{name}{settings.pop('suffix', '')} eps={epsilon:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(epsilon, 0.0, AddRemove(), f"{RELEASE}, {settings.pop('source', _ENGINE)}"),
        pairs=pairs,
        method="fixed",
        **{"budget": BUDGET, "tolerance": TOLERANCE, **settings},
    )


CHECKS = [
    one_check("COUNT"),
    one_check("PRIVACY_ID_COUNT"),
    one_check("SUM"),
    one_check("MEAN"),
    one_check("VARIANCE in [0, 1]"),
    one_check("PERCENTILE"),
]


ABOUT = About(
    repository="OpenMined/PipelineDP",
    not_audited=(
        "`VECTOR_SUM`, `select_partitions` and aggregation with private partitions.",
        "Gaussian noise, and the accountant over privacy-loss distributions.",
        "Bounds on contributions: each user has one record in one partition here.",
        "The Beam and Spark backends: the local one is audited.",
        "Pre-aggregation, the utility analysis and the data-frame interface.",
    ),
)
