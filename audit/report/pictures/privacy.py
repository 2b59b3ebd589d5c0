"""Pictures of a privacy check: errors of tests between the two datasets, the privacy profile, the wealth of a game.

In the plane of the errors of tests that tell the left dataset from the right one, a claim forbids what lies below a
curve; the stated law has a curve of its own, and the game has measured two tests, with exact intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from audit.claims import Claim, PrivacyClaim, claim_of
from audit.game.guesses import GameCounts
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.pictures.frame import Axis, Picture, Points, spanning
from audit.report.wording import number

_ALPHAS = (1 - np.cos(np.linspace(0, math.pi, 81))) / 2  # dense at both ends, where the curves bend
_MANY = 10  # lines: their corners are closer together than the grid
_CURVE_POINTS = 40  # of the claim's profile, where it implies a whole curve
_SMALL_DELTA = 0.02  # a claimed delta below this is seen on a logarithmic axis only
_BOUNDS = 8  # two tests, two errors, two ends

Line = tuple[float, float, float]  # epsilon, and delta with the left and with the right law in the numerator


def privacy_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """The pictures of a recorded privacy check, those that its evidence has something to show in."""
    evidence = record["evidence"]
    claim = claim_of(record["claim"])
    pictures = []
    if evidence["game"] or evidence.get("curve"):
        pictures.append(_trade_off(record, claim))
    if evidence.get("curve"):
        pictures.append(_profile(record, claim))
    if evidence["sequential"]:
        pictures.append(_wealth(record))
    return pictures


def trade_off(lines: Sequence[Line]) -> Points:
    """The highest function below which all lines of a profile keep: (type I error, type II error).

    Every (epsilon, delta) says b >= 1 - delta_right - e^eps a and b >= e^-eps (1 - delta_left - a).
    """
    corners = [max(0.0, 1 - max(left, right)) / (1 + math.exp(min(epsilon, 700.0))) for epsilon, left, right in lines]
    alphas = np.union1d(_ALPHAS, corners if len(corners) < _MANY else [])
    best = np.zeros_like(alphas)
    for epsilon, left, right in lines:
        best = np.maximum(best, 1 - right - np.exp(min(epsilon, 700.0)) * alphas)
        best = np.maximum(best, np.exp(-epsilon) * (1 - left - alphas))
    return [(float(a), float(b)) for a, b in zip(alphas, best, strict=True)]


def _claimed_lines(claim: Claim) -> list[Line]:
    if isinstance(claim, PrivacyClaim):
        return [(claim.epsilon, claim.delta, claim.delta)]
    grid = np.linspace(0.0, 1.5 * claim.points[-1].epsilon, _CURVE_POINTS)
    return [(float(epsilon), *(2 * (claim.profile(float(epsilon)),))) for epsilon in grid]


def _trade_off(record: Mapping[str, Any], claim: Claim) -> Picture:
    evidence = record["evidence"]
    game, curve = evidence["game"], evidence.get("curve")
    shown = [f"The claim {claim.short} allows the shaded region."]
    picture = Picture(
        "Errors of tests that tell the two datasets apart",
        "",
        Axis("type I error", 0.0, 1.0),
        Axis("type II error", 0.0, 1.0),
    )
    allowed = trade_off(_claimed_lines(claim))
    picture.area([*allowed, (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], "allowed", "what the claim allows")
    picture.line(allowed, "claim", "claimed limit")
    if curve:
        picture.line(trade_off(curve["profile"]), "law", "best test, by the stated law")
        shown.append("The curve is that of the best tests by the stated law.")
    bound = record["epsilon_lower_bound"]
    if bound > 0:
        delta = float((evidence.get("tested") or record["claim"])["delta"])
        picture.line(trade_off([(bound, delta, delta)]), "certified", "certified: some test touches it")
        shown.append(f"Some test is certified to touch the dashed line, of epsilon {number(bound)}.")
    if game:
        _measured(picture, GameCounts(**game["counts"]), record["settings"]["significance"])
        shown.append("Crosses are the tests that were measured, with exact intervals.")
    picture.description = " ".join(shown)
    return picture


def _measured(picture: Picture, counts: GameCounts, significance: float) -> None:
    """Both tests of the game: reject left on "guess right" only, or on anything but "guess left"."""
    left = counts.left_plus + counts.left_minus + counts.left_abstain
    right = counts.right_plus + counts.right_minus + counts.right_abstain
    tests = (
        (counts.left_minus, counts.right_plus + counts.right_abstain),
        (counts.left_minus + counts.left_abstain, counts.right_plus),
    )
    for type_one, type_two in dict.fromkeys(tests):
        x = _interval(type_one, left, significance / _BOUNDS)
        y = _interval(type_two, right, significance / _BOUNDS)
        at = (type_one / max(left, 1), type_two / max(right, 1))
        picture.whisker(x, (at[1], at[1]), "measured")
        picture.whisker((at[0], at[0]), y, "measured")
        picture.dot(at, "measured-dot", "tests that were measured")


def _interval(count: int, trials: int, share: float) -> tuple[float, float]:
    if trials == 0:
        return 0.0, 1.0
    return proportion_lower_bound(count, trials, share), proportion_upper_bound(count, trials, share)


def _profile(record: Mapping[str, Any], claim: Claim) -> Picture:
    evidence = record["evidence"]
    lines = evidence["curve"]["profile"]
    epsilons = [line[0] for line in lines]
    law = [(epsilon, max(left, right)) for epsilon, left, right in lines]
    point = evidence.get("tested") or record["claim"]
    claimed = [(epsilon, claim.profile(epsilon)) for epsilon in _fine(epsilons)]
    axis = _delta_axis(float(point["delta"]), [delta for _, delta in (*law, *claimed)])
    picture = Picture(
        "Privacy profile: delta at every epsilon",
        f"Delta by the stated law and as claimed, {claim.short}. {_used(evidence['curve'])}",
        Axis("epsilon", 0.0, max(epsilons)),
        axis,
    )
    corners = (0.0, axis.low), (max(epsilons), axis.low)
    picture.area([corners[0], *_drawn(claimed, axis), corners[1]], "allowed", "what the claim allows")
    picture.line(_drawn(claimed, axis), "claim", "claimed limit")
    picture.line(_drawn(law, axis), "law", "by the stated law")
    picture.dot((float(point["epsilon"]), float(point["delta"])), "claim-dot", "where it was tested")
    return picture


def _fine(epsilons: Sequence[float]) -> list[float]:
    """The recorded epsilons and those half-way, so that the claim's curve bends where it should."""
    return sorted({*epsilons, *((a + b) / 2 for a, b in pairwise(epsilons))})


def _used(curve: Mapping[str, Any]) -> str:
    share = curve["tightness"]
    return "" if share is None else f"The law uses {number(share)} of the claimed epsilon."


def _delta_axis(claimed: float, deltas: Sequence[float]) -> Axis:
    """Linear, but where the claimed delta is too small for that."""
    if 0 < claimed < _SMALL_DELTA:
        return Axis("delta", claimed / 100, max(1.0, *deltas), True)
    return Axis("delta", 0.0, max(0.05, *deltas) * 1.05)


def _drawn(points: Points, axis: Axis) -> Points:
    """On a logarithmic axis zero lies on its lower end."""
    return [(x, max(y, axis.low)) for x, y in points]


def _wealth(record: Mapping[str, Any]) -> Picture:
    outcome = record["evidence"]["sequential"]["outcome"]
    wealth = [float(value) for value in outcome["grid_log_wealth"]]
    needed = math.log(1 / record["settings"]["significance"])
    picture = Picture(
        "Wealth of the sequential game against each epsilon",
        f"After {outcome['steps']} pairs of outputs; every epsilon whose wealth ever reached the line is refuted.",
        spanning("epsilon", outcome["grid"], margin=0.0),
        spanning("log wealth", [*wealth, needed, 0.0]),
    )
    picture.across(needed, "claim", "refuted above")
    picture.line(list(zip(outcome["grid"], wealth, strict=True)), "law", "wealth")
    return picture
