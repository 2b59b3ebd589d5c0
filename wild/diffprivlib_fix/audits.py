"""diffprivlib-fix 0.6.7: checks of diffprivlib 0.6.6 that are quick or refuted something.

The distribution differs from diffprivlib 0.6.6 in its version and in one argument of `models/logistic_regression.py`.
"""

from __future__ import annotations

from wild.diffprivlib import audits
from wild.recast import recast

CHECKS, NOTES, ABOUT = recast(
    audits,
    "diffprivlib_fix",
    "diffprivlib-fix",
    ("diffprivlib 0.6.6", "diffprivlib-fix 0.6.7"),
    [
        *audits.QUICK,
        "LinearRegression 0..1*",
        "LogisticRegression norm 100*",
        "GaussianNB*",
        "KMeans inertia*",
        "RandomForestClassifier*",
    ],
)
