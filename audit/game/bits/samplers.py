"""Reachability through a known sampler: is x = fl(c + scale * log(u)) for a uniform u on the 2^-53 grid?

The inverse-CDF Laplace sampler of numpy's `Generator.laplace` gives few doubles, and the two answers give different
ones: most outputs name their dataset (Mironov 2012, section 4.1). The scale is guessed from the outputs and the claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.bits.answers import AnswerPair, columns, guess_answers
from audit.game.bits.roundtrip import CERTAIN, log_ratio_of_reach, shown
from audit.game.scorers import Score, Training
from audit.subjects import Outputs

_STEP = 2.0**-53
_NEIGHBORS = 1  # uniforms tried on either side of the one that the inverse gives
_REACHED = 0.98  # share of its own outputs that the right scale reaches
_PROBED = 100  # training outputs a side on which a scale is tried
_MOST_GUESSES = 40
_MOST_OFFERED = 2
_libm_log = np.frompyfunc(math.log, 1, 1)  # numpy's own vectorised logarithm may differ from the C library's by one ulp


@dataclass(frozen=True)
class ReachableScore:
    """40 for each coordinate that the sampler gives from the left answer alone, -40 from the right one alone."""

    answers: AnswerPair
    scale: float
    calibrated: bool
    complete: bool = False
    name: str = "inverse-CDF reachability"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        left, right = (reached(numbers, c, self.scale) for c in (self.answers.left, self.answers.right))
        return log_ratio_of_reach(left, right, outputs)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = shown(self.answers.left), shown(self.answers.right)
        form = f"c + {self.scale:.17g} log u for a 53-bit u"
        return (
            f"{form} gives the output from c = {left}, not from {right}, in {upper / CERTAIN:g} coordinates more",
            f"{form} gives the output from c = {right}, not from {left}, in {-lower / CERTAIN:g} coordinates more",
        )


@dataclass(frozen=True)
class InverseCdf:
    """Offers the guesses of answers and scale under which the sampler gives (nearly) every training output."""

    epsilon: float
    query: Any = None
    learned: bool = False
    needs_all: bool = False

    def propose(self, training: Training) -> Sequence[Score]:
        sides = [columns(side)[~side.symbolic] for side in (training.left, training.right)]
        if min(map(len, sides)) == 0:
            return []
        probes = [side[:_PROBED] for side in sides]
        found: list[tuple[float, float, Score]] = []
        for answers in guess_answers(training, self.query)[:_MOST_GUESSES]:
            for scale in candidate_scales(sides, answers, self.epsilon):
                if _own(probes, answers, scale) >= _REACHED:
                    own, telling = _own(sides, answers, scale), 2 - _cross(sides, answers, scale)
                    found.append((own, telling, ReachableScore(answers, scale, calibrated=own == 1.0)))
        found.sort(key=lambda part: (-part[0], -part[1]))
        return [score for own, telling, score in found[:_MOST_OFFERED] if own >= _REACHED and telling > 0]


def reachable(values: np.ndarray, constant: float, scale: float) -> np.ndarray:
    """Whether numpy's Laplace sampler can give each value; shape as `values`."""
    distance = (values - constant) / scale
    half = np.exp(-np.abs(distance)) / 2
    centre = np.where(distance > 0, 1 - half, np.rint(half / _STEP) * _STEP)
    found = np.zeros(values.shape, dtype=bool)
    for step in range(-_NEIGHBORS, _NEIGHBORS + 1):
        u = np.nan_to_num(np.clip(centre + step * _STEP, _STEP, 1 - _STEP), nan=0.5)
        logs = np.asarray(_libm_log(np.where(u >= 0.5, 2.0 - u - u, u + u)), dtype=float)
        found |= np.where(u >= 0.5, constant - scale * logs, constant + scale * logs) == values
    return found


def candidate_scales(sides: Sequence[np.ndarray], answers: AnswerPair, epsilon: float) -> list[float]:
    """Scales within four standard errors of the outputs' mean distance from the guessed answers."""
    both = zip(sides, (answers.left, answers.right), strict=True)
    distances = np.concatenate([np.abs(x - c).ravel() for x, c in both])
    distances = distances[np.isfinite(distances)]
    mean = float(np.mean(distances)) if len(distances) else 0.0
    if not 0 < mean < math.inf:
        return []
    guesses = [*_round_numbers(mean), *(1 / r for r in _round_numbers(1 / mean))]
    if epsilon > 0:
        steps = {answers.gap, float(np.sum(np.abs(np.atleast_1d(answers.left - answers.right)))), 1.0, 2.0}
        guesses += [step / epsilon for step in steps]
    margin = 4 * mean / math.sqrt(len(distances))
    return sorted({scale for scale in guesses if abs(scale - mean) <= margin})


def _round_numbers(near: float) -> list[float]:
    """Numbers of two significant digits within a factor of 1.3."""
    power = math.floor(math.log10(near))
    numbers = (float(f"{digits}e{power - 1}") for digits in range(10, 131))
    return [number for number in numbers if near / 1.3 <= number <= near * 1.3]


def reached(numbers: np.ndarray, answer: np.ndarray, scale: float) -> np.ndarray:
    """Which coordinates the sampler can give; shape (size, d)."""
    constants = np.broadcast_to(answer, numbers.shape[1:])
    return np.stack([reachable(numbers[:, i], float(c), scale) for i, c in enumerate(constants)], axis=1)


def _own(sides: Sequence[np.ndarray], answers: AnswerPair, scale: float) -> float:
    """Share of coordinates that their own answer reaches, the lesser side."""
    both = zip(sides, (answers.left, answers.right), strict=True)
    return min(float(reached(x, c, scale).mean()) for x, c in both)


def _cross(sides: Sequence[np.ndarray], answers: AnswerPair, scale: float) -> float:
    """Share of coordinates that the other side's answer reaches, summed over both sides."""
    both = zip(sides, (answers.right, answers.left), strict=True)
    return sum(float(reached(x, c, scale).mean()) for x, c in both)
