"""Score outputs by whether the code can give them at all from either exact answer.

A round trip (x - c) + c != x shows that x is not fl(c + noise), whatever the noise. The event needs the two exact
answers and nothing else, and refutes every mechanism that adds double-precision noise to a double, however fine the
noise (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha & Hay 2022).

The inverse-CDF Laplace sampler of numpy's `Generator.laplace` gives few doubles, x = fl(c + scale * log(u)) for a
uniform u on the 2^-53 grid. The two answers give different ones, so most outputs identify their dataset (Mironov 2012,
section 4.1). The scale is guessed from the outputs and the claim.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.bits.answers import (
    AnswerPair,
    columns,
    guess_answers,
    numeric_columns,
    reach_rates,
    shown,
    survives_round_trip,
)
from audit.game.scorers import Score, Scorer, Training
from audit.subjects import Outputs

CERTAIN = 40.0  # log-likelihood ratio of an output that only one side can give, in place of infinity
_STEP = 2.0**-53
_libm_log = np.frompyfunc(math.log, 1, 1)  # numpy's own vectorized logarithm may differ from the C library's by one ulp


@dataclass(frozen=True)
class ReachScore(Score):
    """40 for each coordinate that only the left answer reaches, -40 for each that only the right one does."""

    answers: AnswerPair
    calibrated: bool = field(kw_only=True)

    def __call__(self, outputs: Outputs) -> np.ndarray:
        left, right = (self.reached(columns(outputs), answer) for answer in (self.answers.left, self.answers.right))
        score = CERTAIN * (left.sum(axis=1) - right.sum(axis=1, dtype=float))
        return np.where(outputs.symbolic, np.nan, score)

    @abstractmethod
    def reached(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Return which coordinates the answer reaches; shape (size, d)."""


@dataclass(frozen=True)
class RoundTripScore(ReachScore):
    """Reached means that some double n gives x = fl(c + n)."""

    name = "round trips"

    def reached(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        return survives_round_trip(numbers, np.atleast_1d(answer))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = (f"fl({shown(c)} + n)" for c in (self.answers.left, self.answers.right))
        said = f"for a double n (answers: {self.answers.origin})"
        return (
            f"in {upper / CERTAIN:g} coordinates more the output is {left}, and not {right}, {said}",
            f"in {-lower / CERTAIN:g} coordinates more the output is {right}, and not {left}, {said}",
        )


@dataclass(frozen=True)
class RoundTrips(Scorer):
    """Propose the guesses of the exact answers that their own outputs do not contradict, most informative first."""

    query: Any = None
    learned = False

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        rated = []
        for answers in guess_answers(training, self.query):
            own, told = reach_rates(sides, answers)
            if own >= tuning.OWN_ROUND_TRIPS and told > 0:
                rated.append((told, RoundTripScore(answers, calibrated=own == 1.0)))
        rated.sort(key=lambda part: -part[0])
        return [score for _, score in rated[: tuning.MOST_ROUND_TRIPS]]


@dataclass(frozen=True)
class InverseCdfScore(ReachScore):
    """Reached means that numpy's Laplace sampler of this scale can give x."""

    scale: float
    name = "inverse-CDF reachability"

    def reached(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        constants = np.broadcast_to(answer, numbers.shape[1:])
        return np.stack([reachable(numbers[:, i], float(c), self.scale) for i, c in enumerate(constants)], axis=1)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = shown(self.answers.left), shown(self.answers.right)
        form = f"c + {self.scale:.17g} log u for a 53-bit u"
        return (
            f"{form} gives the output from c = {left}, not from {right}, in {upper / CERTAIN:g} coordinates more",
            f"{form} gives the output from c = {right}, not from {left}, in {-lower / CERTAIN:g} coordinates more",
        )

    def shares(self, sides: Sequence[np.ndarray], answers: Sequence[np.ndarray]) -> list[float]:
        """Return the share of coordinates that each side's answer reaches."""
        return [float(self.reached(x, c).mean()) for x, c in zip(sides, answers, strict=True)]


@dataclass(frozen=True)
class InverseCdf(Scorer):
    """Propose the guesses of answers and scale under which the sampler gives (nearly) every training output."""

    epsilon: float
    query: Any = None
    learned = False

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        probes = [side[: tuning.PROBED_OUTPUTS] for side in sides]
        found: list[tuple[float, float, Score]] = []
        for answers in guess_answers(training, self.query)[: tuning.MOST_ANSWERS]:
            own, other = (answers.left, answers.right), (answers.right, answers.left)
            for scale in candidate_scales(sides, answers, self.epsilon):
                score = InverseCdfScore(answers, scale, calibrated=False)
                if min(score.shares(probes, own)) >= tuning.OWN_REACHED:
                    share, told = min(score.shares(sides, own)), 2 - sum(score.shares(sides, other))
                    found.append((share, told, replace(score, calibrated=share == 1.0)))
        found.sort(key=lambda part: (-part[0], -part[1]))
        best = found[: tuning.MOST_SCALES]
        return [score for share, told, score in best if share >= tuning.OWN_REACHED and told > 0]


def reachable(values: np.ndarray, constant: float, scale: float) -> np.ndarray:
    """Return whether numpy's Laplace sampler can give each value; shape as `values`."""
    distance = (values - constant) / scale
    half = np.exp(-np.abs(distance)) / 2
    center = np.where(distance > 0, 1 - half, np.rint(half / _STEP) * _STEP)
    found = np.zeros(values.shape, dtype=bool)
    for step in (-1, 0, 1):  # rounding may put the inverse one step off
        u = np.nan_to_num(np.clip(center + step * _STEP, _STEP, 1 - _STEP), nan=0.5)
        logs = np.asarray(_libm_log(np.where(u >= 0.5, 2.0 - u - u, u + u)), dtype=float)
        found |= np.where(u >= 0.5, constant - scale * logs, constant + scale * logs) == values
    return found


def candidate_scales(sides: Sequence[np.ndarray], answers: AnswerPair, epsilon: float) -> list[float]:
    """Return the scales within four standard errors of the outputs' mean distance from the guessed answers."""
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
    """Return the numbers of two significant digits within a factor of 1.3."""
    power = math.floor(math.log10(near))
    numbers = (float(f"{digits}e{power - 1}") for digits in range(10, 131))
    return [number for number in numbers if near / 1.3 <= number <= near * 1.3]
