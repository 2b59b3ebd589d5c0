"""The guess game played step by step: an audit that stops as soon as the claim is refuted.

Each step draws one output from either side, bets on both by what earlier steps taught, and then learns from them.
The wealth ever reaches 1 / significance with probability at most `significance` when the claim is true, so it may
be looked at after every step and the game may stop at any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.game.sequential.merge import Correction, Merge
from audit.game.sequential.panels import Board, Score
from audit.game.sequential.wealth import Wealth, epsilon_grid, threshold
from audit.subjects import Outputs

Draw = Callable[[int, int], Outputs]

LEFT, RIGHT = 0, 1
_BATCH_SHARE = 0.015  # a batch is at most this share of the steps before it
_MODESTY = 5.0  # after so many steps a posterior is believed half: its experts do not yet know how little they saw
_AUDIBLE = 0.01  # weight from which an expert is named
_CHARGE_THAT_MATTERS = 1.0  # total log charge for delta from which part of the wealth guesses one side only


@dataclass(frozen=True)
class SequentialOutcome:
    """What came of a sequential game.

    Parameters
    ----------
    steps : int
        Pairs of outputs used, one from each side a step.
    stopped : str
        "refuted", "resolved" (enough steps without refutation) or "budget".
    log_wealth : float
        Largest log wealth reached against the claimed epsilon.
    grid : tuple of float
        Epsilons, increasing; the claim's is one of them.
    grid_log_wealth : tuple of float
        Largest log wealth reached against each.
    experts : str
        Which experts weighed most at the end, and how much; for people only.
    """

    steps: int
    stopped: str
    log_wealth: float
    grid: tuple[float, ...]
    grid_log_wealth: tuple[float, ...]
    experts: str


class Learner:
    """The posterior of "left": experts, merged, then corrected by their record."""

    def __init__(self, first: Outputs, score: Score | None) -> None:
        self._board = Board(first, score)
        self._merge = Merge(self._board.log_prior)
        self._correction = Correction()
        self._steps = 0
        self._final = Merge(np.log([0.8, 0.1, 0.1]))

    def bet_and_learn(self, left: Outputs, right: Outputs) -> tuple[np.ndarray, np.ndarray]:
        """Posteriors of "left" at the outputs of either side, given earlier batches only; then learn from these."""
        columns = [_both(*pair) for pair in zip(self._board.read(left), self._board.read(right), strict=True)]
        sides = np.arange(len(left) + len(right)) < len(left)
        opinions = self._board.predict(columns)
        merged = self._merge.predict(opinions)
        tempered = special.expit(special.logit(merged) * self._steps / (self._steps + _MODESTY))
        corrected = self._correction.opinions(tempered)
        posterior = self._final.predict(corrected)
        self._merge.update(opinions, merged, sides)
        self._final.update(corrected, posterior, sides)
        self._correction.add(tempered, sides)
        self._steps += len(left)
        self._board.add(columns, sides)
        return posterior[: len(left)], posterior[len(left) :]

    def describe(self, most: int = 3) -> str:
        """The experts that weigh most at the end, those asleep on most outputs accordingly less."""
        voices = self._merge.voices
        order = [i for i in np.argsort(-voices)[:most] if voices[i] >= _AUDIBLE]
        return ", ".join(f"{self._board.names[i]} ({voices[i]:.2f})" for i in order)


def _both(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.concatenate([left, right])


def play_sequentially(
    draw: Draw,
    epsilon: float,
    delta: float,
    significance: float,
    most_steps: int,
    resolution_steps: int | None = None,
    score: Score | None = None,
) -> SequentialOutcome:
    """Play until the claim is refuted, enough was seen without refuting it, or the budget is spent.

    `log_wealth` reaches ln(1 / significance) with probability at most `significance` when the pair is
    (epsilon, delta)-indistinguishable, over the randomness of the draws, whenever one stops.

    Parameters
    ----------
    draw : callable
        (side, size) -> that many fresh outputs; side 0 is left, 1 is right.
    epsilon : float >= 0
        Claimed.
    delta : float in [0, 1]
        Claimed.
    significance : float in (0, 1)
        Probability that a true claim may be refuted.
    most_steps : int >= 0
        Budget a side.
    resolution_steps : int, optional
        Steps without refutation after which to stop.
    score : callable, optional
        Stated log-likelihood ratio, left over right, of a batch of outputs.
    """
    grid = epsilon_grid(epsilon)
    wealth = Wealth(grid, delta, one_sided=2 * delta * most_steps > _CHARGE_THAT_MATTERS)
    claim, needed = int(np.searchsorted(grid, epsilon)), threshold(significance)
    last = most_steps if resolution_steps is None else min(most_steps, resolution_steps)
    learner: Learner | None = None
    steps = 0
    while steps < last and wealth.highest[claim] < needed:
        size = min(last - steps, max(1, int(_BATCH_SHARE * steps)))
        left, right = draw(LEFT, size), draw(RIGHT, size)
        learner = learner or Learner(left, score)
        wealth.bet(*learner.bet_and_learn(left, right))
        steps += size
    stopped = "budget" if resolution_steps is None or steps < resolution_steps else "resolved"
    if wealth.highest[claim] >= needed:
        stopped = "refuted"
    return SequentialOutcome(
        steps,
        stopped,
        float(wealth.highest[claim]),
        tuple(map(float, grid)),
        tuple(map(float, wealth.highest)),
        learner.describe() if learner else "none",
    )


def time_uniform_lower_bound(outcome: SequentialOutcome, significance: float) -> float:
    """Lower bound of epsilon at the game's delta; reaches the true epsilon with probability at most `significance`.

    The largest epsilon of the grid such that it and all smaller ones are refuted; 0.0 if none. To be wrong it must
    refute the least epsilon of the grid at which the pair keeps the claim, so one level serves the whole grid,
    and Ville's inequality serves every stopping time.
    """
    needed = threshold(significance)
    bound = 0.0
    for epsilon, wealth in zip(outcome.grid, outcome.grid_log_wealth, strict=True):
        if wealth < needed or math.isnan(wealth):
            break
        bound = epsilon
    return bound
