"""diffprivlib 0.6.6 (IBM): mechanisms, tools and models, each against the epsilon that it is given."""

from __future__ import annotations

from wild.about import ALL_BITS, About
from wild.diffprivlib.mechanism_checks import ENTRIES as MECHANISMS
from wild.diffprivlib.model_checks import ENTRIES as MODELS
from wild.diffprivlib.parameter_checks import ENTRIES as SEARCHES
from wild.diffprivlib.tool_checks import ENTRIES as TOOLS

_ENTRIES = [*MECHANISMS, *SEARCHES, *TOOLS, *MODELS]
CHECKS = [each.check for each in _ENTRIES]
NOTES = {each.check.name: each.note for each in _ENTRIES if each.note}

ABOUT = About(
    repository="IBM/differential-privacy-library",
    upstream={
        "*, bits *": "IBM/differential-privacy-library issues 19 and 94 discuss attacks on the bits of its mechanisms",
        "*/LinearRegression 0..1 *": "IBM/differential-privacy-library issues 104 and 105, and pull request 110",
        "*/KMeans *": "issue 104 of IBM/differential-privacy-library is about k-means too, not about this cause",
    },
    access={
        "*, bits *": ALL_BITS,
        "*/GaussianNB classes *": "the fitted model, its attribute `classes_`",
        "*/GaussianNB *": "the fitted model, its attributes",
        "*/KMeans inertia *": "the fitted model, its attribute `inertia_`",
        "*/KMeans centers *": "the fitted model, its attribute `cluster_centers_`",
        "*/LinearRegression *": "the fitted coefficients",
        "*/LogisticRegression *": "the fitted coefficients",
        "*/RandomForestClassifier *": "predictions of the fitted model",
        "*/histogram auto *": "the edges of the bins, which the function returns",
        "*/sum of 32 bits *": "one released sum, where the analyst asked for `dtype=int32`",
        "*/mean of integers *": "one released mean, where the analyst asked for `dtype=int`",
        "*/Geometric on a number *": "one released value, where the true one is beyond 2^53",
        "*/mean and histogram *": "both results of one accountant",
    },
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
    "Geometric on a number*",
    "mean eps*",
    "sum eps*",
    "nan*",
    "mean of integers*",
    "sum of 32 bits*",
    "histogram*",
)
