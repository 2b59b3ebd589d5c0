"""dpcrpy 1.0.0: continual release. One element of a stream changes by at most 1; all releases are observed."""

from __future__ import annotations

from audit import Distance
from wild.about import About
from wild.entry import Entry, Release, notes_of

EPSILON, DELTA = 1.0, 0.05  # as in `served.py`
RELEASE = Release("dpcrpy", "dpcrpy", "dpcrpy 1.0.0", budget=100_000, own_randomness=False)
LENGTHS = {
    "SimpleMech": 3,
    "TwoLevel": 4,
    "BinMech": 4,
    "Honaker": 4,
    "FDA": 3,
    "BCRG": 3,
    "ABCRG": 3,
    "KTCR": 4,
}
_SAYS = "text of {}NoiMech: “Satisfying (ε, δ)-DP”; the mechanism sets the sensitivity of its stream"


def _counter(name: str, noise: str, delta: float, tolerance: float) -> Entry:
    length = LENGTHS[name]
    zeros = [0.0] * length
    pairs = [(zeros, [float(place == one) for place in range(length)]) for one in range(length)]
    return RELEASE.entry(
        f"{name}, {noise}",
        pairs,
        _SAYS.format(noise[:5].removesuffix("ac")),
        delta=delta,
        relation=Distance("l1", 1.0),
        tolerance=tolerance,
    )


ENTRIES = [
    *(_counter(name, "Laplace", 0.0, 1.0) for name in LENGTHS if name != "KTCR"),
    *(_counter(name, "Gaussian", DELTA, 4.0) for name in LENGTHS),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "`KTCR` with Laplace noise: its constructor raises AttributeError, because it asks for the sensitivity before "
        "it makes the cache of it.",
        "`LapNoiMech` with delta > 0: it raises with the releases of SciPy that its requirements admit now.",
        "`AuBCR`, `AuBCRComp` and `KTCRComp`, which solve for their coefficients, and `KTCR` with its private budget.",
        "`dpCrFw`, which joins blocks to an endless stream.",
        "Streams longer than four elements; adaptive streams, which depend on earlier releases.",
        "The bits of floats: noise is drawn by numpy and added in doubles.",
    ),
)
