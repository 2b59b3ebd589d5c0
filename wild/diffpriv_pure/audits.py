"""diffpriv-pure 0.1.0: noise from the standard library, and queries with it. Values are in [0, 1]."""

from __future__ import annotations

from audit import Substitution
from wild.about import About
from wild.entry import Release, notes_of

DELTA = 0.05  # as in `served.py`
RELEASE = Release("diffpriv_pure", "diffpriv-pure", "diffpriv-pure 0.1.0", own_randomness=False)
_REPLACED = [([0.0, 0.0], [0.0, 1.0])]
_ADDED = [([], [1.0]), ([1.0, 1.0], [1.0, 1.0, 1.0])]
_GAUSSIAN = "README: Gaussian mechanism"


ENTRIES = [
    RELEASE.entry("laplace_noise", _ADDED, 'docstring of laplace_noise: "Lap(0, b) — pure ε-DP"'),
    RELEASE.entry("gaussian_noise", _ADDED, _GAUSSIAN, epsilon=0.9, delta=DELTA, tolerance=2.5),
    RELEASE.entry(
        "private_sum",
        _REPLACED,
        'docstring of private_sum: "Clamp values to bounds, add Laplace"',
        relation=Substitution(),
    ),
    RELEASE.entry(
        "private_sum gaussian",
        _REPLACED,
        'docstring of private_sum: "add Laplace (δ=0) or Gaussian (δ>0) noise"',
        relation=Substitution(),
        epsilon=0.9,
        delta=DELTA,
        tolerance=2.5,
    ),
    RELEASE.entry(
        "private_mean",
        _REPLACED,
        'docstring of private_mean: "noise calibrated for sensitivity (hi-lo)/n"',
        relation=Substitution(),
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "`PrivacyBudget`, its composition among it.",
        "The command line, which calls the same functions.",
        "`private_mean` and `private_sum` under add/remove, of which the documentation does not speak; an empty list "
        "raises.",
    ),
)
