"""Score by the exact log-likelihood ratio, when the mechanism states its law or its log-likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.scorers.base import Score, Scorer, Training
from audit.subjects import Outputs


@dataclass(frozen=True)
class LikelihoodRatio(Score):
    """log p(output | left) - log p(output | right), by the mechanism's own statement."""

    log_likelihood: Callable[[Any, Any], Any]
    pair: tuple[Any, Any]
    complete: bool
    name = "likelihood"
    calibrated = True
    meaning = "log-likelihood ratio"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        scores = np.full(len(outputs), np.nan)
        rows = ~outputs.symbolic if outputs.symbols is not None and outputs.numbers.size else None
        raw = outputs.raw
        if rows is not None and rows.any() and not rows.all():
            raw = [row for row, keep in zip(raw, rows, strict=True) if keep]
        with np.errstate(invalid="ignore", divide="ignore"):
            left, right = (np.asarray(self.log_likelihood(data, raw), dtype=float) for data in self.pair)
            ratio = np.round(left - right, tuning.SCORE_DECIMALS)
        if ratio.shape == scores.shape:
            return ratio
        if rows is not None and ratio.shape == (int(rows.sum()),):
            scores[rows] = ratio
        return scores


class Likelihood(Scorer):
    """Use `log_likelihood(dataset, outputs)`, or that of the stated law; nothing is learned."""

    learned = False

    def propose(self, training: Training) -> Sequence[LikelihoodRatio]:
        log_likelihood = stated_log_likelihood(training.mechanism)
        if log_likelihood is None:
            return []
        score = LikelihoodRatio(log_likelihood, training.pair, complete=False)
        try:
            usable = any(bool((~np.isnan(score(outputs))).any()) for outputs in training.sides)
        except Exception:  # the log-likelihood is the mechanism's code and may fail; the other scorers carry on
            return []
        return [score] if usable else []


def stated_log_likelihood(mechanism: Any) -> Callable[[Any, Any], Any] | None:
    """Return the mechanism's `log_likelihood`, or that of its stated law, or None."""
    stated: Callable[[Any, Any], Any] | None = getattr(mechanism, "log_likelihood", None)
    if callable(stated):
        return stated
    return LawLikelihood(mechanism) if callable(getattr(mechanism, "law", None)) else None


@dataclass(frozen=True)
class LawLikelihood:
    """Derive `log_likelihood` from a mechanism's `law`."""

    mechanism: Any

    def __call__(self, dataset: Any, outputs: Any) -> Any:
        return self.mechanism.law(dataset).log_likelihood(np.asarray(outputs))
