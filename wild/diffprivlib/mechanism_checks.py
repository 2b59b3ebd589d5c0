"""diffprivlib.mechanisms: noise on a count, choices by counts, and local randomizers; law and bits.

The library leaves the neighboring relation to the caller, who gives the sensitivity. A count changes by 1 when a
record is added or removed; the best of the candidates is chosen by how many records name each.
"""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, ANY_RECORD, REPLACED, Pairs, entry

_COUNTS: Pairs = [([], [1]), ([1, 1], [1, 1, 1])]
BITS: Pairs = [([], [1])]
_VOTES = [(["a", "a"], ["a", "a", "b"]), (["a"], [])]
_SWAPPED_VOTES = [(["a", "b", "b"], ["b", "b", "b"])]


_NOISE = [
    entry("Laplace", _COUNTS, relation=ADDED),
    entry("Laplace delta", _COUNTS, where="Laplace", relation=ADDED, delta=0.1, tolerance=2.0),
    entry("LaplaceTruncated", _COUNTS, relation=ADDED),
    entry("LaplaceFolded", _COUNTS, relation=ADDED),
    entry("LaplaceBoundedDomain", _COUNTS, relation=ADDED, budget=100_000, tolerance=0.5),
    entry("LaplaceBoundedNoise", _COUNTS, relation=ADDED, delta=0.1, budget=150_000, tolerance=5.0),
    entry("Gaussian", _COUNTS, relation=ADDED, delta=1e-2, tolerance=0.5),
    entry("GaussianAnalytic", _COUNTS, relation=ADDED, delta=1e-2, tolerance=0.5),
    entry("GaussianDiscrete", _COUNTS, relation=ADDED, delta=1e-2, tolerance=0.5),
    entry("Geometric", _COUNTS, relation=ADDED),
    entry("GeometricTruncated", _COUNTS, relation=ADDED),
    entry("GeometricFolded", _COUNTS, relation=ADDED, budget=60_000, tolerance=0.5),
    entry("Snapping", _COUNTS, relation=ADDED),
    entry("Staircase", _COUNTS, relation=ADDED),
    entry(
        "Uniform",
        _COUNTS,
        says="Privacy parameter delta for the mechanism",
        relation=ADDED,
        epsilon=0.0,
        delta=0.1,
        tolerance=1.0,
    ),
]

_CHOICES = [
    entry("Binary", [("no", "yes")], relation=ANY_RECORD),
    entry("ExponentialCategorical", [("a", "c")], relation=ANY_RECORD, budget=100_000, tolerance=0.5),
    entry("ExponentialHierarchical", [("a", "c")], relation=ANY_RECORD, budget=100_000, tolerance=0.5),
    entry("Exponential", _SWAPPED_VOTES, relation=REPLACED, budget=100_000, tolerance=0.5),
    entry("Exponential monotonic", _VOTES, where="Exponential", relation=ADDED, budget=100_000, tolerance=0.5),
    entry("PermuteAndFlip", _SWAPPED_VOTES, relation=REPLACED, budget=100_000, tolerance=0.5),
    entry("PermuteAndFlip monotonic", _VOTES, where="PermuteAndFlip", relation=ADDED, budget=100_000, tolerance=0.5),
    entry(
        "Bingham",
        [([[1.0, 0.0]], [[0.0, 1.0]])],
        budget=20_000,
        tolerance=1.5,
    ),
]

_NUMBERS = [
    entry(
        "GaussianDiscrete on a number",
        [([2**60 + 128], [2**60 + 129])],
        where="GaussianDiscrete",
        relation=REPLACED,
        delta=1e-2,
        tolerance=0.5,
    ),
]

_FLOATS = [
    entry(
        "Snapping",
        BITS,
        says="It eliminates a vulnerability stemming from the representation of reals as floating-point numbers",
        relation=ADDED,
        budget=20_000,
        tolerance=2.0,
        bits=True,
    ),
]

ENTRIES = [*_NOISE, *_CHOICES, *_NUMBERS, *_FLOATS]
