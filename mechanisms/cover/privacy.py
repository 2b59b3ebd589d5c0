"""Theorems 7, 9 and 26 and Lemma 22 as checks: what each learner promises, under which relation, and where it ends.

From Chaudhuri & Hsu (2011): A1 (Theorem 7) and A2 (Theorem 9) under substitution, A3 (Theorem 26) under label flip,
groups (Lemma 22). The exact epsilon is known in closed form (`mechanisms.cover.worst_case`), the pairs are the worst
ones. Two statements that the text does not make are refuted, since they are what a reader might take from it: A1 is
not private under add/remove (its cover depends on m), and A3 is not private under substitution (its cover depends on
the points).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import (
    AddRemove,
    Group,
    InequalityCheck,
    Labeled,
    LabelFlip,
    PrivacyCheck,
    PrivacyClaim,
    Substitution,
    Verdict,
)
from mechanisms.cover.learners import (
    CoverLearner,
    LabelPrivateCoverLearner,
    Mistakes,
    RealizableReferenceCoverLearner,
    ReferenceCoverLearner,
)
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.thresholds import ThresholdClass
from mechanisms.cover.worst_case import (
    circle_ratio,
    enumerated_epsilon,
    example_mistakes,
    label_flip_epsilon,
    threshold_ratio,
    worst_epsilon,
    worst_flip,
    worst_pair,
)
from mechanisms.exponential import ExponentialMechanism

PAPER = "Chaudhuri & Hsu 2011"
A1, A2, A3, GROUPS = (f"{PAPER}, {part}" for part in ("Theorem 7", "Theorem 9", "Theorem 26", "Lemma 22"))
EXACT = 1e-12
LISTED = [(size, m, alpha) for size in range(2, 7) for m in range(1, 5) for alpha in (0.5, 1.0)]
ACCURACY = {5: 0.4, 20: 0.1}  # A1 below its guarantee: kappa_hat = 1, J = 2 / accuracy
Pair = tuple[Labeled, Labeled]
Cases = list[tuple[str, float, float]]


def halves(mistakes: np.ndarray, epsilon: float) -> np.ndarray:
    """Log-weights of the exponential mechanism with the factor 1/2."""
    return np.asarray(-epsilon / 2 * mistakes)


def middles(m: int) -> np.ndarray:
    """Return the middles of m equal cells of [0, 1]."""
    return np.asarray((np.arange(m) + 0.5) / m)


def first_threshold_pair(size: int, m: int) -> Pair:
    """Return the worst pair for J thresholds: one lies below the point, the others agree with the majority."""
    return worst_pair(1 / size, m, label=-1)


def circle_pair(m: int) -> Pair:
    """Return the worst pair on the circle: a point orthogonal to a direction of the cover."""
    flat = worst_pair(0.0, m)
    point = np.tile([0.0, 1.0], (m, 1))
    return Labeled(point, flat[0].y), Labeled(point, flat[1].y)


def flip_pair(learner: CoverLearner, m: int) -> Pair:
    """Return the worst label flip of A3 on evenly spread points."""
    X = middles(m)
    _, labels, index = worst_flip(ThresholdClass().predict(learner.cover(X), X), learner.epsilon)
    flipped = labels.copy()
    flipped[index] *= -1
    return Labeled(X, labels), Labeled(X, flipped)


def circle_flip(m: int = 6) -> Pair:
    """Return m directions, labeled by a half-plane, one of which flips."""
    angles = np.arange(m) + 0.3
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    y = np.where(X[:, 1] >= 0, 1, -1)
    return Labeled(X, y), Labeled(X, np.r_[-y[0], y[1:]])


def moved_pair(place: int, to: float, m: int = 20) -> Pair:
    """Return evenly spread points, one of which moves; labels are those of the threshold 1/2."""
    X = middles(m)
    moved = X.copy()
    moved[place] = to
    return Labeled(X, np.where(X >= 0.5, 1, -1)), Labeled(moved, np.where(X >= 0.5, 1, -1))


def listed_cases(factor: float = 1.0, labels_only: bool = False) -> Cases:
    """Compare the largest loss over all datasets with the closed form at factor * alpha."""
    return [
        (
            f"J={size} m={m} alpha={alpha:g}",
            enumerated_epsilon(example_mistakes(size), m, partial(halves, epsilon=factor * alpha), labels_only),
            worst_epsilon(factor * alpha, m, threshold_ratio(size)),
        )
        for size, m, alpha in LISTED
    ]


def circle_cases() -> Cases:
    """Compare the largest loss on 8 directions with the closed form; 16 points, ties included."""
    hypotheses = LinearSeparatorClass(2)
    angles = 2 * np.pi * np.arange(16) / 16
    points = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 12)
    wrong = (hypotheses.predict(np.round(hypotheses.packing_cover(1 / 8), 12), points) == -1).astype(int).T
    kinds = np.stack([wrong, 1 - wrong], axis=1).reshape(-1, 8)
    return [
        (f"J=8 m={m}", enumerated_epsilon(kinds, m, partial(halves, epsilon=1.0)), worst_epsilon(1, m, circle_ratio(8)))
        for m in (1, 2, 3)
    ]


def group_cases() -> Cases:
    """Compare the largest loss over k changes with the closed form."""
    return [
        (
            f"J=4 m={m} k={k}",
            enumerated_epsilon(example_mistakes(4), m, partial(halves, epsilon=1.0), steps=k),
            worst_epsilon(1.0, m, threshold_ratio(4), k),
        )
        for m, k in ((2, 2), (3, 2), (4, 2), (4, 3))
    ]


def labeling_cases() -> Cases:
    """Compare the largest loss of A3 over all 2^m labelings with the one over labelings that change once."""
    cases = []
    for m, accuracy, alpha in ((4, 0.3, 1.0), (8, 0.2, 1.0), (12, 0.1, 0.5)):
        X = middles(m)
        predicted = ThresholdClass().predict(LabelPrivateCoverLearner(alpha, accuracy).cover(X), X)
        cases.append((f"m={m} alpha={alpha:g}", label_flip_epsilon(predicted, alpha), worst_flip(predicted, alpha)[0]))
    return cases


def _exact(name: str, source: str, statement: str, values: Callable[..., Cases]) -> InequalityCheck:
    return InequalityCheck(
        name=f"cover/{name}", source=source, statement=statement, values=values, sense="==", tolerance=EXACT
    )


def _privacy(name: str, mechanism: Any, claim: PrivacyClaim, pairs: list[Pair], **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"cover/{name}", mechanism=mechanism, claim=claim, pairs=pairs, **{"budget": 20_000, **settings}
    )


def _reference_checks(name: str, kind: type[ReferenceCoverLearner], source: str) -> list[PrivacyCheck]:
    """A1 or A2 on its worst pairs; its exact epsilon rises to alpha with m, and passes for the true number too."""
    checks = []
    for alpha, size, m in ((1.0, 5, 1), (1.0, 5, 8), (0.5, 20, 1), (0.5, 20, 50), (2.0, 20, 10)):
        learner = kind(alpha, ACCURACY[size])
        pair = first_threshold_pair(size, m)
        where = f"alpha={alpha:g} J={size} m={m}"
        exact = worst_epsilon(alpha, m, threshold_ratio(size))
        checks += [
            _privacy(f"{name} {where}", learner, PrivacyClaim(alpha, 0.0, Substitution(), source), [pair]),
            _privacy(
                f"{name} exact epsilon {where}",
                learner,
                PrivacyClaim(exact, 0.0, LabelFlip(), source),
                [pair],
                budget=2_000,
            ),
        ]
    return checks


def labeled_lists() -> st.SearchStrategy[Labeled]:
    """Lists of ten to twelve points on a coarse grid in [0, 1), all labeled +1: to search for a neighbor."""
    points = st.lists(st.integers(0, 63).map(lambda i: i / 64), min_size=10, max_size=12)
    return points.map(lambda xs: Labeled(np.array(xs), np.ones(len(xs), int)))


_GRID = tuple(ThresholdClass().packing_cover(0.1).tolist())
_FIXED = ExponentialMechanism(Mistakes(ThresholdClass()), _GRID, 1.0, 1.0)
_LABEL_PRIVATE = LabelPrivateCoverLearner(1.0, 0.3)
_GROWING = ReferenceCoverLearner(1.0, 0.9)
_MANY = worst_pair(0.5, 401)
_FEWER = Labeled(_MANY[0].X[:-1], _MANY[0].y[:-1])
_PUBLIC_POINTS = PrivacyClaim(1.0, 0.0, Substitution(), "read into " + A3)
_LOOSE = {"budget": 4_000}

CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *_reference_checks("A1", ReferenceCoverLearner, A1),
    *_reference_checks("A2", RealizableReferenceCoverLearner, A2),
    _privacy(
        "A1 on the circle alpha=1 J=20 m=4",
        ReferenceCoverLearner(1.0, 0.2, hypotheses=LinearSeparatorClass(2)),
        PrivacyClaim(1.0, 0.0, Substitution(), A1),
        [circle_pair(4)],
    ),
    _exact("A1 all datasets", A1, "The largest loss over all datasets is the closed form.", listed_cases),
    _exact(
        "A1 all datasets, label flips",
        A1,
        "Label flips alone have the same largest loss: labels leak as much as examples.",
        partial(listed_cases, labels_only=True),
    ),
    _exact("A1 all datasets on the circle", A1, "The closed form holds on the circle.", circle_cases),
    _exact(
        "A2 without the 1/2, all datasets", A2, "Without 1/2 the closed form has 2 alpha.", partial(listed_cases, 2.0)
    ),
    _exact("groups, all datasets", GROUPS, "The largest loss over k changes is the closed form.", group_cases),
    _exact("A3 all labellings", A3, "The worst labelling changes its label once along the line.", labeling_cases),
    *(
        _privacy(
            f"A1 in groups of {k}, m={m}",
            ReferenceCoverLearner(0.5, 0.1),
            PrivacyClaim(0.5 * k, 0.0, Group(k), GROUPS),
            [worst_pair(1 / 20, m, -1, k)],
            **_LOOSE,
        )
        for m, k in ((50, 5), (50, 20), (50, 40), (200, 20))
    ),
    _privacy(
        "A1 under add/remove, as one might read it",
        _GROWING,
        PrivacyClaim(1.0, 0.0, AddRemove(), "read into " + A1 + "; false: the cover depends on m"),
        [(_MANY[0], _FEWER)],
        expected=Verdict.FAIL,
    ),
    _privacy(
        "A1 with a fixed cover, add/remove",
        _FIXED,
        PrivacyClaim(0.5, 0.0, AddRemove(), A1 + ", proof"),
        [(worst_pair(0.2, 4)[1], Labeled(np.full(3, 0.2), np.ones(3, int)))],
    ),
    *(
        _privacy(
            f"A3 alpha={alpha:g} accuracy={accuracy:g} m={m}",
            LabelPrivateCoverLearner(alpha, accuracy),
            PrivacyClaim(alpha, 0.0, LabelFlip(), A3),
            [flip_pair(LabelPrivateCoverLearner(alpha, accuracy), m)],
        )
        for alpha, accuracy, m in ((1.0, 0.3, 4), (0.5, 0.1, 12), (0.5, 0.1, 100))
    ),
    _privacy(
        "A3 on the circle alpha=1 accuracy=0.3 m=6",
        LabelPrivateCoverLearner(1.0, 0.3, LinearSeparatorClass(2)),
        PrivacyClaim(1.0, 0.0, LabelFlip(), A3),
        [circle_flip()],
    ),
    _privacy(
        "A3 under substitution, disjoint supports",
        _LABEL_PRIVATE,
        _PUBLIC_POINTS,
        [moved_pair(19, 0.01)],
        expected=Verdict.FAIL,
    ),
    _privacy(
        "A3 under substitution, one threshold moves",
        _LABEL_PRIVATE,
        _PUBLIC_POINTS,
        [moved_pair(9, 0.46)],
        expected=Verdict.FAIL,
    ),
    PrivacyCheck(
        name="cover/A3 under substitution, searched",
        mechanism=_LABEL_PRIVATE,
        claim=_PUBLIC_POINTS,
        datasets=labeled_lists(),
        expected=Verdict.FAIL,
        budget=20_000,
    ),
]
