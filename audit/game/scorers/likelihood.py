"""The exact log-likelihood ratio, when the mechanism states its law or its log-likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.scorers.base import Training
from audit.subjects import Outputs

_DIGITS = 9  # log-ratios that agree to this many decimals are one value: plateaus survive rounding


@dataclass(frozen=True)
class LikelihoodRatio:
    """log p(output | left) - log p(output | right), by the mechanism's own statement."""

    log_likelihood: Callable[[Any, Any], Any]
    pair: tuple[Any, Any]
    complete: bool
    name: str = "likelihood"
    calibrated: bool = True

    def __call__(self, outputs: Outputs) -> np.ndarray:
        scores = np.full(len(outputs), np.nan)
        rows = ~outputs.symbolic if outputs.symbols is not None and outputs.numbers.size else None
        raw = outputs.raw
        if rows is not None and rows.any() and not rows.all():
            raw = [row for row, keep in zip(raw, rows, strict=True) if keep]
        with np.errstate(invalid="ignore", divide="ignore"):
            left, right = (np.asarray(self.log_likelihood(data, raw), dtype=float) for data in self.pair)
            ratio = np.round(left - right, _DIGITS)
        if ratio.shape == scores.shape:
            return ratio
        if rows is not None and ratio.shape == (int(rows.sum()),):
            scores[rows] = ratio
        return scores

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        return f"log-likelihood ratio >= {upper:.6g}", f"log-likelihood ratio <= {lower:.6g}"


class Likelihood:
    """Uses `log_likelihood(dataset, outputs)`, or the law's, and learns nothing."""

    learned = False
    needs_all = False

    def propose(self, training: Training) -> Sequence[LikelihoodRatio]:
        log_likelihood = stated_log_likelihood(training.mechanism)
        if log_likelihood is None:
            return []
        score = LikelihoodRatio(log_likelihood, training.pair, complete=False)
        try:
            usable = np.isfinite(score(training.left)).any() or np.isfinite(score(training.right)).any()
        except Exception:  # a log-likelihood that fails is no score; the other scorers carry on
            return []
        return [score] if usable or _separates(score, training) else []


def stated_log_likelihood(mechanism: Any) -> Callable[[Any, Any], Any] | None:
    """The mechanism's `log_likelihood`, or the one of its stated law, or None."""
    stated: Callable[[Any, Any], Any] | None = getattr(mechanism, "log_likelihood", None)
    if callable(stated):
        return stated
    return LawLikelihood(mechanism) if callable(getattr(mechanism, "law", None)) else None


@dataclass(frozen=True)
class LawLikelihood:
    """`log_likelihood` derived from a mechanism's `law`."""

    mechanism: Any

    def __call__(self, dataset: Any, outputs: Any) -> Any:
        return self.mechanism.law(dataset).log_likelihood(np.asarray(outputs))


def _separates(score: LikelihoodRatio, training: Training) -> bool:
    return bool(np.isinf(score(training.left)).any() or np.isinf(score(training.right)).any())
