"""Compare a mechanism with the law that it states: bracket its divergence, test the sampler, trace its privacy profile.

The trade-off function of a pair follows from the profile of its stated law: every epsilon gives two lines below it
(`audit.laws.privacy_loss`, Dong, Roth & Su 2022, proposition 2.12), so that nothing else needs to be recorded.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from audit.checks.privacy.judge import ExactEvidence, LossCurve
from audit.claims import Claim, CurveClaim, Point
from audit.game.scorers.base import stated_log_likelihood
from audit.laws import ARITHMETIC_TOLERANCE
from audit.laws.real_laws import dkw_distance
from audit.subjects import Outputs, Stream

_POINTS = 25  # a certificate holds this many for each check, whatever the number of pairs
_BEYOND = 1.5  # the curve goes on to this multiple of the claimed and of the found epsilon
_FARTHEST = 40.0  # nothing can be audited beyond
_LOSS_GRID = 512  # thresholds at which the law of the loss is compared
_ABOVE = 1e-7  # a threshold lies this far above a loss value, so that rounding does not move an atom across it

UNEVALUATED = "the law that the mechanism states cannot be evaluated"  # which a certificate may say beside a game

Pairs = Sequence[tuple[Any, Any]]
Drawn = Sequence[tuple[Outputs, Outputs]]  # on the left and on the right dataset of each pair


def stated_loss(mechanism: Any, left: Any, right: Any) -> Any:
    """Return the privacy-loss object of a pair: `privacy_loss(left, right)`, or derived from `law`."""
    if callable(getattr(mechanism, "privacy_loss", None)):
        return mechanism.privacy_loss(left, right)
    return mechanism.law(left).loss_against(mechanism.law(right))


def compare_with_law(
    mechanism: Any, claim: Claim, pairs: Pairs, drawn: Drawn, point: Point, stream: Stream, significance: float
) -> tuple[ExactEvidence, ...]:
    """Bracket the divergence of every pair by its stated law, and test the drawn outputs against that law."""
    share = significance / len(pairs)
    compared = []
    for index, (pair, outputs) in enumerate(zip(pairs, drawn, strict=True)):
        loss, size = stated_loss(mechanism, *pair), min(map(len, outputs))
        judged = claim.judge_exactly(loss) if isinstance(claim, CurveClaim) else None
        fit = _fit(mechanism, loss, pair, outputs, stream.child(index))
        compared.append(
            ExactEvidence(
                pair=index,
                epsilon_upper_bound=float(loss.epsilon(min(1.0, point.delta * (1 + ARITHMETIC_TOLERANCE)))),
                epsilon_lower_bound=float(loss.epsilon_lower_bound(point.delta)),
                delta_upper_bound=float(loss.delta(point.epsilon)),
                delta_lower_bound=float(loss.delta_lower_bound(point.epsilon)),
                total_variation=float(loss.total_variation()),
                mass_at_infinity=max(float(loss.mass_at_infinity(side)) for side in ("left", "right")),
                fit_pvalue=fit.pvalue if fit else None,
                fit_outputs=size,
                fit_resolution=dkw_distance(size, share / fit.tests) if fit and size else None,
                keeps=judged.keeps if judged else None,
                detail=judged.detail if judged else "",
            )
        )
    return tuple(compared)


class Fit(NamedTuple):
    pvalue: float  # over both datasets, valid in finite samples
    tests: int  # factor on the p-value of one distance in distribution, by which the fit pays for all of its tests


def _fit(
    mechanism: Any, loss: Any, pair: tuple[Any, Any], outputs: tuple[Outputs, Outputs], stream: Stream
) -> Fit | None:
    """Compare the outputs with the stated law; None if nothing can be compared."""
    tests = 1
    if callable(getattr(mechanism, "law", None)):
        laws = [mechanism.law(data) for data in pair]
        values = [
            law.fit_pvalue(_as_array(side.raw), stream.child(number).rng())
            for number, (law, side) in enumerate(zip(laws, outputs, strict=True))
        ]
        tests = max(law.fit_tests for law in laws)
    elif any(side.symbols is not None and side.numbers.size and side.symbolic.any() for side in outputs):
        return None
    elif (stated := stated_log_likelihood(mechanism)) is not None:
        values = [_loss_fit(stated, loss, pair, *case) for case in zip(outputs, ("left", "right"), strict=True)]
    else:
        return None
    return Fit(float(min(1.0, 2 * min(values))), 2 * tests)


def _loss_fit(log_likelihood: Any, loss: Any, pair: tuple[Any, Any], outputs: Outputs, side: str) -> float:
    """Compare the observed privacy losses with their stated law (Dvoretzky-Kiefer-Wolfowitz-Massart)."""
    left, right = (np.asarray(log_likelihood(data, outputs.raw), dtype=float) for data in pair)
    observed = np.sort(left - right if side == "left" else right - left)
    if np.isnan(observed).any():
        return 0.0
    thresholds = np.unique(observed[np.linspace(0, len(observed) - 1, _LOSS_GRID).astype(int)])
    thresholds = thresholds[np.isfinite(thresholds)] + _ABOVE
    empirical = np.searchsorted(observed, thresholds, side="right") / len(observed)
    stated = np.array([1.0 - loss.tails(t, side)[0] for t in thresholds])
    distance = float(np.max(np.abs(empirical - stated), initial=0.0))
    return float(min(1.0, 2 * np.exp(-2 * len(observed) * distance**2)))


def _as_array(raw: Any) -> np.ndarray:
    try:
        return np.asarray(raw)
    except ValueError:  # ragged
        array = np.empty(len(raw), dtype=object)
        array[:] = raw
        return array


def trace_curve(mechanism: Any, pairs: Pairs, point: Point, exact: Sequence[ExactEvidence]) -> LossCurve | None:
    """Return the curve of the pair with the largest epsilon; None when its law gives none."""
    worst = max(exact, key=lambda part: part.epsilon_upper_bound)
    claimed, found = point.epsilon, worst.epsilon_upper_bound
    kept = {claimed, min(found, _FARTHEST)}  # on the grid: curves bend there
    regular = np.linspace(0.0, _BEYOND * max(*kept, 0.1), _POINTS - 2)
    try:
        loss = stated_loss(mechanism, *pairs[worst.pair])
        profile = tuple(
            (epsilon, _rounded(loss.delta(epsilon, "left")), _rounded(loss.delta(epsilon, "right")))
            for epsilon in sorted({0.0, *kept, *map(_rounded, regular)})
        )
    except Exception:  # the statement is the subject's code; its verdict was reached without a curve
        return None
    tightness = _rounded(found / claimed) if claimed > 0 and np.isfinite(found) else None
    return LossCurve(worst.pair, profile, tightness)


def _rounded(value: float) -> float:  # enough digits to draw, and the same on other machines
    return float(f"{value:.6g}")
