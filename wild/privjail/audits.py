"""privjail 0.1.2: data frames whose contents are released through mechanisms only. One record is added.

The library tracks how far neighboring frames are apart through every operation, and sets the noise by it.
"""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

DELTA = 0.05  # as in `served.py`
RELEASE = Release("privjail", "privjail", "privjail 0.1.2", budget=50_000, own_randomness=False)
SAYS = 'the eps that the accountant spends; summary: "Enforcing differential privacy in Python"'
FIRST = ([(0.0, "a"), (0.0, "b")], [(1.0, "a"), (0.0, "a"), (0.0, "b")])
_LAST = ([(0.0, "a"), (0.0, "b")], [(0.0, "a"), (0.0, "b"), (1.0, "b")])
_PAIRS = [FIRST, _LAST]
_FEW = {"tolerance": 1.5}


ENTRIES = [
    RELEASE.entry("count", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("sum", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("mean", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("value_counts", _PAIRS, SAYS, tolerance=2.0),
    RELEASE.entry("filter", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("head", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("sorted head", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("argmax", _PAIRS, SAYS, **_FEW),
    RELEASE.entry("gaussian", _PAIRS, SAYS, epsilon=0.9, delta=DELTA, tolerance=2.5),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "`groupby`, `crosstab`, `clip` and `tail`, which `served.py` has: a fair budget takes too long.",
        "`privjail.jax` and `privjail.numpy`: arrays, gradients and subsampled training.",
        "Accounting by zCDP and Renyi divergence, and subsampling.",
        "User-level privacy (`user_key`), and sessions between processes, which enforce that values stay hidden.",
        "Operations that raise for sensitive values: an exception may tell, and none was looked for.",
    ),
)
