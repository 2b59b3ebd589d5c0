"""The training outputs, whole and in two halves: a score fitted on one half is judged on the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from audit.game.scorers import Training
from audit.subjects import Outputs, concatenate


class Folds(NamedTuple):
    """Every second output forms a half."""

    whole: Training
    halves: tuple[Training, Training]

    @classmethod
    def of(cls, training: Training) -> Folds:
        """Split; single numbers are sorted, since their order says nothing and is used over and over."""
        halves = [_sorted(thinned(training, 2, start)) for start in (0, 1)]
        if not all(_is_plain(side) for side in (training.left, training.right)):
            return cls(training, (halves[0], halves[1]))
        left, right = (concatenate([halves[0].left, halves[1].left]), concatenate([halves[0].right, halves[1].right]))
        return cls(_sorted(_on(training, left, right)), (halves[0], halves[1]))


def thinned(training: Training, step: int, start: int = 0) -> Training:
    """Every `step`-th output of both sides."""
    return _on(training, training.left[start::step], training.right[start::step])


def _on(training: Training, left: Outputs, right: Outputs) -> Training:
    return Training(left, right, training.mechanism, training.pair)


def _sorted(training: Training) -> Training:
    return _on(training, _ordered(training.left), _ordered(training.right))


def _is_plain(outputs: Outputs) -> bool:
    return outputs.is_scalar and outputs.symbols is None and outputs.numbers is outputs.raw


def _ordered(outputs: Outputs) -> Outputs:
    if not _is_plain(outputs):
        return outputs
    return Outputs.plain(np.sort(outputs.numbers, kind="stable"))  # quick where two halves are sorted
