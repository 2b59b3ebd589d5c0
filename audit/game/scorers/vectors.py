"""Vectors as a whole: screened columns, seen by one projection, by logistic regression and by trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.game.scorers.base import Score, Training
from audit.game.scorers.features import Column, candidates, screened
from audit.game.scorers.flags import PatternScore, fit_patterns
from audit.game.scorers.layout import Layout, few_outputs, numeric_rows, symbol_ratio
from audit.game.scorers.logistic import fit_logistic
from audit.game.scorers.projections import fit_projection
from audit.game.scorers.trees import fit_trees

_MOST_ROWS = 40_000  # a side
_MOST_COLUMNS = 12
_LEAST = 3.0  # standard errors that a column must differ by to be looked at
_WIDE = 6  # coordinates up to which all are looked at, so that trees see every difference given enough outputs


class Vectors:
    """Vector outputs that take more values than counting could see."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[Score]:
        rows = numeric_rows(training, _MOST_ROWS)
        if rows is None or few_outputs(rows):
            return []
        width, of_symbols = rows[0].shape[1], symbol_ratio(training)
        layout = Layout.of(training.pair, width)
        columns = chosen_columns(rows, layout)
        smooth: list[Column | PatternScore] = [*fit_patterns(rows, layout), *columns]
        scores = [
            fit_projection(rows, columns, of_symbols),
            fit_logistic(rows, smooth, of_symbols),
            fit_trees(rows, columns, of_symbols, complete=width <= _WIDE),
        ]
        return [score for score in scores if score is not None]


def chosen_columns(rows: tuple[np.ndarray, np.ndarray], layout: Layout) -> list[Column]:
    """The screened columns, best first; all coordinates too when they are few or nothing stands out."""
    everything = candidates(rows, layout)
    chosen = screened(rows, everything, _MOST_COLUMNS, _LEAST)
    width = rows[0].shape[1]
    if width <= _WIDE or not chosen:
        chosen += [column for column in everything[: min(width, _MOST_COLUMNS)] if column not in chosen]
    return chosen
