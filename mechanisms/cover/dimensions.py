"""Separators in more than three dimensions: nets that cover, and A1 on them.

From Chaudhuri & Hsu (2011): Lemma 13 for the nets of `mechanisms.cover.nets`, Theorems 7 and 8 for A1 on half-spaces of
R^4. Covering radii are computed from the convex hull and gaps from all pairs, not from the construction.

Departure: the doubling dimension is the upper bound 3 log2 5 for n = 4, so that the sample size is larger than the
theorem's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck, InequalityCheck, Labeled, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.cover.accuracy import SphereTrials
from mechanisms.cover.learners import ReferenceCoverLearner
from mechanisms.cover.sample_sizes import agnostic_size
from mechanisms.cover.separators import LinearSeparatorClass, covering_radius
from mechanisms.cover.stumps import StumpClass

PAPER = "Chaudhuri & Hsu 2011"
NETS = ((4, 0.2), (4, 0.1), (5, 0.15), (6, 0.25))
FOUR = LinearSeparatorClass(4)
ACCURACY, BETA, NOISE = 0.3, 0.1, 0.0
EXAMPLES = agnostic_size(0.5, ACCURACY, BETA, 0.0, FOUR.doubling_dim)
Cases = list[tuple[str, float, float]]


def net_of(dim: int, radius: float) -> NDArray[np.float64]:
    """Return the net that a learner uses."""
    return LinearSeparatorClass(dim).packing_cover(radius)


def cover_cases() -> Cases:
    """Compare covering radii with s."""
    return [(f"n={dim} s={s:g}", covering_radius(net_of(dim, s)), s) for dim, s in NETS]


def packing_cases() -> Cases:
    """Compare the least gaps with s."""
    cases = []
    for dim, s in NETS:
        net = net_of(dim, s)
        gaps = LinearSeparatorClass(dim).reference_disagreement(net, net) + np.eye(len(net))
        cases.append((f"n={dim} s={s:g}", float(gaps.min()), s))
    return cases


def crowded(m: int, point: tuple[float, ...]) -> tuple[Labeled, Labeled]:
    """Return m examples at one point, all +1, and the same with one label -1."""
    X, y = np.tile(point, (m, 1)), np.ones(m, dtype=int)
    return Labeled(X, y), Labeled(X, np.r_[-1, y[1:]])


def accuracy_check(name: str, source: str, statement: str, hypotheses: LinearSeparatorClass, **settings: Any) -> Any:
    """Return a check that A1 comes within the accuracy on half-spaces of R^4, at the sample size of Theorem 8."""
    return GuaranteeCheck(
        name=name,
        source=source,
        statement=statement,
        trials=SphereTrials(0.5, ACCURACY, NOISE, EXAMPLES, hypotheses),
        beta=BETA,
        slack=0.1,
        budget=200,
        **settings,
    )


CHECKS: list[Any] = [
    InequalityCheck(
        name="cover/covers cover, n > 3",
        source=f"{PAPER}, Lemma 13",
        statement="Everything lies within s of the net.",
        values=cover_cases,
    ),
    InequalityCheck(
        name="cover/packings pack, n > 3",
        source=f"{PAPER}, Lemma 13",
        statement="Points of the net are farther apart than s.",
        values=packing_cases,
        sense=">=",
    ),
    PrivacyCheck(
        name="cover/A1 in four dimensions alpha=1 m=3",
        mechanism=ReferenceCoverLearner(1.0, 0.9, hypotheses=FOUR),
        claim=PrivacyClaim(1.0, 0.0, Substitution(), f"{PAPER}, Theorem 7"),
        pairs=[crowded(3, point) for point in ((1.0, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (0, 0, 0.6, -0.8))],
        budget=20_000,
    ),
    PrivacyCheck(
        name="cover/A1 on stumps alpha=1 m=3",
        mechanism=ReferenceCoverLearner(1.0, 0.9, hypotheses=StumpClass(3)),
        claim=PrivacyClaim(1.0, 0.0, Substitution(), f"{PAPER}, Theorem 7"),
        pairs=[crowded(3, point) for point in ((1.0, 0, 0), (0.5, 0.5, 0.5), (0, 0.3, 0.9))],
        budget=20_000,
    ),
    accuracy_check(
        f"cover/accuracy of A1 in four dimensions m={EXAMPLES}",
        f"{PAPER}, Theorem 8",
        f"A1 errs by at most 0.3 more than the best, with probability 0.9, from m = {EXAMPLES} on.",
        FOUR,
    ),
]
