"""The cover learners of Chaudhuri & Hsu (2011), as fitted."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Released, Substitution
from audit.adapters import Documented
from mechanisms.cover.learners import (
    LabelPrivateCoverLearner,
    RealizableReferenceCoverLearner,
    ReferenceCoverLearner,
)
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.fitted.orders import Pair, by_label, exact, in_orders


def hypothesis(learner: Any) -> Any:
    """Return the released hypothesis."""
    return learner.hypothesis_


def with_hypothesis(learner: Any, released: Any, size: int) -> Any:
    """Set what a cover learner releases, and whether its theorem speaks of this many examples."""
    if isinstance(learner, ReferenceCoverLearner):
        learner.utility_guarantee_ = learner.utility_guarantee(size)
    learner.hypothesis_ = released
    return learner


SPREAD = np.array([0.1, 0.3, 0.6, 0.8])


def example_pairs() -> list[Pair]:
    """Return a flip, a move, and both, of the first, the last and an inner example."""
    y = np.array([-1, -1, 1, 1])
    base = Labeled(SPREAD, y)
    return [
        (base, Labeled(SPREAD, np.r_[1, y[1:]])),
        (base, Labeled(np.r_[SPREAD[:-1], 0.05], y)),
        by_label(base, Labeled(np.r_[0.95, SPREAD[1:]], y)),
        (Labeled(SPREAD, np.ones(4, int)), Labeled(SPREAD, np.r_[1, -1, 1, 1])),
    ]


def flips_only() -> list[Pair]:
    """Return flips of the first, the last and an inner label."""
    return [
        (Labeled(SPREAD, y), Labeled(SPREAD, np.where(np.arange(4) == i, -y, y)))
        for i, y in ((0, np.array([-1, -1, 1, 1])), (3, np.array([-1, -1, 1, 1])), (1, np.ones(4, int)))
    ]


def on_circle() -> list[Pair]:
    """Return three pairs of directions: a flip, a move, and a flip in the reverse order."""
    angles = np.arange(4) + 0.3
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    y = np.where(X[:, 1] >= 0, 1, -1)
    base = Labeled(X, y)
    flipped = Labeled(X, np.r_[-y[0], y[1:]])
    return in_orders((base, flipped), (base, Labeled(np.r_[-X[:1], X[1:]], y)))


def _check(theorem: str, build: Any, relation: Any, pairs: list[Pair]) -> PrivacyCheck:
    learner = build()
    return exact(
        f"cover/theorem {theorem} {type(learner).__name__} {learner.hypotheses!r}",
        Documented(Released(build, hypothesis, with_hypothesis), learner.law),
        PrivacyClaim(learner.epsilon, 0.0, relation, f"Chaudhuri & Hsu 2011, Theorem {theorem}"),
        pairs,
    )


_CIRCLE = LinearSeparatorClass(2)

CHECKS: list[PrivacyCheck] = [
    _check("7", partial(ReferenceCoverLearner, 1.0, 0.4), Substitution(), example_pairs()),
    _check("7", partial(ReferenceCoverLearner, 1.0, 0.4, hypotheses=_CIRCLE), Substitution(), on_circle()),
    _check("9", partial(RealizableReferenceCoverLearner, 1.0, 0.4), Substitution(), example_pairs()),
    _check("26", partial(LabelPrivateCoverLearner, 1.0, 0.4), LabelFlip(), flips_only()),
]
