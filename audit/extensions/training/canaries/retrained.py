"""Bound epsilon from below by one training run with many canaries, each included by a fair coin.

From the output alone the auditor guesses of some canaries whether they were included. `one_run` bounds how many guesses
a claim lets be right. Inclusion of one canary is one step of the relation, add/remove.
"""

import math
from typing import Any

import numpy as np
import scipy

from audit.api import InvalidArgument, closed_probability, integer, open_probability
from audit.extensions.training.canaries.one_run import epsilon_lower_bound

UNFAIR = 1e-6  # probability below which a split of the canaries is not that of fair coins


def canary_epsilon_lower_bound(
    scores_in: Any,
    scores_out: Any,
    *,
    guesses: int | tuple[int, int],
    delta: float = 0.0,
    significance: float = 0.05,
) -> float:
    """Return a lower confidence bound of epsilon from the scores of canaries in one training run.

    Too high with probability at most `significance`, over the coins that included the canaries and the randomness of
    the run. 0.0 when nothing is certified.

    Parameters
    ----------
    scores_in, scores_out : array-like, shape (included,) and (left out,)
        A score of each canary, larger for "was included"; a function of the output, the same one for all; no NaN. The
        split must come from one independent fair coin for each canary: not from taking exactly half.
    guesses : int >= 1, or pair of int >= 0
        How many canaries are guessed: "included" for the highest scores, "left out" for the lowest ones; an int is
        shared evenly. At most all canaries together. Fixed before anyone sees scores.
    delta : float in [0, 1], default 0.0
        The additive slack at which epsilon is bounded.
    significance : float in (0, 1), default 0.05
        Probability that the bound may exceed the true epsilon.

    Returns
    -------
    float >= 0
        Every smaller epsilon is refuted, for the inclusion of one canary (add/remove).

    Raises
    ------
    InvalidArgument
        When an argument lies outside its admissible set, and for a split that fair coins give with probability 1e-6
        at most.

    Notes
    -----
    Which of several equal scores is guessed must not depend on the truth. Those that tie at a cut are taken to be
    wrong as far as that is possible, which can only lower the bound.

    References
    ----------
    Steinke, Nasr & Jagielski (2023), "Privacy auditing with one (1) training run". The bound of one (epsilon, delta) in
    `one_run` is at least theirs.

    Examples
    --------
    >>> import audit
    >>> included, left_out = [3.1, 2.7, 2.9, 3.5, 2.2], [0.3, -0.5, 0.1, 0.8, -0.2]
    >>> round(audit.canary_epsilon_lower_bound(included, left_out, guesses=10), 2)
    1.05
    """
    included, left_out = canary_scores(scores_in, "scores_in"), canary_scores(scores_out, "scores_out")
    right, canaries = right_guesses(included, left_out, guesses), len(included) + len(left_out)
    if said := why_unfair(len(included), canaries):
        raise InvalidArgument(f"`scores_in` and `scores_out` must come from a fair coin for each canary: {said}")
    total = sum(guesses) if isinstance(guesses, tuple) else guesses
    level = open_probability(significance, "significance")
    return epsilon_lower_bound(right, total, canaries, closed_probability(delta, "delta"), level)


def why_unfair(included: int, canaries: int) -> str | None:
    """Return why fair coins did not split the canaries so, or None; the test is exact, and errs with 1e-6 at most."""
    chance = min(1.0, 2 * float(scipy.stats.binom.cdf(min(included, canaries - included), canaries, 0.5)))
    if chance > UNFAIR:
        return None
    counts = f"{included:,} of {canaries:,} canaries were included"
    return f"the coins were not fair: {counts}, of which the probability is {chance:.2g} at most"


def right_guesses(included: np.ndarray, left_out: np.ndarray, guesses: int | tuple[int, int]) -> int:
    """Return the fewest right guesses over all ways to break ties: "included" for the highest scores, else "left out".

    An int is shared evenly between the two.
    """
    if isinstance(guesses, tuple):
        if len(guesses) != 2:
            raise InvalidArgument.of("guesses", "be an int or a pair of int", guesses)
        high, low = (integer(count, "guesses", at_least=0) for count in guesses)
    else:
        total = integer(guesses, "guesses", at_least=1)
        high, low = math.ceil(total / 2), total // 2
    if high + low > (canaries := len(included) + len(left_out)):
        raise InvalidArgument.of("guesses", f"be at most the {canaries} canaries together", guesses)
    return _fewest_right(included, left_out, high) + _fewest_right(-left_out, -included, low)


def canary_scores(scores: Any, name: str) -> np.ndarray:
    """Return scores as a vector of numbers, none of them NaN: of a frame, those of its column `score`."""
    if "score" in (columns := list(getattr(scores, "columns", ()))):
        scores = scores["score"]
    elif len(columns) > 1:
        raise InvalidArgument.of(name, f"be one column: type {name}=frame[{columns[0]!r}]", columns)
    try:
        array = np.asarray(scores, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "be real numbers", scores) from None
    if array.ndim != 1 and array.size != max(array.shape, default=0):
        raise InvalidArgument.of(name, "be one number for each canary", array.shape)
    array = array.ravel()
    if (missing := np.flatnonzero(np.isnan(array))).size:
        rule = f"hold no NaN, which is at {missing.size} of {array.size} places: leave these canaries out of both parts"
        raise InvalidArgument.of(name, rule, [int(place) for place in missing[:3]])
    return array


def _fewest_right(guessed: np.ndarray, others: np.ndarray, count: int) -> int:
    """Fewest of `guessed` among the `count` highest scores of both, over all ways to break ties."""
    if count == 0:
        return 0
    together = np.sort(np.concatenate([guessed, others]))
    cut = together[len(together) - count]
    wrong = int(np.sum(others >= cut))
    return max(int(np.sum(guessed > cut)), count - wrong)
