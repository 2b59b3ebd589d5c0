"""Pictures of privacy checks, computed from the record of the check and nothing else.

They show the errors of tests between the two datasets: a claim forbids what lies below a curve, the stated law has a
curve of its own, and the game measured two tests. They also show the privacy profile, and the wealth of a sequential
game.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from audit.certificate.plots import ALLOWED, Axis, Plot, Points
from audit.checks.privacy_record import ways_of
from audit.claims import PrivacyClaim, claim_of
from audit.statistics.binomial import proportion_interval
from audit.statistics.guess_game import GameCounts
from audit.text import number

_ALPHAS = (1 - np.cos(np.linspace(0, math.pi, 81))) / 2  # dense at both ends, where the curves bend
_MANY = 10  # lines: their corners are closer together than the grid
_CURVE_POINTS = 40  # of the claim's profile, where it implies a whole curve
_SMALL_DELTA = 0.02  # a claimed delta below this is visible on a logarithmic axis only
_BOUNDS = 8  # two tests, two errors, two ends

Record = Mapping[str, Any]
Line = tuple[float, float, float]  # epsilon, and delta with the left and with the right law in the numerator


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


def profile_of(record: Record) -> Plot | None:
    """Return delta at every epsilon, by the stated law and as claimed."""
    curve, claim = _curve(record), claim_of(record["claim"])
    tested = record["evidence"]["tested"] or record["claim"]
    if not curve:
        return None
    epsilons = [float(line[0]) for line in curve["profile"]]
    law = [(epsilon, max(left, right)) for epsilon, left, right in curve["profile"]]
    between = ((a + b) / 2 for a, b in pairwise(epsilons))  # lets the claim's curve bend where it should
    claimed = [(epsilon, claim.profile(epsilon)) for epsilon in sorted({*epsilons, *between})]
    at = float(tested["epsilon"]), float(tested["delta"])
    largest = max(delta for _, delta in (*law, *claimed))
    small = 0 < at[1] < _SMALL_DELTA
    y = Axis("delta", at[1] / 100, max(1.0, largest), True) if small else Axis("delta", 0.0, max(0.05, largest) * 1.05)
    used = "" if curve["tightness"] is None else f" The law uses {number(curve['tightness'])} of the claimed epsilon."
    said = f"Delta by the stated law and as claimed, {claim.short}.{used}"
    plot = Plot("Privacy profile: delta at every epsilon", said, Axis("epsilon", 0.0, max(epsilons)), y)
    plot.area([(0.0, y.low), *claimed, (max(epsilons), y.low)], "allowed", ALLOWED)
    plot.line(claimed, "claim", "claimed limit")
    plot.line(law, "law", "by the stated law")
    plot.dot(at, "claim-dot", "where it was tested")
    return plot


def wealth_of(game: Record, record: Record) -> Plot:
    """Return the wealth of a sequential game, or an early look, against each epsilon."""
    outcome = game["outcome"]
    wealth = [float(value) for value in outcome["grid_log_wealth"]]
    needed = -math.log(game.get("level") or record["settings"]["significance"])
    plot = Plot(
        "Wealth of the sequential game against each epsilon",
        f"After {outcome['steps']} pairs of outputs. Every epsilon whose wealth ever reached the line is refuted.",
        Axis.spanning("epsilon", outcome["grid"], margin=0.0),
        Axis.spanning("log wealth", [*wealth, needed, 0.0]),
    )
    plot.line([(x, needed) for x in (plot.x.low, plot.x.high)], "claim", "refuted above")
    plot.line(list(zip(outcome["grid"], wealth, strict=True)), "law", "wealth")
    return plot
