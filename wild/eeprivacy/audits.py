"""eeprivacy 0.0.5: methods for energy data. Values are in [0, 1] unless the pair says otherwise."""

from __future__ import annotations

from hypothesis import strategies as st

from audit import AddRemove, Distance, PrivacyClaim, Substitution
from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of
from wild.searched import EVERY_SETTING, gaussian

DELTA = 0.05  # as in `served.py`
RELEASE = Release("eeprivacy", "eeprivacy", "eeprivacy 0.0.5", own_randomness=False)
_REPLACED = [([0.0, 0.0], [0.0, 1.0])]
_ADDED = [([], [1.0])]
_LAPLACE = (
    'docstring of LaplaceMechanism.execute: "adding noise to `value` to realize differential private at `epsilon`"'
)
_GAUSSIAN = 'docstring of GaussianMechanism.execute: "to realize differential private at (`epsilon`, `delta`)"'


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), f"eeprivacy 0.0.5, {_GAUSSIAN}")


def _quantile(quantile: float) -> PrivacyClaim:
    source = 'eeprivacy 0.0.5, docstring of PrivateQuantile: "Find quantiles privately"'
    return PrivacyClaim(1.0, 0.0, AddRemove(), source)


ENTRIES = [
    RELEASE.entry("LaplaceMechanism", _ADDED, _LAPLACE),
    RELEASE.entry(
        "LaplaceMechanism",
        _ADDED,
        _LAPLACE,
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
        refuted="`eeprivacy/mechanisms.py: LaplaceMechanism.execute` adds `numpy.random.laplace` to the value in "
        "doubles, so that the last bits of the sum tell the value. The documentation has no caveat.",
    ),
    RELEASE.entry("LaplaceMechanism batch", [([0.0, 0.0], [1.0, 0.0])], _LAPLACE, relation=Distance("l1", 1.0)),
    RELEASE.entry("GaussianMechanism", _ADDED, _GAUSSIAN, epsilon=0.9, delta=DELTA, tolerance=2.5),
    RELEASE.entry(
        "GaussianMechanism searched",
        _ADDED,
        "",
        claim=_gaussian,
        mechanism=gaussian("eeprivacy", "GaussianMechanism searched", "deviation"),
        **EVERY_SETTING,
        refuted="`eeprivacy/mechanisms.py: GaussianMechanism.scale` is sqrt(2 log(1.25 / delta)) / epsilon for every "
        "epsilon. The formula is proved for epsilon < 1 only, and is too small for large epsilon.",
    ),
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
        "PrivateClampedMean",
        [([0.0, 0.0], [0.0, 30.0])],
        'docstring of PrivateClampedMean: "Compute a mean, bounding sensitivity with clamping"',
        relation=Substitution(),
        named="eps=1, a value out of bounds",
        refuted="`eeprivacy/operations.py: PrivateClampedMean.execute` sums the values as they are (`S = "
        "np.sum(values)`), and clamps the noisy mean only. The noise is for a change of upper - lower; a value of 30 "
        "within bounds of 0 and 1 moves the sum by 30. `PrivateClampedSum` clips the values.",
    ),
    RELEASE.entry(
        "PrivateVectorClampedMeanLaplace",
        [([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]])],
        'docstring of PrivateVectorClampedMeanLaplace: "With the Laplace Mechanism, noise is scaled to the L1 norm"',
        relation=Substitution(),
        refuted="`eeprivacy/operations.py: PrivateVectorClampedMeanLaplace.execute` hands the vector of sums to "
        "`LaplaceMechanism.execute`, which draws one number and adds it to all coordinates. Their differences are "
        "exact: epsilon is infinite. `execute_batch` draws one for each.",
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
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "`PrivateCount`, which has no body.",
        "Confidence intervals, which depend on parameters only.",
        "More than one record of a user (`max_individual_contribution`).",
    ),
)
