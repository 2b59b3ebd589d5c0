"""pure-ldp 1.1.2: unary encoding before its repair in release 1.2.0. A dataset is one record."""

from __future__ import annotations

from typing import Any

from wild.about import About

LIBRARY, RELEASE = "pure_ldp_1_1", "pure-ldp 1.1.2"
EPSILON, BUDGET = 1.0, 60_000

CHECKS: list[Any] = []
SOURCE = f'{RELEASE}, docstring of UEClient: "epsilon: float - privacy budget"'


ABOUT = About(
    repository="Samuel-Maddock/pure-LDP",
    not_audited=("Everything else of this release; pure-ldp 1.2.0 has its own page.",),
)
