"""Tumult Core 0.20.0: measurements against their own privacy functions, at distance 1: one record is added.

`.wild/tmlt_core/bin/python wild/tmlt_core/served.py` prints the privacy functions.
"""

from __future__ import annotations

from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of

RELEASE = Release("tmlt_core", "tmlt-core", "Tumult Core 0.20.0")
CONVERTED = 1.7527  # of rho = 1/8 at DELTA: rho + 2 sqrt(rho log(1 / delta)), rounded up
DELTA = 0.005
_ONE = [([], [1.0]), ([0.0, 0.5], [0.0, 0.5, 1.0])]
_INTEGERS = [([], [1]), ([1, 1], [1, 1, 1])]
_ORDERED = [([], [0.0]), ([1.0, 2.0, 5.0], [1.0, 2.0, 5.0, 10.0]), ([5.0, 5.0], [5.0, 5.0, 5.0]), ([4.0], [4.0, 20.0])]
_ZCDP = {"epsilon": CONVERTED, "delta": DELTA}
_SLOW = {"budget": 60_000, "tolerance": 1.5}


def _says(name: str, what: str = "epsilon = 1") -> str:
    return f"privacy_function(1) of {name}: {what}"


_BITS = {"bits": True, "query": sum, "budget": 60_000, "tolerance": 2.0}
_RHO = f"rho = 1/8, which is ({CONVERTED}, {DELTA})-DP by Bun and Steinke 2016"

ENTRIES = [
    RELEASE.entry("AddLaplaceNoise", _ONE, _says("AddLaplaceNoise")),
    RELEASE.entry("AddGeometricNoise", _INTEGERS, _says("AddGeometricNoise")),
    RELEASE.entry("AddDiscreteGaussianNoise", _INTEGERS, _says("AddDiscreteGaussianNoise", _RHO), **_ZCDP),
    RELEASE.entry("AddGaussianNoise", _ONE, _says("AddGaussianNoise", _RHO), **_ZCDP),
    RELEASE.entry("AddNoiseToSeries", [([], [1]), ([0, 2], [0, 2, 2])], _says("AddNoiseToSeries"), **_SLOW),
    RELEASE.entry("Composition", _ONE, _says("Composition"), **_SLOW),
    RELEASE.entry("NoisyQuantile, median", _ORDERED, _says("NoisyQuantile")),
    RELEASE.entry("NoisyQuantile, largest", _ORDERED, _says("NoisyQuantile")),
    RELEASE.entry(
        "AggregateByColumn",
        [([], [[1.0, 9.0]]), ([[1.0, 1.0]], [[1.0, 1.0], [2.0, 0.0]])],
        _says("AggregateByColumn"),
        **_SLOW,
    ),
    RELEASE.entry("AddLaplaceNoise", _ONE, _says("AddLaplaceNoise"), **_BITS),
    RELEASE.entry(
        "AddGaussianNoise",
        [([], [1.0])],
        _says("AddGaussianNoise", _RHO),
        **_BITS,
        **_ZCDP,
        refuted="`tmlt/core/measurements/noise_mechanisms.py: AddGaussianNoise.__call__` returns "
        "`float(value) + gaussian(u=0, ...)`: the noise is an exactly rounded normal variable, and its sum with the "
        "value is rounded again, so that the last bits of the sum tell the value. `AddLaplaceNoise` gives the value to "
        "the sampler as its center, and nothing is found in its bits. To mend it, call `gaussian(u=float(value), "
        "...)`, which the sampler allows. The docstring and the README have no caveat.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="opendp/tumult-core",
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "Transformations and measurements of Spark tables, among them the selection of partitions.",
        "Interactive measurements: queryables, the sparse vector technique, and retirement.",
        "Noise on values that are infinite or missing, which the domains exclude.",
    ),
)
