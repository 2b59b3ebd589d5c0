"""diffpriv_laplace, several statistics in one flag spend the whole budget each."""

from __future__ import annotations

from wild.diffpriv_laplace.audits import RELEASE, REPLACED, UNIT

CHECKS = [
    RELEASE.entry(
        "two statistics",
        UNIT,
        'docstring of DiffPrivSequentialStatisticsQuery.query: "sub-queries ... which use a portion of the defined '
        'privacy budget"',
        relation=REPLACED,
    ),
]
