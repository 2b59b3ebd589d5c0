"""Count the budget of every fit in a block of code: grids, cross-validation and one-versus-rest fit copies."""

from __future__ import annotations

import math
from typing import NamedTuple, Self


class PrivacySpent(NamedTuple):
    """State a budget: (epsilon, delta)-DP under a relation."""

    epsilon: float
    delta: float
    relation: str


class PrivacyLedger:
    """Add up the budget that the estimators of this package spend in a `with` block, copies included.

    By basic composition, as if all fits saw the same records: folds overlap, and each is read as the whole. Fits in
    other processes (`n_jobs`) are not seen. The choice of a grid, and each score, is an exact statistic of the data
    unless `scoring` is a noisy score.

    Attributes
    ----------
    releases : list of PrivacySpent
        One for each fit and each noisy score, in their order.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mechanisms.learners import CubeVoteClassifier, PrivacyLedger
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> with PrivacyLedger() as ledger:
    ...     grid = GridSearchCV(CubeVoteClassifier(classes=[0, 1]), {"projection": [1, None]}, cv=2).fit(X, y)
    >>> ledger.spent  # two folds for each of two settings, and the fit of the best one
    (PrivacySpent(epsilon=5.0, delta=0.0, relation='substitution'),)
    """

    def __init__(self) -> None:
        self.releases: list[PrivacySpent] = []

    def __enter__(self) -> Self:
        _OPEN.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _OPEN.remove(self)

    @property
    def spent(self) -> tuple[PrivacySpent, ...]:
        """The sum for each relation."""
        relations = dict.fromkeys(each.relation for each in self.releases)
        groups = [[each for each in self.releases if each.relation == name] for name in relations]
        return tuple(
            PrivacySpent(math.fsum(e.epsilon for e in group), math.fsum(e.delta for e in group), group[0].relation)
            for group in groups
        )


_OPEN: list[PrivacyLedger] = []


def record(spent: PrivacySpent) -> None:
    """Write a release into all ledgers that are open."""
    for ledger in _OPEN:
        ledger.releases.append(spent)
