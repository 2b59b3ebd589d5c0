"""diffprivlib.mechanisms: noise on a count, choices by counts, and local randomizers; law and bits.

The library leaves the neighboring relation to the caller, who gives the sensitivity. A count changes by 1 when a
record is added or removed; the best of the candidates is chosen by how many records name each.
"""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, ANY_RECORD, EPSILON, REPLACED, Entry, Pairs, entry

_COUNTS: Pairs = [([], [1]), ([1, 1], [1, 1, 1])]
_BITS: Pairs = [([], [1])]
_VOTES = [(["a", "a"], ["a", "a", "b"]), (["a"], [])]
_SWAPPED_VOTES = [(["a", "b", "b"], ["b", "b", "b"])]
_SAMPLER = (
    "Samples from the Laplace distribution are generated using 4 uniform variates, as detailed in [HB21], to prevent "
    "against reconstruction attacks due to limited floating point precision"
)
_NORMAL_SAMPLER = (
    "Samples from the Gaussian distribution are generated using two samples from random.normalvariate as detailed in "
    "[HB21b], to prevent against reconstruction attacks due to limited floating point precision"
)
_ROUNDED = (
    "`{where}` returns `value + noise`, rounded to a double. The sum of 1 and a small number is a multiple of 2^-53 "
    "near 0, where noise on 0 has many more bits: the low bits of the output show to which value the noise was added. "
    "How the noise itself is sampled does not matter."
)
_BIG = (
    "`{where}` adds the noise as a float: integers beyond 2^53 are rounded to multiples of 2, 4, ... first, so that "
    "two counts that differ by 1 may be 256 apart before any noise is added. Nothing in the docstring bounds `value`; "
    "`GaussianDiscrete` adds integers and keeps its claim on the same pair."
)


def _rounded(served: str, where: str, says: str = EPSILON, delta: float = 0.0) -> Entry:
    """An audit of the bits of noise that is added to 0 and to 1."""
    why = _ROUNDED.format(where=f"mechanisms/{where}")
    return entry(served, _BITS, says=says, relation=ADDED, delta=delta, budget=20_000, bits=True, refuted=why)


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
        note="The rejection sampler in `mechanisms/bingham.py: Bingham.randomise` divides by (x^T Omega x)^(d/2) where "
        "the envelope asks for multiplication, so that another law is sampled; it keeps the claim on this pair.",
    ),
]

_NUMBERS = [
    entry(
        "Geometric on a number",
        [([2**60 + 128], [2**60 + 129])],
        where="Geometric",
        relation=REPLACED,
        budget=20_000,
        refuted=_BIG.format(where="mechanisms/geometric.py: Geometric.randomise"),
    ),
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
    _rounded("Laplace", "laplace.py: Laplace.randomise", _SAMPLER),
    _rounded("LaplaceTruncated", "laplace.py: Laplace.randomise"),
    _rounded("LaplaceFolded", "laplace.py: Laplace.randomise"),
    _rounded("LaplaceBoundedDomain", "laplace.py: LaplaceBoundedDomain.randomise"),
    _rounded("LaplaceBoundedNoise", "laplace.py: LaplaceBoundedNoise.randomise", delta=0.1),
    _rounded("Gaussian", "gaussian.py: Gaussian.randomise", _NORMAL_SAMPLER, delta=1e-2),
    _rounded("GaussianAnalytic", "gaussian.py: Gaussian.randomise", delta=1e-2),
    _rounded("Staircase", "staircase.py: Staircase.randomise"),
    entry(
        "Snapping",
        _BITS,
        says="It eliminates a vulnerability stemming from the representation of reals as floating-point numbers",
        relation=ADDED,
        budget=20_000,
        tolerance=2.0,
        bits=True,
    ),
]

ENTRIES = [*_NOISE, *_CHOICES, *_NUMBERS, *_FLOATS]
