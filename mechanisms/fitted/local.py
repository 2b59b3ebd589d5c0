"""The classifier of Berrett & Butucea (2019), as fitted: what the server keeps of all users.

Each user's array is epsilon-private by itself; so is what is computed of them. With two users, one in each half, the
statistic has the least noise beside that of the user who changes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.adapters import Released
from mechanisms.fitted.orders import in_orders, one_by_one
from mechanisms.local.classifier import LocalHistogramClassifier
from mechanisms.local.grid import Grid


def statistic(learner: LocalHistogramClassifier) -> np.ndarray:
    """Return the statistic of all cells."""
    return learner.statistic_


def with_statistic(learner: LocalHistogramClassifier, released: np.ndarray, size: int) -> LocalHistogramClassifier:
    """Set what the server keeps."""
    learner.grid_, learner.statistic_ = Grid(1, learner.bandwidth, learner.low, learner.high), released
    return learner


def _checks() -> list[PrivacyCheck]:
    users = Labeled(np.array([0.1, 0.9]), np.array([1, 0]))
    pairs = in_orders(
        (users, Labeled(np.array([0.9, 0.9]), users.y)),
        (users, Labeled(users.X, np.array([0, 0]))),
        (users, Labeled(np.array([0.9, 0.9]), np.array([0, 0]))),
    )
    claim = PrivacyClaim(1.0, 0.0, Substitution(), "Berrett & Butucea 2019, Theorem 2.1")
    build = partial(LocalHistogramClassifier, 1.0, 0.5)
    whole = Released(build, statistic, with_statistic)
    return one_by_one("local/LocalHistogramClassifier", whole, claim, pairs, budget=20_000, tolerance=2.0)


CHECKS: list[PrivacyCheck] = _checks()
