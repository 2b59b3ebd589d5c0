"""Guess from scores which canaries were included, and count how many guesses are right: fair coins included them."""

from typing import Any

import numpy as np
import scipy

from audit.api import InvalidArgument, validate

UNFAIR = 1e-6  # probability below which a split of the canaries is not that of fair coins


def why_unfair(included: int, canaries: int) -> str | None:
    """Return why fair coins did not split the canaries so, or None; the test is exact, and errs with 1e-6 at most."""
    chance = min(1.0, 2 * float(scipy.stats.binom.cdf(min(included, canaries - included), canaries, 0.5)))
    if chance > UNFAIR:
        return None
    counts = f"{included:,} of {canaries:,} canaries were included"
    return f"the coins were not fair: {counts}, of which the probability is {chance:.2g} at most"


def right_guesses(included: np.ndarray, left_out: np.ndarray, guesses: int) -> int:
    """Return the fewest right guesses over all ways to break ties: half of them "included", for the highest scores."""
    total = validate.integer(guesses, "guesses", at_least=1)
    if total > (canaries := len(included) + len(left_out)):
        raise InvalidArgument.of("guesses", f"be at most the {canaries} canaries together", guesses)
    return _fewest_right(included, left_out, -(-total // 2)) + _fewest_right(-left_out, -included, total // 2)


def canary_scores(scores: Any, name: str) -> np.ndarray:
    """Return scores as a vector of numbers, none of them NaN: of a frame, those of its column `score`."""
    if "score" in (columns := list(getattr(scores, "columns", ()))):
        scores = scores["score"]
    elif len(columns) > 1:
        raise InvalidArgument.of(name, f"be one column: type {name}=frame[{columns[0]!r}]", columns)
    try:
        if np.iscomplexobj(scores):
            raise TypeError
        array: np.ndarray = np.ma.filled(np.ma.asarray(scores, dtype=float), np.nan)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "be real numbers", scores) from None
    if array.ndim != 1 and array.size != max(array.shape, default=0):
        raise InvalidArgument.of(name, "be one number for each canary", array.shape)
    array = array.ravel()
    if (missing := np.flatnonzero(np.isnan(array))).size:
        rule = f"hold no NaN, which is at {missing.size} of {array.size} places: leave these canaries out of both parts"
        raise InvalidArgument.of(name, rule, [int(place) for place in missing[:3]])
    return array


def read_scores(scores_in: Any, scores_out: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of both sides; raise `InvalidArgument` for other values than scores."""
    sides = canary_scores(scores_in, "scores_in"), canary_scores(scores_out, "scores_out")
    if not sum(map(len, sides)):
        raise InvalidArgument("`scores_in` and `scores_out` must hold the score of at least one canary, got none")
    labels = [set(np.unique(side)) == {0.0, 1.0} for side in sides]
    if len(sides[0]) == len(sides[1]) and labels[0] != labels[1]:  # as many as the other side, which are no labels
        raise InvalidArgument(
            f"`{'scores_in' if labels[0] else 'scores_out'}` must hold scores, got labels: type\n"
            "  included, left_out = scores[labels == 1], scores[labels == 0]\n"
            "  audit.check_canaries(included, left_out, claim)"
        )
    return sides


def _fewest_right(guessed: np.ndarray, others: np.ndarray, count: int) -> int:
    """Fewest of `guessed` among the `count` highest scores of both, over all ways to break ties."""
    if count == 0:
        return 0
    together = np.sort(np.concatenate([guessed, others]))
    cut = together[len(together) - count]
    wrong = int(np.sum(others >= cut))
    return max(int(np.sum(guessed > cut)), count - wrong)
