"""eeprivacy 0.0.5: methods for energy data. Values are in [0, 1] unless the pair says otherwise."""

from __future__ import annotations

from hypothesis import strategies as st

from audit import AddRemove, Distance, PrivacyClaim, Substitution
from wild.about import About
from wild.entry import Release, notes_of

DELTA = 0.05  # as in `served.py`
RELEASE = Release("eeprivacy", "eeprivacy", "eeprivacy 0.0.5", own_randomness=False)
_REPLACED = [([0.0, 0.0], [0.0, 1.0])]
ADDED = [([], [1.0])]
LAPLACE = (
    'docstring of LaplaceMechanism.execute: "adding noise to `value` to realize differential private at `epsilon`"'
)
GAUSSIAN = 'docstring of GaussianMechanism.execute: "to realize differential private at (`epsilon`, `delta`)"'


def _quantile(quantile: float) -> PrivacyClaim:
    source = 'eeprivacy 0.0.5, docstring of PrivateQuantile: "Find quantiles privately"'
    return PrivacyClaim(1.0, 0.0, AddRemove(), source)


ENTRIES = [
    RELEASE.entry("LaplaceMechanism", ADDED, LAPLACE),
    RELEASE.entry("LaplaceMechanism batch", [([0.0, 0.0], [1.0, 0.0])], LAPLACE, relation=Distance("l1", 1.0)),
    RELEASE.entry("GaussianMechanism", ADDED, GAUSSIAN, epsilon=0.9, delta=DELTA, tolerance=2.5),
    RELEASE.entry(
        "PrivateClampedSum",
        _REPLACED,
        'docstring of PrivateClampedSum: "Compute a sum, bounding sensitivity with clamping"',
        relation=Substitution(),
    ),
    RELEASE.entry(
        "PrivateClampedMean",
        _REPLACED,
        'docstring of PrivateClampedMean: "Compute a mean, bounding sensitivity with clamping"',
        relation=Substitution(),
    ),
    RELEASE.entry(
        "PrivateVectorClampedMeanGaussian",
        [([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]])],
        'docstring of PrivateVectorClampedMeanGaussian: "With the Gaussian Mechanism, noise is scaled to the L2 norm"',
        relation=Substitution(),
        epsilon=0.9,
        delta=DELTA,
        tolerance=2.5,
    ),
    RELEASE.entry(
        "PrivateHistogram",
        [([0.5], [0.5, 1.5])],
        'docstring of PrivateHistogram: "Compute a private histogram with the Laplace Mechanism"',
    ),
    RELEASE.entry(
        "PrivateQuantile",
        lambda quantile: [([0.5, 1.5, 2.5], [0.5, 1.5, 2.5, 0.5]), ([1.5, 1.5], [1.5, 1.5, 2.5])],
        "",
        named="eps=1, any quantile",
        claim=_quantile,
        parameters={"quantile": st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])},
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="openeemeter/eeprivacy",
    not_audited=(
        "`PrivateCount`, which has no body.",
        "Confidence intervals, which depend on parameters only.",
        "More than one record of a user (`max_individual_contribution`).",
    ),
)
