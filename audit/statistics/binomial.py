"""Bound binomial proportions, exactly; and find the largest epsilon that a test refutes."""

from collections.abc import Callable

from scipy import special

from audit.errors import InvalidArgument

LARGEST_EPSILON = 60.0  # beyond it e^epsilon / (1 + e^epsilon) is 1 in floating point


def proportion_lower_bound(successes: int, trials: int, significance: float) -> float:
    """Return a lower confidence bound of a proportion, exact (Clopper and Pearson 1934); 0.0 without a success."""
    # SciPy's and statsmodels' one-sided `alternative` arguments point opposite ways; nothing else here calls them
    if not 0 <= successes <= trials:
        raise InvalidArgument.of("successes", f"lie in 0..{trials}", successes)
    return float(special.betaincinv(successes, trials - successes + 1, significance)) if successes else 0.0


def proportion_upper_bound(successes: int, trials: int, significance: float) -> float:
    """Return an upper confidence bound of a proportion, exact; 1.0 without a failure."""
    return 1.0 - proportion_lower_bound(trials - successes, trials, significance)


def proportion_interval(successes: int, trials: int, significance: float) -> tuple[float, float]:
    """Return both exact bounds of a proportion, each wrong with probability `significance`; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    bounds = proportion_lower_bound, proportion_upper_bound
    return tuple(bound(successes, trials, significance) for bound in bounds)  # type: ignore[return-value]


def largest_refuted(refuted: Callable[[float], bool], high: float | None = None, error: float = 1e-9) -> float:
    """Return an epsilon just below the first one not refuted; all below a refuted one must be refuted."""
    low = 0.0
    if not refuted(low):
        return low
    if high is None:
        high = 1.0
        while high < LARGEST_EPSILON and refuted(high):
            low, high = high, 2 * high
    while high - low > error * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
