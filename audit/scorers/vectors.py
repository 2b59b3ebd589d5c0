"""Score vectors as a whole: screened features, read by logistic regression and by trees.

Candidates are the coordinates, indicators of values that repeat, nearness to the inputs, summaries of the row and of
groups of coordinates, and sums, differences and products of two coordinates. Joint structure that no marginal shows
appears in one of these. Screening finds one bad coordinate among hundreds, where noise in the others would hide it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from audit.execution.sandbox import one_thread_of_openmp
from audit.outputs.encode import COLUMNS_AT_ONCE
from audit.scorers.base import SCORE_DECIMALS, Layout, Score, Scorer, Training, distinct, fit_logistic, positions
from audit.scorers.flags import FREQUENT, FlagCounts, fit_flag_counts
from audit.scorers.rows import (
    CLIP,
    SAMPLE,
    TREE_ROWS,
    VECTOR_ROWS,
    WIDE,
    Rows,
    RowScore,
    all_finite,
    at,
    few_outputs,
    finite_or_zero,
    nearness,
    numeric_rows,
    sample_of,
    symbol_ratio,
    thin_rows,
)

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
SCREENING_CELLS = 16  # quantiles between which a feature's counts are compared
SCREENING_WORK, SCREENED_ROWS = 1_000_000, (8_000, 40_000)  # rows times features; fewest and most rows: TIME
ALL_PAIRS, MOST_PAIRS = 8, 20  # coordinates up to which all pairs give features; else that many pairs do
FEW_COORDINATES = 6  # coordinates up to which all are features, and trees see everything
CHANCE_MARGIN = 3.0  # standard errors beyond the largest of as many by chance, from which hidden dependence counts
MOST_FEATURES, MOST_SQUARED = 12, 4  # features kept; of these, features whose products are terms
FEATURE_ERRORS = 3.0  # standard errors by which a feature must differ between the sides
OWN_VARIANCE = 0.02  # share of its variance that a term must have to itself beside those before it
ROUNDED_VARIANCE = 1e-12  # of the mean square of a feature: the rest that rounding leaves of the variance of a constant
TREES = dict(max_iter=25, learning_rate=0.1, max_leaf_nodes=8, l2_regularization=1.0, max_bins=128)


@dataclass(frozen=True)
class Feature:
    """One derived number per output."""

    kind: str  # a key of `KINDS`
    of: tuple[int, ...]  # coordinates
    layout: Layout = field(repr=False, compare=False)  # where the inputs lie
    value: float = 0.0  # what the indicator looks for, or the center of a product

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(KINDS[self.kind](self, at(numbers, np.array(self.of, dtype=int))), dtype=float)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.of[:6])) + (", ..." if len(self.of) > 6 else "")
        return f"{self.kind} of {shown}" + (f" at {self.value:.6g}" if self.kind == "indicator" else "")


def _near(feature: Feature, numbers: np.ndarray) -> np.ndarray:
    assert feature.layout.left is not None
    assert feature.layout.right is not None
    of = list(feature.of)
    return nearness(numbers, feature.layout.left[of], feature.layout.right[of])


def _place_of_largest(numbers: np.ndarray) -> np.ndarray:
    """Return the first place of the largest number of each row."""
    largest, width = numbers.max(axis=1), numbers.shape[1]
    if width > COLUMNS_AT_ONCE:
        return np.argmax(numbers, axis=1)
    found = np.full(len(numbers), width - 1.0)
    for place in range(width - 2, -1, -1):
        np.copyto(found, place, where=numbers[:, place] == largest)
    return found


def _smallest_gap(numbers: np.ndarray) -> np.ndarray:
    """Return the smallest difference between two numbers of each row."""
    if numbers.shape[1] > ALL_PAIRS:
        return np.asarray(np.diff(np.sort(numbers, axis=1), axis=1).min(axis=1, initial=np.inf))
    found = np.full(len(numbers), np.inf)
    for i, j in itertools.combinations(range(numbers.shape[1]), 2):  # much faster than to sort short rows
        np.minimum(found, np.abs(numbers[:, i] - numbers[:, j]), out=found)
    return found


KINDS: dict[str, Callable[[Feature, np.ndarray], np.ndarray]] = {
    "coordinate": lambda feature, x: x[:, 0],
    "indicator": lambda feature, x: x[:, 0] == feature.value,
    "sum": lambda feature, x: np.round(finite_or_zero(x).sum(axis=1), SCORE_DECIMALS),
    "difference": lambda feature, x: np.round(x[:, 0] - x[:, 1], SCORE_DECIMALS),
    "product": lambda feature, x: (x[:, 0] - feature.value) * (x[:, 1] - feature.value),
    "largest": lambda feature, x: x.max(axis=1),
    "smallest": lambda feature, x: x.min(axis=1),
    "place of the largest": lambda feature, x: _place_of_largest(finite_or_zero(x)),
    "smallest gap": lambda feature, x: _smallest_gap(x),
    "number finite": lambda feature, x: np.isfinite(x).sum(axis=1),
    "first finite": lambda feature, x: x[np.arange(len(x)), np.isfinite(x).argmax(axis=1)],
    "sum of squares": lambda feature, x: (finite_or_zero(x) ** 2).sum(axis=1),
    "nearness": _near,
}


def chosen_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return the screened features, best first; all coordinates too when they are few or nothing stands out."""
    everything = derived_features(rows, layout)
    size = int(np.clip(SCREENING_WORK // max(1, len(everything)), *SCREENED_ROWS))  # bounds the work
    left, right = (side[:: max(1, len(side) // size)] for side in rows)
    strengths = np.array([separation(feature(left), feature(right)) for feature in everything])
    best = np.argsort(-strengths, kind="stable")[:MOST_FEATURES]
    chosen = [everything[i] for i in best if strengths[i] > FEATURE_ERRORS]
    width = rows[0].shape[1]
    if width <= FEW_COORDINATES or not chosen:
        chosen += [feature for feature in everything[: min(width, MOST_FEATURES)] if feature not in chosen]
    return chosen


def derived_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return every feature worth screening for outputs like these; the coordinates come first."""
    sample = sample_of(rows, SCREENED_ROWS[0])
    width = sample.shape[1]
    found = [Feature("coordinate", (i,), layout) for i in range(width)]
    for i in range(width):  # values with a share above 1 % in a column that also takes others, most frequent first
        values, counts = np.unique(sample[:, i], return_counts=True)
        most = [k for k in np.argsort(-counts, kind="stable")[:3] if counts[k] > FREQUENT * len(sample)]
        found += [Feature("indicator", (i,), layout, float(values[k])) for k in most if len(values) > 2]
    found += _of_groups(sample, layout)
    for pair in pairs_that_differ(rows, MOST_PAIRS if width > ALL_PAIRS else ALL_PAIRS**2):
        middle = float(np.median(finite_or_zero(sample[:SAMPLE, list(pair)])))
        found += [Feature(kind, pair, layout) for kind in ("difference", "sum")]
        found.append(Feature("product", pair, layout, middle))
    return found


def separation(left: np.ndarray, right: np.ndarray) -> float:
    """Return the chi-square statistic of two samples over cells, with mean 0 and variance 1 under one law.

    scikit-learn's `f_classif` would miss a change of spread, and its `mutual_info_classif` takes seconds per feature.
    """
    pooled = np.sort(np.concatenate([left, right]))
    edges = distinct(pooled[np.arange(1, SCREENING_CELLS) * len(pooled) // SCREENING_CELLS])
    # at each edge itself, too: values that repeat are cells of their own
    of_left, total = _between(np.sort(left), edges), _between(pooled, edges)
    used = total >= 5
    freedom = int(used.sum()) - 1
    if freedom < 1:
        return 0.0
    share = len(left) / (len(left) + len(right))
    expected = total[used] * share
    chi = float(np.sum((of_left[used] - expected) ** 2 / (expected * (1 - share))))
    return (chi - freedom) / float(np.sqrt(2 * freedom))


def _between(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    cuts = np.column_stack([np.searchsorted(ordered, edges, at) for at in ("left", "right")]).ravel()
    return np.diff(cuts, prepend=0, append=len(ordered))


def _of_groups(sample: np.ndarray, layout: Layout) -> list[Feature]:
    everything = tuple(range(sample.shape[1]))
    mixed = [] if np.isfinite(sample).all() else ["number finite", "first finite"]
    found = [Feature(kind, everything, layout) for kind in ["sum", "sum of squares", "largest", "smallest", *mixed]]
    for members in positions(layout.groups):
        of = tuple(int(i) for i in members)
        if 1 < len(of) < len(everything):
            found += [Feature(kind, of, layout) for kind in ["sum", *mixed]]
        if layout.left is not None and layout.right is not None and layout.left[of[0]] != layout.right[of[0]]:
            found.append(Feature("nearness", of, layout))
    return found if layout.left is None else [*found, Feature("nearness", everything, layout)]


def pairs_that_differ(rows: Rows, most: int = MOST_PAIRS) -> list[tuple[int, int]]:
    """Return `most` pairs of coordinates, those whose second moments differ most between the sides; or all, if fewer.

    Before them come pairs whose sizes, or parities, differ in dependence by more than chance explains: no second
    moment shows a circle, or a number beside the same one with a random sign.
    """
    width = rows[0].shape[1]
    upper = np.triu_indices(width, 1)
    if len(upper[0]) <= most:
        return [(int(i), int(j)) for i, j in zip(*upper, strict=True)]
    if not any(map(len, rows)):  # all outputs are symbols
        return []
    left, right = standardized = _standardize(rows)
    sizes = (max(1, len(side)) for side in (left, right))  # a side may have no numbers: all of it raised
    change = np.abs(left.T @ left / next(sizes) - right.T @ right / next(sizes))[upper]
    hidden = _hidden_dependence(standardized, rows, width)[upper] if width <= WIDE else np.zeros_like(change)
    first = np.argsort(-hidden, kind="stable")[: np.count_nonzero(hidden)]
    others = np.argsort(-change, kind="stable")[:most]
    chosen = list(dict.fromkeys([*first.tolist(), *others.tolist()]))[:most]
    return [(int(upper[0][at]), int(upper[1][at])) for at in chosen]


def depend_without_correlation(rows: Rows, width: int) -> bool:
    """Test whether two columns depend on each other on one side alone, among all pairs of `width` ones."""
    return bool(_hidden_dependence(_standardize(rows), rows, width)[0, 1])


def _standardize(rows: Rows) -> Rows:
    """Return the columns in mean distances from their medians, cut."""
    pooled = finite_or_zero(sample_of(rows, SCREENED_ROWS[0]))
    center = np.median(pooled, axis=0)
    spread = np.mean(np.abs(pooled - center), axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    plain = [(finite_or_zero(side[: SCREENED_ROWS[1]]) - center) / scale for side in rows]
    left, right = (np.clip(side, -CLIP, CLIP) for side in plain)
    return left, right


def _hidden_dependence(standardized: Rows, rows: Rows, width: int) -> np.ndarray:
    """Return by how many standard errors the dependence of sizes or parities differs; 0 where chance explains it.

    Sizes are related to each other and to the numbers themselves, parities to each other; shape (d, d), symmetric.
    Chance is that of all pairs of `width` columns.
    """
    size = min(map(len, standardized))
    if size < 2:
        return np.zeros((rows[0].shape[1],) * 2)
    bits = [side - 2 * np.floor(side / 2) for side in (finite_or_zero(side[:size]) for side in rows)]  # faster than %
    views = [[np.abs(side[:size]), side[:size], parity] for side, parity in zip(standardized, bits, strict=True)]
    grams = []
    for left, right in zip(*views, strict=True):  # sizes, numbers, parities
        middle = (left.mean(axis=0) + right.mean(axis=0)) / 2
        deviation = np.sqrt((left.var(axis=0) + right.var(axis=0)) / 2)
        unit = np.where(deviation > 0, deviation, np.inf)
        grams.append(((left - middle) / unit, (right - middle) / unit))
    (sizes, numbers, parities), tested = grams, []
    for one, other in ((sizes, sizes), (sizes, numbers), (parities, parities)):
        tested.append(np.abs(one[0].T @ other[0] - one[1].T @ other[1]) / np.sqrt(2 * size))
    tested.append(tested[1].T)
    found = np.maximum.reduce(tested)
    return np.where(found > np.sqrt(2 * np.log(len(tested) * width**2)) + CHANCE_MARGIN, found, 0.0)


@dataclass(frozen=True)
class Vectors(Scorer):
    """Read vector outputs that take too many values to count."""

    has_trees: bool = True
    of_vectors = True
    widest = WIDE

    def propose(self, training: Training) -> Sequence[Score]:
        rows = numeric_rows(training, VECTOR_ROWS)
        if rows is None or few_outputs(rows):
            return []
        layout, of_symbols = Layout.of(training.pair, rows[0].shape[1]), symbol_ratio(training)
        features = chosen_features(rows, layout)
        log_odds = fit_log_odds(rows, [*fit_flag_counts(rows, layout), *features], of_symbols)
        trees = fit_trees(rows, features, of_symbols) if self.has_trees else None
        return [log_odds] if trees is None else [log_odds, trees]


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
        sample = thin_rows(numbers, 2 * SAMPLE)
        center, scale = np.transpose([_center_and_scale(feature(sample)) for feature in features])
        few = range(min(len(features), MOST_SQUARED))
        products = [(i, j) for i in few for j in few if i <= j]
        return cls(tuple(features), center, scale, (*((i,) for i in range(len(features))), *products))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        plain = {}
        for i in {i for term in self.terms for i in term}:
            values = (self.features[i](numbers) - self.center[i]) / self.scale[i]
            plain[i] = np.where(np.isfinite(values), np.clip(values, -CLIP, CLIP), 0.0)
        parts = [reduce(np.multiply, [plain[i] for i in term]) for term in self.terms]
        return np.stack([np.ones(len(numbers)), *parts]).T

    def only(self, kept: np.ndarray) -> FeatureTable:
        return replace(self, terms=tuple(term for term, keep in zip(self.terms, kept, strict=True) if keep))


@dataclass(frozen=True)
class LogOddsScore(RowScore):
    """Fitted log-odds of left."""

    table: FeatureTable
    weights: np.ndarray
    name = "logistic"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.weights @ self.table(numbers).T)  # columns lie together in memory

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        terms = sorted(zip(self.weights[1:], self.table.terms, strict=True), key=lambda part: -abs(part[0]))
        named = [(weight, " x ".join(str(self.table.features[i]) for i in term)) for weight, term in terms[:4]]
        shown = [f"{weight:+.3g} [{name}]" for weight, name in named]
        more = f" and {len(terms) - 4} more terms" if len(terms) > 4 else ""
        return f"log-odds {' '.join(shown)}{more} >= {upper:.6g}", f"log-odds <= {lower:.6g}"


def fit_log_odds(rows: Rows, features: Sequence[Feature | FlagCounts], of_symbols: float) -> LogOddsScore:
    """Fit on the rows of both sides, without the terms that follow from those before them."""
    pooled = np.concatenate(rows)
    table = FeatureTable.of(features, pooled)
    x = table(pooled)
    alone = independent(x)
    weights, _ = fit_logistic(x[:, alone], np.arange(len(pooled)) < len(rows[0]))
    return LogOddsScore(rows[0].shape[1], of_symbols, table.only(alone[1:]), weights)


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
        variance = gram[i, i] - gram[i, 0] ** 2
        if variance <= ROUNDED_VARIANCE * gram[i, i]:
            continue
        explained = gram[i, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, i])
        kept[i] = gram[i, i] - explained > OWN_VARIANCE * variance
    return kept


@dataclass(frozen=True)
class TreeScore(RowScore):
    """Log-odds of left fitted by gradient-boosted trees, which see structure of no stated form."""

    features: tuple[Feature, ...]
    model: Any
    name = "trees"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        with one_thread_of_openmp():
            return np.asarray(self.model.decision_function(_finite_table(self.features, numbers)))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        shown = "; ".join(map(str, self.features[:3])) + ("; ..." if len(self.features) > 3 else "")
        return f"log-odds of trees on {shown} >= {upper:.6g}", f"log-odds of trees <= {lower:.6g}"


def fit_trees(rows: Rows, features: Sequence[Feature], of_symbols: float) -> TreeScore | None:
    """Fit on the rows of both sides; None without scikit-learn (extra `learn`), and then no score sees everything."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    sides = [_finite_table(features, thin_rows(side, TREE_ROWS)) for side in rows]
    table, of_left = np.concatenate(sides), np.repeat([True, False], [len(side) for side in sides])
    leaf = max(20, len(table) // 500)
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, min_samples_leaf=leaf, **TREES)
    with one_thread_of_openmp():
        model.fit(table, of_left)
    return TreeScore(rows[0].shape[1], of_symbols, tuple(features), model)


def _finite_table(features: Sequence[Feature], numbers: np.ndarray) -> np.ndarray:
    """Return the features, infinities beyond all other values and 0 for NaN; shape (size, features)."""
    table = np.stack([feature(numbers) for feature in features], axis=1)
    return table if all_finite(table) else np.nan_to_num(table, nan=0.0, posinf=1e300, neginf=-1e300)


# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
