"""Test whether one score says all that vectors show: no scorer that takes long to fit could add to it then.

The line of a score says with which probability each output came from the left dataset. What is left of the true sides
is summed in cells of every number that the slow scorers would read, and of pairs and triples of these: coordinates,
summaries of the row, sums, differences and products of two coordinates. Where no cells stand out more than chance
explains, these scorers would fit chance. A difference that is missed costs power, and never validity; where chance
makes cells stand out, the slow scorers are asked in vain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.events.thresholds import Line
from audit.scorers.base import Score, Training
from audit.scorers.misfit import MISFIT, is_contradicted, pvalues_alone
from audit.scorers.rows import WIDE, Layout
from audit.scorers.vectors import FEW_COORDINATES, MOST_FEATURES, Feature, derived_features, finite

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
RESIDUAL_ROWS = 10_000  # rows per dataset, or a quarter of more, that show whether one score says all. TIME


def is_explained(fits: Sequence[tuple[Line | None, Sequence[Score]]], halves: Sequence[Training]) -> bool:
    """Return whether one score says all: of those that are log-likelihood ratios, the one that predicts best.

    Given are the line through each score, and its fits that score the halves.
    """
    lines = [(line, scores) for line, scores in fits if line is not None and not line.misfit]
    return bool(lines) and _says_all(*min(lines, key=lambda each: each[0].loss), halves)


def _says_all(line: Line, scores: Sequence[Score], halves: Sequence[Training]) -> bool:
    """Return whether nothing contradicts the line through scores of vectors, each half scored by a fit of its own."""
    parts = [(score, side) for score, half in zip(scores, halves, strict=True) for side in half.sides]
    if not all(half.has_vectors and all(side.symbols is None for side in half.sides) for half in halves):
        return False
    width = halves[0].left.numbers.shape[1]
    if not 1 < width <= WIDE:
        return False
    fewest = min(len(side) for _, side in parts)
    step = max(1, -(-fewest // max(RESIDUAL_ROWS // 2, fewest // 4)))
    thin = [(score, side[::step]) for score, side in parts]
    odds = line.offset + line.slope * np.concatenate([score(side) for score, side in thin])
    if not np.isfinite(odds).all():
        return False
    of_left = np.repeat([1.0, 0.0, 1.0, 0.0], [len(side) for _, side in thin])
    numbers = [side.numbers for _, side in thin]
    rows = np.concatenate(numbers[::2]), np.concatenate(numbers[1::2])
    features = derived_features(rows, Layout.of(halves[0].pair, width))
    return not _stands_out(features, np.concatenate(numbers), odds, of_left)


def _stands_out(features: Sequence[Feature], numbers: np.ndarray, odds: np.ndarray, of_left: np.ndarray) -> bool:
    """Test the cells of each feature; of the least likely ones and of few coordinates, those of pairs and triples."""
    each = pvalues_alone((finite(feature(numbers)) for feature in features), odds, of_left)
    if each.min() * len(each) < MISFIT:
        return True
    few = range(min(numbers.shape[1], FEW_COORDINATES))
    most = np.argsort(each, kind="stable")[:MOST_FEATURES]
    chosen = list(dict.fromkeys([*few, *most.tolist()]))[:MOST_FEATURES]
    table = np.stack([finite(features[index](numbers)) for index in chosen])
    return is_contradicted(table, odds, of_left, ())
