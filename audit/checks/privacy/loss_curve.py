"""The curve of a stated law: its privacy profile in both directions at a few points, kept for whoever draws it.

No verdict rests on a curve. From the profile follows the trade-off function of the pair: every epsilon gives two lines
below it (`audit.laws.privacy_loss`, Dong, Roth & Su 2022, proposition 2.12), so that nothing else needs to be recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.checks.privacy.evidence import ExactEvidence, LossCurve
from audit.checks.privacy.statement import stated_loss
from audit.claims import Point
from audit.laws import PrivacyLoss

_POINTS = 25  # a certificate holds this many for each check, whatever the number of pairs
_BEYOND = 1.5  # the curve goes on to this multiple of the claimed and of the found epsilon
_FARTHEST = 40.0  # nothing can be audited beyond


def trace_curve(
    mechanism: Any, point: Point, pairs: Sequence[tuple[Any, Any]], exact: Sequence[ExactEvidence]
) -> LossCurve | None:
    """The curve of the pair with the largest epsilon; None when its law gives none.

    Parameters
    ----------
    point : Point
        Where the brackets of `exact` are stated; its epsilon is one of the curve's.
    exact : sequence of ExactEvidence, one for each pair
    """
    if not exact:
        return None
    worst = max(exact, key=lambda part: part.epsilon_upper_bound)
    try:
        loss = stated_loss(mechanism, *pairs[worst.pair])
        profile = tuple(_at(loss, epsilon) for epsilon in _grid(point.epsilon, worst.epsilon_upper_bound))
    except Exception:  # the statement is the subject's code; its verdict was reached without a curve
        return None
    return LossCurve(worst.pair, profile, _tightness(point.epsilon, worst.epsilon_upper_bound))


def _grid(claimed: float, found: float) -> list[float]:
    """Epsilons from 0 to beyond the claimed and the found one; these two, where curves bend, are among them."""
    kept = {claimed, min(found, _FARTHEST)}
    end = _BEYOND * max(*kept, 0.1)
    return sorted({0.0, *kept, *(_rounded(number) for number in np.linspace(0.0, end, _POINTS - 2))})


def _at(loss: PrivacyLoss, epsilon: float) -> tuple[float, float, float]:
    return epsilon, _rounded(loss.delta(epsilon, "left")), _rounded(loss.delta(epsilon, "right"))


def _tightness(claimed: float, found: float) -> float | None:
    """Found over claimed epsilon."""
    return _rounded(found / claimed) if claimed > 0 and np.isfinite(found) else None


def _rounded(value: float) -> float:
    """Six digits: enough to draw, and the same on other machines."""
    return float(f"{value:.6g}")
