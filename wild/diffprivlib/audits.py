"""diffprivlib 0.6.6 (IBM): mechanisms, tools and models, each against the epsilon that it is given."""

from __future__ import annotations

from wild.about import About
from wild.diffprivlib.mechanism_checks import ENTRIES as MECHANISMS
from wild.diffprivlib.model_checks import ENTRIES as MODELS
from wild.diffprivlib.parameter_checks import ENTRIES as SEARCHES
from wild.diffprivlib.tool_checks import ENTRIES as TOOLS

_ENTRIES = [*MECHANISMS, *SEARCHES, *TOOLS, *MODELS]
CHECKS = [each.check for each in _ENTRIES]
NOTES = {each.check.name: each.note for each in _ENTRIES if each.note}

ABOUT = About(
    repository="IBM/differential-privacy-library",
    not_audited=(
        "`mechanisms.Vector` on its own: it is audited through `LogisticRegression`.",
        "`tools.histogramdd` beyond two columns.",
        "`accountant.BudgetAccountant` with slack, and its composition over many queries.",
        "Models with more than two columns, several classes, or `warm_start`; pickled models.",
        "Timing of the rejection samplers.",
        "Parameters of `GeometricFolded` (its search takes minutes), `Bingham`, `Vector`, the tools and the models.",
    ),
)

QUICK = (  # patterns of the checks that other releases run, too
    "Laplace eps*",
    "Geometric eps*",
    "GeometricTruncated eps*",
    "Gaussian eps*",
    "*bits*",
    "mean eps*",
    "sum eps*",
    "histogram*",
)
