"""Tumult Core 0.20.0: measurements against their own privacy functions, at distance 1: one record is added.

`.wild/tmlt_core/bin/python wild/tmlt_core/served.py` prints the privacy functions.
"""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("tmlt_core", "tmlt-core", "Tumult Core 0.20.0")
CONVERTED = 1.7527  # of rho = 1/8 at DELTA: rho + 2 sqrt(rho log(1 / delta)), rounded up
DELTA = 0.005
_ONE = [([], [1.0]), ([0.0, 0.5], [0.0, 0.5, 1.0])]
_INTEGERS = [([], [1]), ([1, 1], [1, 1, 1])]
_ORDERED = [([], [0.0]), ([1.0, 2.0, 5.0], [1.0, 2.0, 5.0, 10.0]), ([5.0, 5.0], [5.0, 5.0, 5.0]), ([4.0], [4.0, 20.0])]
ZCDP = {"epsilon": CONVERTED, "delta": DELTA}
_SLOW = {"budget": 60_000, "tolerance": 1.5}


def says(name: str, what: str = "epsilon = 1") -> str:
    return f"privacy_function(1) of {name}: {what}"


BITS = {"bits": True, "query": sum, "budget": 60_000, "tolerance": 2.0}
RHO = f"rho = 1/8, which is ({CONVERTED}, {DELTA})-DP by Bun and Steinke 2016"

ENTRIES = [
    RELEASE.entry("AddLaplaceNoise", _ONE, says("AddLaplaceNoise")),
    RELEASE.entry("AddGeometricNoise", _INTEGERS, says("AddGeometricNoise")),
    RELEASE.entry("AddDiscreteGaussianNoise", _INTEGERS, says("AddDiscreteGaussianNoise", RHO), **ZCDP),
    RELEASE.entry("AddGaussianNoise", _ONE, says("AddGaussianNoise", RHO), **ZCDP),
    RELEASE.entry("AddNoiseToSeries", [([], [1]), ([0, 2], [0, 2, 2])], says("AddNoiseToSeries"), **_SLOW),
    RELEASE.entry("Composition", _ONE, says("Composition"), **_SLOW),
    RELEASE.entry("NoisyQuantile, median", _ORDERED, says("NoisyQuantile")),
    RELEASE.entry("NoisyQuantile, largest", _ORDERED, says("NoisyQuantile")),
    RELEASE.entry(
        "AggregateByColumn",
        [([], [[1.0, 9.0]]), ([[1.0, 1.0]], [[1.0, 1.0], [2.0, 0.0]])],
        says("AggregateByColumn"),
        **_SLOW,
    ),
    RELEASE.entry("AddLaplaceNoise", _ONE, says("AddLaplaceNoise"), **BITS),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="opendp/tumult-core",
    not_audited=(
        "Transformations and measurements of Spark tables, among them the selection of partitions.",
        "Interactive measurements: queryables, the sparse vector technique, and retirement.",
        "Noise on values that are infinite or missing, which the domains exclude.",
    ),
)
