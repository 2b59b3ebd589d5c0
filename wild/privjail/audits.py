"""privjail 0.1.2: data frames whose contents are released through mechanisms only. One record is added.

The library tracks how far neighboring frames are apart through every operation, and sets the noise by it.
"""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of
from wild.searched import EVERY_SETTING, gaussian

DELTA = 0.05  # as in `served.py`
RELEASE = Release("privjail", "privjail", "privjail 0.1.2", budget=50_000, own_randomness=False)
_SAYS = 'the eps that the accountant spends; summary: "Enforcing differential privacy in Python"'
_FIRST = ([(0.0, "a"), (0.0, "b")], [(1.0, "a"), (0.0, "a"), (0.0, "b")])
_LAST = ([(0.0, "a"), (0.0, "b")], [(0.0, "a"), (0.0, "b"), (1.0, "b")])
_PAIRS = [_FIRST, _LAST]
_FEW = {"tolerance": 1.5}


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), "privjail 0.1.2, gaussian_mechanism(eps, delta)")


ENTRIES = [
    RELEASE.entry("count", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("sum", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("mean", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("value_counts", _PAIRS, _SAYS, tolerance=2.0),
    RELEASE.entry("filter", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("head", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("sorted head", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("argmax", _PAIRS, _SAYS, **_FEW),
    RELEASE.entry("gaussian", _PAIRS, _SAYS, epsilon=0.9, delta=DELTA, tolerance=2.5),
    RELEASE.entry(
        "sum",
        [_FIRST],
        _SAYS,
        bits=True,
        query=lambda records: sum(value for value, _ in records),
        budget=20_000,
        tolerance=2.0,
        refuted="`privjail/mechanism.py: _laplace_scalar` returns `numpy.random.laplace` around the sum, in doubles: "
        "the last bits of the release tell the sum. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "gaussian searched",
        [([], [1.0])],
        "",
        claim=_gaussian,
        mechanism=gaussian("privjail", "gaussian searched", "deviation"),
        **EVERY_SETTING,
        refuted="`privjail/mechanism.py: sigma_from_eps_delta` is sensitivity sqrt(2 log(1.25 / delta)) / epsilon for "
        "every epsilon; the theorem of the book that its comment cites is stated for epsilon < 1. The deviation is too "
        "small for large epsilon.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "`groupby`, `crosstab`, `clip` and `tail`, which `served.py` has: a fair budget takes too long.",
        "`privjail.jax` and `privjail.numpy`: arrays, gradients and subsampled training.",
        "Accounting by zCDP and Renyi divergence, and subsampling.",
        "User-level privacy (`user_key`), and sessions between processes, which enforce that values stay hidden.",
        "Operations that raise for sensitive values: an exception may tell, and none was looked for.",
    ),
)
