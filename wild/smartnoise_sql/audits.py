"""smartnoise-sql 1.0.10: queries over data frames. One row is added; each person has one row.

The cost of a query is what `get_privacy_cost` says of it. Queries are slow, so that their budgets are small.
"""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

EPSILON, DELTA = 1.0, 0.05  # as in `served.py`
RELEASE = Release("smartnoise_sql", "smartnoise-sql", "smartnoise-sql 1.0.10", budget=200_000)
_SAYS = 'docstring of Privacy: "epsilon: The epsilon value for each statistic returned by the private SQL connection"'
_ROWS = [([(0.0, "a")] * 2, [(0.0, "a")] * 2 + [(1.0, "a")])]
_NEW_KEY = [([(1.0, "a")] * 2, [(1.0, "a")] * 2 + [(1.0, "b")])]
_QUERY = {"budget": 1_500, "tolerance": 6.0}

ENTRIES = [
    RELEASE.entry("Laplace", [([], [1.0])], _SAYS),
    RELEASE.entry("Gaussian", [([], [1.0])], _SAYS, delta=DELTA, tolerance=2.5),
    RELEASE.entry("COUNT", _ROWS, _SAYS, **_QUERY),
    RELEASE.entry("SUM", _ROWS, f"{_SAYS}; two statistics, a sum and a count", epsilon=2.0, **_QUERY),
    RELEASE.entry("COUNT by key", _NEW_KEY, f"{_SAYS}; keys are censored", delta=0.07375, **_QUERY),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="opendp/smartnoise-sdk",
    not_audited=(
        "AVG, VAR, STDDEV, MIN, MAX and quantiles; joins and subqueries.",
        "Several rows of a person: `max_ids`, sampling of rows, and clamping of counts.",
        "Databases other than pandas; the odometer; `approx_bounds`.",
        "Bits: noise comes from OpenDP.",
    ),
)
