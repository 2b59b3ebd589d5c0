"""dp_group_stats, low-order bits of Laplace noise."""

from __future__ import annotations

from wild.dp_group_stats.audits import EPSILON, RELEASE, REPLACED, SAYS

CHECKS = [
    RELEASE.entry(
        "sum",
        [([0.0], [120.0])],
        SAYS,
        epsilon=EPSILON,
        relation=REPLACED,
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
    ),
]
