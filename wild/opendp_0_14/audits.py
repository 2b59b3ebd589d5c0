"""OpenDP 0.14.2: randomized response on bit vectors. A dataset is one record of bits, of weight at most 1."""

from __future__ import annotations

from typing import Any

from wild.about import About

CHECKS: list[Any] = []


ABOUT = About(
    repository="opendp/opendp",
    not_audited=("Everything else of this release; OpenDP 0.16.0 has its own page.",),
)
