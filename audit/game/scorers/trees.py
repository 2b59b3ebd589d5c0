"""Gradient-boosted trees on screened columns, when scikit-learn is installed: structure of no stated form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.scorers.features import Column
from audit.game.scorers.layout import RowScore

MOST_ROWS = 20_000  # a side
_SETTINGS = dict(max_iter=25, learning_rate=0.1, max_leaf_nodes=8, l2_regularization=1.0, max_bins=128)


@dataclass(frozen=True)
class TreeScore(RowScore):
    """Fitted log-odds of left."""

    columns: tuple[Column, ...]
    model: Any
    complete: bool
    name: str = "trees"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.decision_function(_table(self.columns, numbers)))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        shown = "; ".join(map(str, self.columns[:3])) + ("; ..." if len(self.columns) > 3 else "")
        return f"log-odds of trees on {shown} >= {upper:.6g}", f"log-odds of trees <= {lower:.6g}"


def fit_trees(
    rows: tuple[np.ndarray, np.ndarray], columns: Sequence[Column], of_symbols: float, complete: bool
) -> TreeScore | None:
    """Fit on the rows of both sides; None without scikit-learn."""
    model = _model()
    if model is None:
        return None
    sides = [_table(columns, side[:: max(1, -(-len(side) // MOST_ROWS))]) for side in rows]
    table, of_left = np.concatenate(sides), np.repeat([True, False], [len(side) for side in sides])
    model.set_params(min_samples_leaf=max(20, len(table) // 500))
    _fit(model, table, of_left)
    return TreeScore(rows[0].shape[1], of_symbols, tuple(columns), model, complete)


def _table(columns: Sequence[Column], numbers: np.ndarray) -> np.ndarray:
    """Infinities become values beyond all others; shape (size, columns)."""
    values = np.column_stack([column(numbers) for column in columns])
    return np.nan_to_num(values, nan=0.0, posinf=1e300, neginf=-1e300)


def _model() -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    return HistGradientBoostingClassifier(early_stopping=False, random_state=0, **_SETTINGS)


def _fit(model: Any, table: np.ndarray, of_left: np.ndarray) -> None:
    """Fit on one thread: sums taken in another order would give another model."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(limits=1, user_api="openmp"):
        model.fit(table, of_left)
