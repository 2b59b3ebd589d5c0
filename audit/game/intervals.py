"""Bound a binomial proportion with given confidence, wrapped once, with the side in the name.

SciPy's and statsmodels' one-sided `alternative` arguments point opposite ways, and statsmodels defaults to the
normal approximation; nothing else in the package calls them.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from audit.base.errors import InvalidArgument


def proportion_lower_bound(successes: int, trials: int, significance: float) -> float:
    """Return a lower confidence bound of a binomial proportion; too high with probability at most `significance`.

    Exact (Clopper and Pearson 1934), over the randomness of the trials. 0.0 when there is no success.
    """
    _require_counts(successes, trials)
    if successes == 0:
        return 0.0
    return float(special.betaincinv(successes, trials - successes + 1, significance))


def proportion_upper_bound(successes: int, trials: int, significance: float) -> float:
    """Return an upper confidence bound of a binomial proportion; too low with probability at most `significance`.

    Exact (Clopper and Pearson 1934), over the randomness of the trials. 1.0 when there is no failure.
    """
    return 1.0 - proportion_lower_bound(trials - successes, trials, significance)


def two_proportion_epsilon_lower_bound(
    left_hits: int, left_runs: int, right_hits: int, right_runs: int, significance: float, delta: float = 0.0
) -> float:
    """Return a baseline: the lower confidence bound of log((P(E) - delta) / Q(E)) from two exact bounds, half each.

    The event must be fixed beforehand. Kept for comparison with the guess game, which needs one tail only.
    """
    p = proportion_lower_bound(left_hits, left_runs, significance / 2)
    q = proportion_upper_bound(right_hits, right_runs, significance / 2)
    return float(np.log((p - delta) / q)) if p > delta else 0.0


def _require_counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise InvalidArgument.of("successes", f"lie in 0..{trials}", successes)
