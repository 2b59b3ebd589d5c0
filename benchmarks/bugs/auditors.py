"""Auditors that the scoreboard compares: ours, and two baselines in the manner of published tools.

An auditor is any callable `(mechanism, pair, budget, significance, seed) -> lower bound` of epsilon: `budget`
outputs per dataset including training, too high with probability at most `significance`. The baselines use the same
scorers as ours for outputs that are not one number, so that what is compared is the choice of the event and the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit import Local, PrivacyClaim, check_privacy
from audit.evidence.fixed_budget import carry_out, draw_calls, joined
from audit.execution.batches import Side
from audit.execution.seeds import Stream
from audit.mechanism.call import Subject
from audit.outputs.encode import Outputs
from audit.scorers import SCORERS, Score, Training
from benchmarks.bound import two_proportion_epsilon_lower_bound

Auditor = Callable[[Any, tuple[Any, Any], int, float, int], float]

TRAINING_SHARE = 0.15
MOST_TRAINING = 200_000
LEAST_MASS = 0.01  # of the best event of the first baseline


def guess_game(mechanism: Any, pair: tuple[Any, Any], budget: int, significance: float, seed: int) -> float:
    """The fixed-budget audit of this package."""
    claim = PrivacyClaim(0.0, 0.0, Local(), "nothing leaks")
    settings = {"budget": budget, "significance": significance, "confirmation": None, "seed": seed}
    result = check_privacy(mechanism, claim, [pair], method="fixed", **settings)
    return result.epsilon_lower_bound


def best_event(mechanism: Any, pair: tuple[Any, Any], budget: int, significance: float, seed: int) -> float:
    """Baseline: the most telling event of mass 0.01 at least, two Clopper-Pearson bounds (after DP-Sniper)."""
    return _two_tails(mechanism, pair, budget, significance, seed, _largest_ratio)


def one_threshold(mechanism: Any, pair: tuple[Any, Any], budget: int, significance: float, seed: int) -> float:
    """Baseline: the threshold with the largest Youden index, two Clopper-Pearson bounds (after attack-based audits)."""
    return _two_tails(mechanism, pair, budget, significance, seed, _largest_difference)


AUDITORS: dict[str, Auditor] = {"ours": guess_game, "best event": best_event, "one threshold": one_threshold}

Objective = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _largest_ratio(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    allowed = (p >= LEAST_MASS) & (q > 0)
    return np.where(allowed, np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300)), -np.inf)


def _largest_difference(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return p - q


def _two_tails(
    mechanism: Any, pair: tuple[Any, Any], budget: int, significance: float, seed: int, objective: Objective
) -> float:
    subject, stream = Subject(mechanism), Stream(seed)
    size = min(int(TRAINING_SHARE * budget), MOST_TRAINING)
    drawn = joined(carry_out(draw_calls(subject, [pair], 1, size, stream.child(0)))[0])[0]
    event = _choose(Training(*drawn, mechanism, pair), objective)
    runs = budget - size
    left, right = (_hits(subject, dataset, event, runs, stream.child(1, i)) for i, dataset in enumerate(pair))
    bounds = (
        two_proportion_epsilon_lower_bound(left, runs, right, runs, significance),
        two_proportion_epsilon_lower_bound(right, runs, left, runs, significance),
    )
    return max(0.0, bounds[0] if event[2] else bounds[1])


def _choose(training: Training, objective: Objective) -> tuple[Score, float, bool]:
    """Score, threshold and side ("left" when true) with the best value on the half that no score was fitted on."""
    fitting, judging = (
        Training(training.left[i::2], training.right[i::2], training.mechanism, training.pair) for i in (0, 1)
    )
    best: tuple[float, Any] = (-np.inf, None)
    for scorer in (scorer for scorer in SCORERS if scorer.reads(fitting)):
        for score in scorer.propose(fitting):
            for sign in (1, -1):
                value, threshold = _best_threshold(sign * score(judging.left), sign * score(judging.right), objective)
                if value > best[0]:
                    best = value, (score, sign * threshold, sign > 0)
    chosen: tuple[Score, float, bool] = best[1]
    return chosen


def _best_threshold(toward: np.ndarray, away: np.ndarray, objective: Objective) -> tuple[float, float]:
    grid = np.unique(np.concatenate([toward, away]))
    grid = grid[np.isfinite(grid)]
    if not len(grid):
        return -np.inf, 0.0
    p, q = (1 - np.searchsorted(np.sort(x[~np.isnan(x)]), grid) / len(x) for x in (toward, away))
    values = objective(p, q)
    best = int(np.argmax(values))
    return float(values[best]), float(grid[best])


def _hits(subject: Subject, dataset: Any, event: tuple[Score, float, bool], runs: int, stream: Stream) -> int:
    def count(outputs: Outputs) -> int:
        scores = event[0](outputs)
        return int(np.sum(scores >= event[1] if event[2] else scores <= event[1]))

    return sum(count(subject.draw(block)[0]) for block in Side(dataset, runs, stream).blocks())
