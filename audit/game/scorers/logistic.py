"""Logistic regression on screened columns, their sizes and products: the log-likelihood ratio of a smooth law.

Newton's method with a small ridge. Coefficients that noise explains are dropped and the rest is fitted again: a
law that differs by little is drowned by the noise of features that mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.game.scorers.features import Column
from audit.game.scorers.flags import PatternScore
from audit.game.scorers.layout import RowScore

_MOST_SQUARED = 4  # columns whose products are features
_KEPT = 2.5  # standard errors that a coefficient must differ from 0 by to be kept
_RIDGE = 1.0
_CLIP = 4.0
_STEPS = 8
_ALONE = 0.02  # share of its variance that a feature must have to itself beside those before it
_PRICE = 4.0  # log-likelihood that a feature must bring


@dataclass(frozen=True)
class Design:
    """Standardised columns and their products; shape (size, features) from numbers of shape (size, d)."""

    columns: tuple[Column | PatternScore, ...]
    centre: np.ndarray
    scale: np.ndarray
    features: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[Column | PatternScore], numbers: np.ndarray) -> Design:
        """Every column, its size, and the products of the first few."""
        values = np.column_stack([column(numbers) for column in columns])
        centre, scale = np.transpose([_centre_and_scale(column) for column in values.T])
        few = range(min(len(columns), _MOST_SQUARED))
        products = [(i, j) for i in few for j in few if i <= j]
        return cls(tuple(columns), centre, scale, (*((i,) for i in range(len(columns))), *products))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        used = sorted({i for feature in self.features for i in feature})
        plain = {}
        for i in used:
            values = (self.columns[i](numbers) - self.centre[i]) / self.scale[i]
            plain[i] = np.where(np.isfinite(values), np.clip(values, -_CLIP, _CLIP), 0.0)
        parts = [np.prod([plain[i] for i in feature], axis=0) for feature in self.features]
        return np.column_stack([np.ones(len(numbers)), *parts])

    def linear(self) -> Design:
        """The columns alone, without their products."""
        return self.only(np.array([len(feature) == 1 for feature in self.features]))

    def only(self, kept: np.ndarray) -> Design:
        """The design with some of its features."""
        features = tuple(feature for feature, keep in zip(self.features, kept, strict=True) if keep)
        return Design(self.columns, self.centre, self.scale, features)


@dataclass(frozen=True)
class LogisticScore(RowScore):
    """Fitted log-odds of left."""

    design: Design
    weights: np.ndarray
    complete: bool = False
    name: str = "logistic"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.design(numbers) @ self.weights)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        terms = [
            f"{weight:+.3g} [{' x '.join(str(self.design.columns[i]) for i in feature)}]"
            for weight, feature in zip(self.weights[1:], self.design.features, strict=True)
        ]
        terms = sorted(terms, key=lambda term: -abs(float(term.split(" ", 1)[0])))
        shown = " ".join(terms[:4]) + (f" and {len(terms) - 4} more terms" if len(terms) > 4 else "")
        return f"log-odds {shown} >= {upper:.6g}", f"log-odds <= {lower:.6g}"


def fit_logistic(
    rows: tuple[np.ndarray, np.ndarray], columns: Sequence[Column | PatternScore], of_symbols: float
) -> LogisticScore:
    """Fit on the rows of both sides."""
    pooled = np.concatenate(rows)
    of_left = np.arange(len(pooled)) < len(rows[0])
    design, weights = _pruned(Design.of(columns, pooled), pooled, of_left)
    return LogisticScore(rows[0].shape[1], of_symbols, design, weights)


def _centre_and_scale(column: np.ndarray) -> tuple[float, float]:
    finite = column[np.isfinite(column)]
    if not len(finite):
        return 0.0, 1.0
    centre = float(np.median(finite))
    spread = 1.5 * float(np.mean(np.abs(np.clip(finite - centre, *np.quantile(finite - centre, (0.01, 0.99))))))
    return centre, spread if spread > 0 else 1.0


def _pruned(design: Design, numbers: np.ndarray, of_left: np.ndarray) -> tuple[Design, np.ndarray]:
    """Drop features that others already show, then those that noise explains, unless the fit suffers."""
    x = design(numbers)
    alone = independent(x)[1:]
    design, x = design.only(alone), x[:, np.r_[True, alone]]
    weights, errors = newton(x, of_left)
    kept = np.abs(weights[1:]) > _KEPT * errors[1:]
    if kept.all() or not kept.any():
        return design, weights
    fewer = x[:, np.r_[True, kept]]
    sparse, _ = newton(fewer, of_left)
    loss = log_loss(fewer, sparse, of_left) - log_loss(x, weights, of_left)
    return (design.only(kept), sparse) if loss < _PRICE * np.sum(~kept) else (design, weights)


def independent(x: np.ndarray) -> np.ndarray:
    """Which columns have variance of their own beside the columns before them; the first is the constant."""
    gram = x.T @ x / len(x)
    kept = np.zeros(len(gram), dtype=bool)
    kept[0] = True
    for i in range(1, len(gram)):
        before = gram[np.ix_(kept, kept)]
        explained = gram[i, kept] @ np.linalg.solve(before, gram[kept, i])
        variance = gram[i, i] - gram[i, 0] ** 2
        kept[i] = variance > 0 and gram[i, i] - explained > _ALONE * variance
    return kept


def log_loss(x: np.ndarray, weights: np.ndarray, of_left: np.ndarray) -> float:
    """Negative log-likelihood of the weights."""
    odds = x @ weights
    return float(np.sum(np.logaddexp(0.0, odds)) - odds[of_left].sum())


def newton(x: np.ndarray, of_left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ridge-penalised logistic regression: weights and their standard errors, each of shape (features,)."""
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE * np.eye(x.shape[1])
    for _ in range(_STEPS):
        chance = special.expit(x @ weights)
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + ridge
        step = np.linalg.solve(curvature, x.T @ (of_left - chance) - _RIDGE * weights)
        weights = weights + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-4:
            break
    return weights, np.sqrt(np.diag(np.linalg.inv(curvature)))
