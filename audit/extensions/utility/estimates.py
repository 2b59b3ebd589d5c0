"""State the usual estimates of the field, beside the bounds of a check: a regression, intervals for large samples.

No verdict follows from these numbers, and no record holds them: they are computed where a result is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audit.extensions.utility.curve import CurveEvidence, CurvePoint
from audit.extensions.utility.rate_judge import RateTerms

_FEWEST = 4  # sizes behind a straight line; a curved one takes one more
MISSING = "estimates: install dp-audit[utility]"


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression, with its robust standard error and the degrees of freedom that are left."""

    value: float
    error: float
    freedom: float

    def above(self, value: float) -> float:
        """Return the p-value of the hypothesis that the coefficient is `value` at most."""
        return float(special.stdtr(self.freedom, (value - self.value) / self.error))

    def beyond(self, terms: RateTerms) -> float:
        """Return the p-value of the hypothesis that the claim is missed; of two one-sided tests, the larger one."""
        return max(self.above(terms.band.low), 1 - self.above(terms.band.high))


def fit_log_log(scales: Sequence[float], means: Sequence[float], weights: Sequence[float], power: int) -> Coefficient:
    """Return the last coefficient of a polynomial in the log scale, fitted to the logs of means, with HC3 errors."""
    from statsmodels.regression.linear_model import WLS

    logs = np.log(scales)
    fit = WLS(np.log(means), np.vander(logs - logs.mean(), power + 1, increasing=True), weights).fit(cov_type="HC3")
    return Coefficient(float(fit.params[-1]), float(fit.bse[-1]), float(fit.df_resid))


def rate_estimates(terms: RateTerms, evidence: CurveEvidence, significance: float) -> Iterator[str]:
    """Yield a line with the exponent that a weighted regression estimates; means count by the width of their bounds."""
    points = [point for point in evidence.points if point.sample is not None and point.sample.mean > 0]
    if len(points) < max(_FEWEST, len(evidence.points)):
        return  # without losses there is no noise; a mean of 0 has no logarithm
    scales, means, weights = zip(*(_weighed(point, significance) for point in points), strict=True)
    try:
        slope = fit_log_log(scales, means, weights, 1)
        bend = fit_log_log(scales, means, weights, 2) if len(points) > _FEWEST else None
    except ImportError:
        yield MISSING
        return
    exponent = Coefficient(-slope.value, slope.error, slope.freedom)
    if not exponent.error > 0:
        return
    curved = "" if bend is None else f", curvature {bend.value:.2g} +- {bend.error:.2g}"
    tested = f"p = {exponent.beyond(terms):.2g} that it misses {terms}"
    yield f"estimates, which decide nothing: exponent {exponent.value:.4g} +- {exponent.error:.2g}{curved}, {tested}"


def _weighed(point: CurvePoint, significance: float) -> tuple[float, float, float]:
    assert point.sample is not None
    mean, (lower, upper) = point.sample.mean, point.sample.bounds(significance)
    weight = (mean / (upper - lower)) ** 2 if np.isfinite(upper - lower) and upper > lower else 1.0
    return point.reference or 0.0, mean, weight


def proportion_estimates(successes: int, trials: int, significance: float) -> Iterator[str]:
    """Yield a line with the intervals for a proportion that are usual, where the number of trials is fixed."""
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError:
        yield MISSING
        return
    shown = []
    for method in ("wilson", "jeffreys"):
        ends: tuple[Any, Any] = proportion_confint(successes, trials, significance, method)
        shown.append(f"{method.title()} [{ends[0]:.4g}, {ends[1]:.4g}]")
    yield f"estimates, which decide nothing: {successes / trials:.4g}, {' and '.join(shown)} for {trials} trials"
