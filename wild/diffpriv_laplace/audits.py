"""diff-priv-laplace-python 1.0.5: statistics with Laplace noise. One record of a list is replaced."""

from __future__ import annotations

from audit import Substitution
from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("diffpriv_laplace", "diffpriv-laplace", "diff-priv-laplace-python 1.0.5", own_randomness=False)
_REPLACED = Substitution()
_SAYS = 'docstring of DiffPrivStatistics.{}: "anonymizes the value(s) using the provided privacy budget"'
_UNIT = [([0.0, 1.0, 0.0], [0.0, 1.0, 1.0])]
_SPREAD = [([0.0, 0.0], [0.0, 1.0])]

_FROM_DATA = (
    "`diffpriv_laplace/statistics.py: DiffPrivStatistics.{0}` takes as bounds the smallest and the largest record "
    "(`lower = np.min(data)`, `upper = np.max(data)`), so that the scale of the noise tells them. Equal records get no "
    "noise at all{1}."
)
_ONE = (
    "`diffpriv_laplace/global_sensitivity/{0}.py` has a sensitivity of 1 whatever the data are; the function takes no "
    "bounds, and its documentation names none. One record moves the {0} by 30 here."
)

ENTRIES = [
    RELEASE.entry(
        "anonymize_sum",
        _SPREAD,
        'docstring of DiffPrivLaplaceMechanism.anonymize_sum_with_budget: "for a given privacy budget"',
        relation=_REPLACED,
    ),
    RELEASE.entry(
        "anonymize_mean",
        _SPREAD,
        'docstring of DiffPrivLaplaceMechanism.anonymize_mean_with_budget: "for a given privacy budget"',
        relation=_REPLACED,
    ),
    RELEASE.entry("count", _UNIT, _SAYS.format("count"), relation=_REPLACED),
    RELEASE.entry("proportion", _UNIT, _SAYS.format("proportion"), relation=_REPLACED),
    RELEASE.entry(
        "sum",
        _SPREAD,
        _SAYS.format("sum"),
        relation=_REPLACED,
        budget=20_000,
        refuted=_FROM_DATA.format("sum", " if they are 0"),
    ),
    RELEASE.entry(
        "mean", _SPREAD, _SAYS.format("mean"), relation=_REPLACED, budget=20_000, refuted=_FROM_DATA.format("mean", "")
    ),
    RELEASE.entry(
        "variance",
        _SPREAD,
        _SAYS.format("variance"),
        relation=_REPLACED,
        budget=20_000,
        refuted=_FROM_DATA.format("variance", ""),
    ),
    RELEASE.entry(
        "max",
        [([0.0, 0.0], [0.0, 30.0])],
        _SAYS.format("max"),
        relation=_REPLACED,
        budget=20_000,
        refuted=_ONE.format("max"),
    ),
    RELEASE.entry(
        "median",
        [([0.0], [30.0])],
        _SAYS.format("median"),
        relation=_REPLACED,
        budget=20_000,
        refuted=_ONE.format("median"),
    ),
    RELEASE.entry(
        "two statistics",
        _UNIT,
        'docstring of DiffPrivSequentialStatisticsQuery.query: "sub-queries ... which use a portion of the defined '
        'privacy budget"',
        relation=_REPLACED,
        refuted="`diffpriv_laplace/query/sequential_statistics.py: DiffPrivSequentialStatisticsQuery.query` divides "
        "the budget by the number of statistics only `if isinstance(kinds, list)`. Several statistics in one flag, as "
        "`count | proportion`, spend the whole epsilon each: 2 epsilon for two. The docstring admits a flag.",
    ),
    RELEASE.entry(
        "sanitizer",
        [([0.1, 0.1, 0.9], [0.1, 0.9, 0.9])],
        'docstring of DiffPrivLaplaceSanitizer.count: "applying parallel composition on each"',
        relation=_REPLACED,
        budget=100_000,
        refuted="`diffpriv_laplace/laplace_sanitizer.py: DiffPrivLaplaceSanitizer.count` spends the whole epsilon on "
        "each of the disjoint counts. A replaced record leaves one and enters another: 2 epsilon. With one record "
        "added instead, one count changes, but `statistics.py: DiffPrivStatistics.count` clips the noisy count at the "
        "exact number of records, which shows it.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "`min`, whose code is that of `max`, and the functions with `axis`.",
        "`DiffPrivParallelStatisticsQuery`.",
        "The bits of floats: `numpy.random.laplace` around the exact value, in doubles.",
    ),
)
