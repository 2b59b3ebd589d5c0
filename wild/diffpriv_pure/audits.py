"""diffpriv-pure 0.1.0: noise from the standard library, and queries with it. Values are in [0, 1]."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim, Substitution
from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of
from wild.searched import EVERY_SETTING, gaussian

DELTA = 0.05  # as in `served.py`
RELEASE = Release("diffpriv_pure", "diffpriv-pure", "diffpriv-pure 0.1.0", own_randomness=False)
_REPLACED = [([0.0, 0.0], [0.0, 1.0])]
_ADDED = [([], [1.0]), ([1.0, 1.0], [1.0, 1.0, 1.0])]
_GAUSSIAN = "README: Gaussian mechanism"


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), 'diffpriv-pure 0.1.0, README: "Relaxed (ε, δ)-DP"')


ENTRIES = [
    RELEASE.entry("laplace_noise", _ADDED, 'docstring of laplace_noise: "Lap(0, b) — pure ε-DP"'),
    RELEASE.entry(
        "laplace_noise",
        [([], [1.0])],
        'docstring of laplace_noise: "Lap(0, b) — pure ε-DP"',
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
        refuted="`diffpriv_pure/__init__.py: laplace_noise` is scale * sign * log(1 - 2 |u - 0.5|) in doubles, and is "
        "added to the answer in doubles: the last bits of the sum tell the answer. The README has no caveat.",
    ),
    RELEASE.entry("gaussian_noise", _ADDED, _GAUSSIAN, epsilon=0.9, delta=DELTA, tolerance=2.5),
    RELEASE.entry(
        "gaussian_sigma",
        [([], [1.0])],
        "",
        claim=_gaussian,
        mechanism=gaussian("diffpriv_pure", "gaussian_sigma", "deviation"),
        **EVERY_SETTING,
        refuted="`diffpriv_pure/__init__.py: gaussian_sigma` takes any epsilon, and returns sqrt(2 log(1.25 / delta)) "
        "/ epsilon. That deviation is proved for epsilon < 1 only, and is too small for large epsilon. The docstring "
        "cites Balle & Wang (2018), whose paper shows that, and whose calibration is another one.",
    ),
    RELEASE.entry(
        "private_count",
        [([0.0] * 3, [0.0] * 4)],
        'docstring of geometric_noise: "Shifted geometric for pure ε-DP integer counts"',
        refuted="`diffpriv_pure/__init__.py: geometric_noise` returns ceil(log(1 - u) / log(1 - p) - 1), which is "
        "never negative: noise on one side. An output equal to the count is impossible with one more record: epsilon "
        "is infinite. Two-sided noise is the difference of two such samples.",
    ),
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
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "`PrivacyBudget`: `advanced_composition` leaves out the term n epsilon (e^epsilon - 1) and the slack of delta, "
        "as its code shows; no check calls it.",
        "The command line, which calls the same functions; with `--seed` its noise is known.",
        "`private_mean` and `private_sum` under add/remove, of which the documentation does not speak; an empty list "
        "raises.",
    ),
)
