"""State the field's usual estimates beside the bounds of a check: a regression, intervals for large samples.

No verdict follows from these numbers and no record holds them: they are computed where a result is shown as text, by
statsmodels, which the extra `utility` brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from audit.api import errors
from audit.extensions.utility.curve import CurvePoint
from audit.extensions.utility.rate_judge import RateTerms

_FEWEST = 4  # sizes behind a straight line; a curved one takes one more
_DECIDE = "estimates, which decide nothing"
MISSING = f"no estimates: {errors.MissingExtra.of('statsmodels', 'utility')}"


class Coefficient(NamedTuple):
    """A coefficient of a regression, with its robust standard error and the degrees of freedom that are left."""

    value: float
    error: float
    freedom: float

    def __str__(self) -> str:
        return f"{self.value:.4g} (standard error {self.error:.2g})"

    def test_against(self, terms: RateTerms) -> float:
        """Return the p-value of the hypothesis that the claim is missed; of two one-sided tests, the larger one."""
        low, high = ((end - self.value) / self.error for end in terms.band)
        return float(max(stats.t.cdf(low, self.freedom), stats.t.sf(high, self.freedom)))


def fit_log_log(scales: Sequence[float], means: Sequence[float], weights: Any, power: int) -> Coefficient:
    """Return the last coefficient of a polynomial in the log scale, fitted to the logs of means, with HC3 errors."""
    from statsmodels.regression.linear_model import WLS

    logs = np.log(scales)
    table = np.vander(logs - logs.mean(), power + 1, increasing=True)
    fit = WLS(np.log(means), table, weights).fit(cov_type="HC3")
    return Coefficient(float(fit.params[-1]), float(fit.bse[-1]), float(fit.df_resid))


def estimate_exponent(terms: RateTerms, points: Sequence[CurvePoint], significance: float) -> Iterator[str]:
    """Yield a line with the exponent that a weighted regression estimates; means count by the width of their bounds."""
    samples = [point.sample for point in points if point.sample]
    means = [sample.mean for sample in samples]
    if len(samples) < max(_FEWEST, len(points)) or min(means) <= 0:
        return  # computed values have no noise; a mean of 0 has no logarithm
    widths = [upper - lower for lower, upper in (sample.bounds(significance) for sample in samples)]
    known = [mean / width if 0 < width < np.inf else 1.0 for mean, width in zip(means, widths, strict=True)]
    data = [point.reference or 0.0 for point in points], means, np.square(known)
    try:
        slope = fit_log_log(*data, power=1)
        bend = fit_log_log(*data, power=2) if len(points) > _FEWEST else None
    except ImportError:
        yield MISSING
        return
    if slope.error > 0:
        exponent = slope._replace(value=-slope.value)
        curved = "" if bend is None else f"; curvature {bend}"
        missed = f"the hypothesis of a miss has p = {exponent.test_against(terms):.2g}"
        yield f"{_DECIDE}: exponent {exponent}{curved}; {missed}"


def estimate_proportion(successes: int, trials: int, significance: float) -> Iterator[str]:
    """Yield a line with the usual intervals for a proportion, as if the number of trials had been fixed."""
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError:
        yield MISSING
        return
    shown = []
    for method in ("wilson", "jeffreys"):
        ends: tuple[Any, Any] = proportion_confint(successes, trials, significance, method)
        shown.append(f"{method.title()} [{ends[0]:.4g}, {ends[1]:.4g}]")
    level = f"error probability {significance:.2g}"
    yield f"{_DECIDE}: {successes / trials:.4g} of {trials} trials; intervals ({level}): {', '.join(shown)}"
