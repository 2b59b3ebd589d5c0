"""Pictures of privacy checks, computed from the record of the check and nothing else.

They show the errors of tests between the two datasets: a claim forbids what lies below a curve, the stated law has a
curve of its own, and the game measured two tests. They also show the privacy profile, and the wealth of a sequential
game.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audit.claims import PrivacyClaim, claim_of
from audit.records.plots import ALLOWED, Axis, Plot, Points
from audit.statistics.binomial import proportion_interval
from audit.statistics.guess_game import GameCounts
from audit.text import number

_ALPHAS = (1 - np.cos(np.linspace(0, math.pi, 81))) / 2  # dense at both ends, where the curves bend
_MANY = 10  # lines: their corners are closer together than the grid
_CURVE_POINTS = 40  # of the claim's profile, where it implies a whole curve
_BOUNDS = 8  # two tests, two errors, two ends

Record = Mapping[str, Any]
Line = tuple[float, float, float]  # epsilon, and delta with the left and with the right law in the numerator


def ways_of(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ways in which a privacy check looked, by name, as they are recorded; none for other evidence."""
    return {way["way"]: way for way in evidence.get("ways", ())}


def trade_off(lines: Sequence[Line]) -> Points:
    """Return the highest function, (type I error, type II error), below which all lines of a profile keep."""
    corners = [max(0.0, 1 - max(left, right)) / (1 + math.exp(min(epsilon, 700.0))) for epsilon, left, right in lines]
    alphas = np.union1d(_ALPHAS, corners if len(corners) < _MANY else [])
    best = np.zeros_like(alphas)
    for epsilon, left, right in lines:  # b >= 1 - delta_right - e^eps a and b >= e^-eps (1 - delta_left - a)
        best = np.maximum(best, 1 - right - np.exp(min(epsilon, 700.0)) * alphas)
        best = np.maximum(best, np.exp(-epsilon) * (1 - left - alphas))
    return list(zip(alphas.tolist(), best.tolist(), strict=True))


def _curve(record: Record) -> Any:
    """Return the privacy profile of the worst pair by its stated law; None if there is none."""
    law = ways_of(record["evidence"]).get("stated law")
    return law and law["curve"]


def errors_of_tests(record: Record) -> Plot | None:
    """Return the errors of tests that tell the datasets apart: claimed, stated, certified and measured."""
    evidence, claim, bound = record["evidence"], claim_of(record["claim"]), record["epsilon_lower_bound"]
    game, curve = ways_of(evidence).get("guess game"), _curve(record)
    tested = evidence["tested"] or record["claim"]
    if not game and not curve:
        return None
    if isinstance(claim, PrivacyClaim):
        lines = [(claim.epsilon, claim.delta, claim.delta)]
    else:
        grid = np.linspace(0.0, 1.5 * claim.points[-1].epsilon, _CURVE_POINTS).tolist()
        lines = [(epsilon, claim.profile(epsilon), claim.profile(epsilon)) for epsilon in grid]
    shown = [f"The claim {claim.short} allows the shaded region."]
    plot = Plot("Errors of tests that tell the two datasets apart", "", Axis("type I error"), Axis("type II error"))
    plot.area([*(allowed := trade_off(lines)), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], "allowed", ALLOWED)
    plot.line(allowed, "claim", "claimed limit")
    if curve:
        plot.line(trade_off(curve["profile"]), "law", "best test, by the stated law")
        shown.append("The curve is that of the best tests by the stated law.")
    if bound > 0:
        limit = bound, float(tested["delta"]), float(tested["delta"])
        plot.line(trade_off([limit]), "certified", "certified: some test touches it")
        shown.append(f"Some test is certified to touch the dashed line, of epsilon {number(bound)}.")
    if game:
        _add_measured_tests(plot, GameCounts(**game["counts"]), record["settings"]["significance"] / _BOUNDS)
        shown.append("Crosses are the tests that were measured, with exact intervals.")
    plot.description = " ".join(shown)
    return plot


def _add_measured_tests(plot: Plot, counts: GameCounts, share: float) -> None:
    """Add both tests of the game: reject left on "guess right" only, or on anything but "guess left"."""
    left = counts.left_plus + counts.left_minus + counts.left_abstain
    right = counts.right_plus + counts.right_minus + counts.right_abstain
    tests = (
        (counts.left_minus, counts.right_plus + counts.right_abstain),
        (counts.left_minus + counts.left_abstain, counts.right_plus),
    )
    for type_one, type_two in dict.fromkeys(tests):
        x, y = type_one / max(left, 1), type_two / max(right, 1)
        plot.line([(end, y) for end in proportion_interval(type_one, left, share)], "measured")
        plot.line([(x, end) for end in proportion_interval(type_two, right, share)], "measured")
        plot.dot((x, y), "measured-dot", "tests that were measured")
