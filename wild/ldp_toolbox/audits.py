"""ldp-toolbox 0.1.3: frequency protocols under local differential privacy. A dataset is one value of a domain."""

from __future__ import annotations

from audit import Local
from wild.about import About
from wild.entry import Release, notes_of
from wild.searched import SHORT, local

VALUES, FEW = 8, 4  # as in `served.py`
RELEASE = Release("ldp_toolbox", "ldp-toolbox", "ldp-toolbox 0.1.3", budget=120_000)
_SAYS = 'docstrings of the protocols: "epsilon: The privacy budget ... strength of the privacy guarantee"'
_PAIRS, _FEW_PAIRS = [(0, 1), (0, VALUES - 1)], [(0, 1), (0, FEW - 1)]
_LOCAL = Local()

ENTRIES = [
    RELEASE.entry("GRR", _PAIRS, _SAYS, relation=_LOCAL, tolerance=0.5),
    RELEASE.entry("SUE", _FEW_PAIRS, _SAYS, relation=_LOCAL, tolerance=0.5),
    RELEASE.entry("OUE", _FEW_PAIRS, _SAYS, relation=_LOCAL, tolerance=0.5),
    RELEASE.entry("SS", _PAIRS, _SAYS, relation=_LOCAL, tolerance=0.5),
    RELEASE.entry("BLH", _FEW_PAIRS, _SAYS, relation=_LOCAL, budget=80_000, tolerance=1.0),
    RELEASE.entry("OLH", _FEW_PAIRS, _SAYS, relation=_LOCAL, budget=80_000, tolerance=1.0),
    RELEASE.entry("THE", _FEW_PAIRS, _SAYS, relation=_LOCAL, budget=80_000, tolerance=1.0),
    RELEASE.entry("HE", _FEW_PAIRS, _SAYS, relation=_LOCAL, budget=80_000, tolerance=1.0),
    *(local(RELEASE, served, _SAYS) for served in ("GRR", "SS", "BLH", "OLH")),
    *(local(RELEASE, served, _SAYS, values=SHORT) for served in ("SUE", "OUE", "THE", "HE")),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "Estimators and attacks, which see reports only, and the web application.",
        "The bits of the floats of `HistogramEncoding` without thresholds: numba's Laplace sampler in doubles.",
        "The seed of local hashing: the audit looks at which values a report supports.",
    ),
)
