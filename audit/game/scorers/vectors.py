"""Score vectors as a whole: screened features, read by one alone, by logistic regression and by trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.logistic import fit_logistic
from audit.game.scorers.base import Score, Scorer, Training
from audit.game.scorers.features import Feature, chosen_features
from audit.game.scorers.flags import FlagCounts, fit_flag_counts
from audit.game.scorers.rows import Layout, Rows, RowScore, few_outputs, numeric_rows, symbol_ratio
from audit.game.scorers.scalars import Cells, CellScore
from audit.subjects import Outputs


class Vectors(Scorer):
    """Read vector outputs that take too many values to count."""

    def propose(self, training: Training) -> Sequence[Score]:
        rows = numeric_rows(training, tuning.VECTOR_ROWS)
        if rows is None or few_outputs(rows):
            return []
        layout, of_symbols = Layout.of(training.pair, rows[0].shape[1]), symbol_ratio(training)
        features = chosen_features(rows, layout)
        scores = [
            fit_single(rows, features[0], of_symbols),
            fit_log_odds(rows, [*fit_flag_counts(rows, layout), *features], of_symbols),
            fit_trees(rows, features, of_symbols),
        ]
        return [score for score in scores if score is not None]


@dataclass(frozen=True)
class SingleFeatureScore(RowScore):
    """Log-ratio of the cell in which one feature lies."""

    feature: Feature
    cells: CellScore
    name = "projection"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return self.cells(_as_outputs(self.feature, numbers))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = self.cells.describe(upper, lower)
        return f"{self.feature}: {plus}", f"{self.feature}: {minus}"


def fit_single(rows: Rows, feature: Feature, of_symbols: float) -> SingleFeatureScore | None:
    """Cut one feature into cells; None when no cell can be made."""
    left, right = (_as_outputs(feature, side) for side in rows)
    cells = Cells().propose(Training(left, right))
    return SingleFeatureScore(rows[0].shape[1], of_symbols, feature, cells[0]) if cells else None


def _as_outputs(feature: Feature, numbers: np.ndarray) -> Outputs:
    values = np.round(feature(numbers), tuning.SCORE_DECIMALS)  # equal sums are equal whatever their rounding
    return Outputs(values, values)


@dataclass(frozen=True)
class FeatureTable:
    """Standardized features and their products; shape (size, terms) from numbers of shape (size, d)."""

    features: tuple[Feature | FlagCounts, ...]  # functions from numbers of shape (size, d) to shape (size,)
    center: np.ndarray  # of each feature
    scale: np.ndarray
    terms: tuple[tuple[int, ...], ...]  # the features whose product is a term. A constant comes before them.

    @classmethod
    def of(cls, features: Sequence[Feature | FlagCounts], numbers: np.ndarray) -> FeatureTable:
        """Take every feature, and the squares and products of the first few."""
        center, scale = np.transpose([_center_and_scale(feature(numbers)) for feature in features])
        few = range(min(len(features), tuning.MOST_SQUARED))
        products = [(i, j) for i in few for j in few if i <= j]
        return cls(tuple(features), center, scale, (*((i,) for i in range(len(features))), *products))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        plain = {}
        for i in {i for term in self.terms for i in term}:
            values = finite_or_clipped((self.features[i](numbers) - self.center[i]) / self.scale[i])
            plain[i] = values
        parts = [np.prod([plain[i] for i in term], axis=0) for term in self.terms]
        return np.column_stack([np.ones(len(numbers)), *parts])

    def only(self, kept: np.ndarray) -> FeatureTable:
        """Keep some of the terms."""
        terms = tuple(term for term, keep in zip(self.terms, kept, strict=True) if keep)
        return FeatureTable(self.features, self.center, self.scale, terms)


@dataclass(frozen=True)
class LogOddsScore(RowScore):
    """Fitted log-odds of left."""

    table: FeatureTable
    weights: np.ndarray
    name = "logistic"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.table(numbers) @ self.weights)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        terms = sorted(zip(self.weights[1:], self.table.terms, strict=True), key=lambda part: -abs(part[0]))
        shown = [
            f"{weight:+.3g} [{' x '.join(str(self.table.features[i]) for i in term)}]" for weight, term in terms[:4]
        ]
        more = f" and {len(terms) - 4} more terms" if len(terms) > 4 else ""
        return f"log-odds {' '.join(shown)}{more} >= {upper:.6g}", f"log-odds <= {lower:.6g}"


def fit_log_odds(rows: Rows, features: Sequence[Feature | FlagCounts], of_symbols: float) -> LogOddsScore:
    """Fit on the rows of both sides, twice: the second time without the terms that noise explains.

    A law that differs by little would be lost in the noise of terms that carry no information.
    """
    pooled = np.concatenate(rows)
    of_left = np.arange(len(pooled)) < len(rows[0])
    table = FeatureTable.of(features, pooled)
    x = table(pooled)
    alone = independent(x)[1:]
    table, x = table.only(alone), x[:, np.r_[True, alone]]
    weights, errors = fit_logistic(x, of_left)
    kept = np.abs(weights[1:]) > tuning.KEPT_ERRORS * errors[1:]
    if kept.any() and not kept.all():
        fewer = x[:, np.r_[True, kept]]
        sparse, _ = fit_logistic(fewer, of_left)
        if log_loss(fewer, sparse, of_left) - log_loss(x, weights, of_left) < tuning.TERM_PRICE * np.sum(~kept):
            table, weights = table.only(kept), sparse
    return LogOddsScore(rows[0].shape[1], of_symbols, table, weights)


def finite_or_clipped(values: np.ndarray) -> np.ndarray:
    """Clip standardized values; 0 for those that are not finite."""
    return np.where(np.isfinite(values), np.clip(values, -tuning.CLIP, tuning.CLIP), 0.0)


def _center_and_scale(column: np.ndarray) -> tuple[float, float]:
    finite = column[np.isfinite(column)]
    if not len(finite):
        return 0.0, 1.0
    center = float(np.median(finite))
    spread = 1.5 * float(np.mean(np.abs(np.clip(finite - center, *np.quantile(finite - center, (0.01, 0.99))))))
    return center, spread if spread > 0 else 1.0


def independent(x: np.ndarray) -> np.ndarray:
    """Return which columns have variance of their own beside the columns before them; the first is the constant."""
    gram = x.T @ x / len(x)
    kept = np.zeros(len(gram), dtype=bool)
    kept[0] = True
    for i in range(1, len(gram)):
        explained = gram[i, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, i])
        variance = gram[i, i] - gram[i, 0] ** 2
        kept[i] = variance > 0 and gram[i, i] - explained > tuning.OWN_VARIANCE * variance
    return kept


def log_loss(x: np.ndarray, weights: np.ndarray, of_left: np.ndarray) -> float:
    """Return the negative log-likelihood of the weights."""
    odds = x @ weights
    return float(np.sum(np.logaddexp(0.0, odds)) - odds[of_left].sum())


@dataclass(frozen=True)
class TreeScore(RowScore):
    """Log-odds of left fitted by gradient-boosted trees, which see structure of no stated form."""

    features: tuple[Feature, ...]
    model: Any
    complete: bool
    name = "trees"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.decision_function(_finite_table(self.features, numbers)))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        shown = "; ".join(map(str, self.features[:3])) + ("; ..." if len(self.features) > 3 else "")
        return f"log-odds of trees on {shown} >= {upper:.6g}", f"log-odds of trees <= {lower:.6g}"


def fit_trees(rows: Rows, features: Sequence[Feature], of_symbols: float) -> TreeScore | None:
    """Fit on the rows of both sides; None without scikit-learn (the extra `learn`).

    Without it the other scorers carry on. Error probabilities are the same. Lost are interactions of more than two
    coordinates, and completeness: no PASS of a vector mechanism can then rest on a score that sees every difference.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # comes with scikit-learn
    except ImportError:
        return None
    width = rows[0].shape[1]
    sides = [_finite_table(features, side[:: max(1, -(-len(side) // tuning.TREE_ROWS))]) for side in rows]
    table, of_left = np.concatenate(sides), np.repeat([True, False], [len(side) for side in sides])
    leaf = max(20, len(table) // 500)
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, min_samples_leaf=leaf, **tuning.TREES)
    with threadpool_limits(limits=1, user_api="openmp"):  # sums taken in another order would give another model
        model.fit(table, of_left)
    return TreeScore(width, of_symbols, tuple(features), model, complete=width <= tuning.FEW_COORDINATES)


def _finite_table(features: Sequence[Feature], numbers: np.ndarray) -> np.ndarray:
    """Return the features with infinities beyond all other values; shape (size, features)."""
    values = np.column_stack([feature(numbers) for feature in features])
    return np.nan_to_num(values, nan=0.0, posinf=1e300, neginf=-1e300)
