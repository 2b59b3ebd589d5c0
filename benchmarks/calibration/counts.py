"""Audits of counts: confusion matrices, canaries, and delta bounds, with counts drawn at the edge.

Each draws what its method would count, by the law of a mechanism whose privacy is exactly (epsilon, delta), and says
whether the bound exceeds a claim of (1, delta): randomized response, shown openly with probability delta.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from audit import delta_lower_bound, epsilon_interval
from audit.extensions.training.canaries.guesses import right_guesses
from audit.extensions.training.canaries.one_run import epsilon_lower_bound
from audit.statistics.bounds import GameCounts

CLAIMED = 1.0
MATRIX, CANARIES, RUNS = 60, 400, 1_000
_BASE = 2**32


def _rng(factor: float, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, round(1000 * factor)])


def _right_and_wrong(epsilon: float, delta: float) -> tuple[float, float]:
    """Probabilities of guessing "left" on the left and on the right, when every output makes a guess."""
    truth = 1 / (1 + math.exp(-epsilon))
    return delta + (1 - delta) * truth, (1 - delta) * (1 - truth)


def confusion(delta: float, level: float, factor: float, seed: int) -> bool:
    """Return whether the interval's lower end is too high, which half of the significance allows: twice `level`."""
    rng = _rng(factor, seed)
    right, wrong = _right_and_wrong(factor * CLAIMED, delta)
    tp, fp = int(rng.binomial(MATRIX, right)), int(rng.binomial(MATRIX, wrong))
    return _interval_end(tp, fp, delta, level) > CLAIMED


@cache
def _interval_end(tp: int, fp: int, delta: float, level: float) -> float:
    counts = {
        "true_positives": tp,
        "false_positives": fp,
        "true_negatives": MATRIX - fp,
        "false_negatives": MATRIX - tp,
    }
    return epsilon_interval(**counts, delta=delta, significance=2 * level).lower


def canaries(delta: float, level: float, factor: float, seed: int) -> bool:
    """Every canary's inclusion passes through its own randomized response; 200 of 400 are guessed."""
    rng = _rng(factor, seed)
    included = rng.random(CANARIES) < 0.5
    truth = 1 / (1 + math.exp(-factor * CLAIMED))
    said = np.where(rng.random(CANARIES) < truth, included, ~included)
    shown = rng.random(CANARIES) < delta
    scores = np.where(shown, 2.0, 1.0) * np.where(np.where(shown, included, said), 1.0, -1.0) + 0.1 * rng.random(
        CANARIES
    )
    right = right_guesses(scores[included], scores[~included], CANARIES // 2)
    return epsilon_lower_bound(right, CANARIES // 2, CANARIES, delta, level) > CLAIMED


def delta_at_epsilon(delta: float, one_sided: bool, level: float, factor: float, seed: int) -> bool:
    """The bound of delta at epsilon 1, of randomized response that shows its record with `factor` times delta.

    The game guesses on what is shown, on one side or on both, and on the response; at epsilon 1 only what is shown
    counts towards delta, whatever else is guessed.
    """
    rng = _rng(factor, seed)
    shown = factor * delta
    truth = (1 - shown) / (1 + math.exp(-CLAIMED))
    lie = 1 - shown - truth
    on_left = int(rng.binomial(2 * RUNS, 0.5))
    if one_sided:  # record 1 alone is shown, and "left" is guessed there only
        left = rng.multinomial(on_left, [shown, 0.0, 1 - shown])
        right = np.array([0, 0, 2 * RUNS - on_left])
    else:
        left = rng.multinomial(on_left, [shown + truth, lie, 0.0])
        right = rng.multinomial(2 * RUNS - on_left, [lie, shown + truth, 0.0])
    counts = GameCounts(*map(int, left), *map(int, right))
    coins = np.random.SeedSequence([seed, _BASE - 1])
    played = (counts.correct, counts.wrong, counts.abstained)
    return delta_lower_bound(*played, epsilon=CLAIMED, significance=level, seed=coins, one_sided=one_sided) > delta
