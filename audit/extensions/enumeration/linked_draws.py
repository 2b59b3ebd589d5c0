"""Compare two numbers of which neither is known yet, and remember which is less: from then on their draws are linked.

Noisy maxima and sparse vectors ask for nothing else of their noise. A draw is read as a real number X of its ideal law,
and what is compared as p X + c with p > 0, up to a margin that holds all rounding: of the draw itself (a uniform is
X rounded down to a multiple of 2^-53), of each step, and of known integers. The two branches of a comparison are

    p X + c + margin < q Y + d    and    q Y + d + margin < p X + c,

on which the code certainly goes that way. What lies between is lost, and so is |X| > 60, of probability e^-60 or so:
the law is bracketed, and never rounded. A region is the conjunction of the comparisons of a run; it weighs what a
bracket around the probability of the region says, and a branch has the lower end of its region's by the upper end of
that of the region before, so that the product along a run is at most the probability of its last region.

* Drawn numbers that were not compared with known ones before, of the uniform, exponential, Laplace or Gumbel law, and
  sums, differences, products and quotients with known numbers, are compared so. All else is refused.
* A linked number can only be compared with other unknown ones. Whatever else is asked of it (a threshold, its integer
  part, its value as an output) ends the run: what it may still be depends on other draws.
* A comparison that follows from earlier ones leaves nothing to choose. One that makes an earlier one follow takes its
  place. So the comparisons left make a tree or the run is refused; in a tree each draw is integrated away in turn.
* Gumbel noise of one scale is -log E with E exponential, and E < k E' is a race: its terms are c e^(-ry).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from audit.extensions.enumeration import exponential_sums as sums
from audit.extensions.enumeration.deferred import Deferred, Draw, shape, size_of
from audit.extensions.enumeration.following import Branches

_FARTHEST = Fraction(60)  # |X| beyond is lost
_TAIL = Fraction(1, 2**85)  # more than its probability, for Gumbel noise: the others have it cut off
_UNIT, _LEAST = Fraction(1, 2**53), Fraction(1, 2**1000)
_MOST, _UNEQUAL = 12, 64  # draws that are linked with one another, and how much larger one scale may be
_TOTAL = 2**256
_BAND = "numbers that are nearly equal, or far out"
_GAP = Fraction(1, 2**40)
_FLAT, _FALLS, _GROWS = ((0, Fraction(rate)) for rate in (0, -1, 1))
_WHOLE, _HALF = (sums.ONE, sums.ONE), (sums.ONE // 2, sums.ONE // 2)
_ZERO = Fraction(0)
_DENSITIES: dict[str, sums.Pieces] = {
    "uniform": [(_ZERO, Fraction(1), {_FLAT: _WHOLE})],
    "-uniform": [(Fraction(-1), _ZERO, {_FLAT: _WHOLE})],
    "exponential": [(_ZERO, _FARTHEST, {_FALLS: _WHOLE})],
    "-exponential": [(-_FARTHEST, _ZERO, {_GROWS: _WHOLE})],
    "laplace": [(-_FARTHEST, _ZERO, {_GROWS: _HALF}), (_ZERO, _FARTHEST, {_FALLS: _HALF})],
}
_POINTS = {  # between which runs with known numbers have theirs
    **{"uniform": (_ZERO, 1 - _UNIT), "-uniform": (_UNIT - 1, _ZERO), "laplace": (Fraction(-40), Fraction(40))},
    **{"exponential": (_ZERO, Fraction(40)), "-exponential": (Fraction(-40), _ZERO)},
    "gumbel": (Fraction(-3), Fraction(40)),
}


class Edge(NamedTuple):
    """Say that ratio * X + shift < Y, by the numbers of two draws."""

    low: int
    high: int
    ratio: Fraction
    shift: Fraction


class Region(NamedTuple):
    """Hold the laws of draws, and what comparisons say of them."""

    kinds: tuple[str, ...]
    edges: tuple[Edge, ...]


class Group:
    """Draws that are linked by comparisons."""

    __slots__ = ("members", "region")

    def __init__(self, members: list[Draw], region: Region) -> None:
        self.members, self.region = members, region

    def value(self, draw: Draw, share: Fraction) -> Any:
        """Return the number of a draw, at a point on the way from the least numbers of the region to the greatest."""
        at = self.members.index(draw)
        kind = self.region.kinds[at]
        least, greatest = _ends(self.region)
        found = (1 - share) * least[at] + share * greatest[at]
        found = -found if kind[0] == "-" else found
        return math.floor(found * 2**53) * 2.0**-53 if kind.endswith("uniform") else float(found)


class _Line(NamedTuple):
    kind: str
    scale: Fraction
    shift: Fraction
    margin: Fraction


def compared(name: str, number: Deferred, other: Deferred) -> bool | None:
    """Return what a comparison of two unknown numbers says, after a fork; None where there is no law for it."""
    one, two = _line_of(number), _line_of(other)
    draws = number._draw, other._draw
    if one is None or two is None or draws[0] is draws[1]:
        return None
    members, region = _joined(draws, (one.kind, two.kind))
    first, second = members.index(draws[0]), members.index(draws[1])
    kinds = one.kind, two.kind
    is_race = [kind.endswith("gumbel") for kind in region.kinds]
    if (region.kinds[first], region.kinds[second]) != kinds or "-gumbel" in kinds or any(is_race) != all(is_race):
        return None
    ratio, margin = one.scale / two.scale, one.margin + two.margin
    if not 1 / Fraction(_UNEQUAL) <= ratio <= _UNEQUAL or (is_race[0] and ratio != 1):
        return None
    less = Edge(first, second, ratio, (one.shift - two.shift + margin) / two.scale)
    greater = Edge(second, first, 1 / ratio, (two.shift - one.shift + margin) / one.scale)
    known = getattr(operator, name)
    for sign, edge in ((-1, less), (1, greater)):
        if _is_implied(region.edges, edge):
            return bool(known(sign, 0))
    follower = draws[0].follower
    if len(members) > _MOST:
        follower.not_followed(f"more than {_MOST} numbers that are not known yet were compared with one another")
    signature = (name, shape(number), shape(other), region, first, second, draws[0].support)
    result, region = follower.choose(signature, partial(_branches, follower, region, known, less, greater))
    group = Group(members, region)
    for member in members:
        member.group = group
    return bool(result)


def _line_of(number: Deferred) -> _Line | None:
    """Return a number as p X + c with p > 0, where X or -X is drawn, and how far off it may be; None if it is not."""
    draw = number._draw
    is_uniform = type(draw) is Draw and draw.is_float
    kind = "uniform" if is_uniform else draw.kind
    if (
        kind not in _POINTS
        or type(draw.group) not in (type(None), Group)
        or size_of(draw.support) != 2 ** (53 if is_uniform else 64)
    ):
        return None
    value, scale, shift = draw.value(draw.support[1]), Fraction(1), Fraction(0)
    most, margin = (Fraction(1), _UNIT) if is_uniform else (_FARTHEST, _FARTHEST / 2**48 + Fraction(1, 2**50))
    for step, function, constant in number._steps:
        value = function(value) if constant is None else function(value, constant)
        if not isinstance(value, float):  # a number of single precision is rounded otherwise
            return None
        if constant is None:
            if step not in ("neg", "float", "float64"):
                return None
            scale, shift = (-scale, -shift) if step == "neg" else (scale, shift)
            continue
        if not isinstance(constant, (int, float, np.integer)):
            return None
        known = Fraction(float(constant)) if isinstance(constant, float) else Fraction(int(constant))
        if step in ("add", "radd", "sub", "rsub"):
            known = -known if step == "sub" else known
            scale, shift = (-scale, known - shift) if step == "rsub" else (scale, known + shift)
            most += abs(known)
        elif step in ("mul", "rmul", "truediv"):
            known = 1 / known if step == "truediv" else known
            scale, shift, most, margin = scale * known, shift * known, most * abs(known), margin * abs(known)
        else:
            return None
        margin += 3 * (most + margin) * _UNIT + _LEAST  # the step rounds, and a known integer is made a float
        if not scale or most > 2**200:
            return None
    if scale < 0 and kind != "laplace":
        kind = f"-{kind}"
    return _Line(kind, abs(scale), shift, margin)


def _joined(draws: tuple[Draw, Draw], kinds: tuple[str, str]) -> tuple[list[Draw], Region]:
    """Return the draws that are linked with one of two, and what is known of them."""
    groups = [draw.group or Group([draw], Region((kind,), ())) for draw, kind in zip(draws, kinds, strict=True)]
    one, two = groups
    if one is two:
        return one.members, one.region
    by = len(one.members)
    moved = tuple(edge._replace(low=edge.low + by, high=edge.high + by) for edge in two.region.edges)
    return one.members + two.members, Region(one.region.kinds + two.region.kinds, one.region.edges + moved)


def _branches(follower: Any, region: Region, known: Any, less: Edge, greater: Edge) -> Branches:
    _, before = probability(region)
    data, weights = [], []
    for sign, edge in ((-1, less), (1, greater)):
        after = _with(region, edge)
        if after is None:
            follower.not_followed("numbers that are not known yet were compared in a circle")
            raise AssertionError("the run has ended")
        weight = probability(after)[0] * _TOTAL // before
        if weight > 0:
            data.append((known(sign, 0), after))
            weights.append(weight)
    if not data:
        follower.not_followed(_BAND)
    return Branches(data, weights, _TOTAL, _BAND)


def _is_implied(edges: tuple[Edge, ...], wanted: Edge) -> bool:
    """Test whether a comparison follows from others."""

    def ways(at: int, ratio: Fraction, shift: Fraction, passed: tuple[int, ...]) -> Iterator[bool]:
        if at == wanted.high and passed:
            yield ratio == wanted.ratio and shift >= wanted.shift
        for edge in edges:
            if edge.low == at and edge.high not in passed:
                yield from ways(edge.high, ratio * edge.ratio, shift * edge.ratio + edge.shift, (*passed, at))

    return any(ways(wanted.low, Fraction(1), Fraction(0), ()))


def _with(region: Region, edge: Edge) -> Region | None:
    """Return a region with one more comparison, without those that follow; None if a circle is left."""
    edges = [*region.edges, edge]
    for each in region.edges:
        others = tuple(other for other in edges if other is not each)
        if _is_implied(others, each):
            edges.remove(each)
    parts = {number: number for number in range(len(region.kinds))}
    for low, high, _, _ in edges:
        old, new = parts[low], parts[high]
        if old == new:
            return None
        parts = {number: new if part == old else part for number, part in parts.items()}
    return Region(region.kinds, tuple(edges))


@lru_cache(maxsize=20_000)
def probability(region: Region) -> sums.Bracket:
    """Return a bracket around the probability of a region, in units of 2^-1024."""
    left, found = set(range(len(region.kinds))), (sums.ONE, sums.ONE)
    while left:
        root = max(sorted(left), key=lambda number: sum(number in edge[:2] for edge in region.edges))
        passed: list[int] = []
        if len([edge for edge in region.edges if root in edge[:2]]) == 0:
            passed.append(root)  # a draw without comparisons is not cut off
        elif region.kinds[root] == "gumbel":
            low, high = _race_total(_racing(region, root, None, passed))
            lost = math.ceil(_TAIL * len(passed) * sums.ONE)
            found = sums.product(found, (max(0, low - lost), min(sums.ONE, high)))
        else:
            low, high = sums.integral(_density(region, root, None, passed))
            found = sums.product(found, (max(0, low), min(sums.ONE, high)))
        left -= set(passed)
    return found


def _density(region: Region, number: int, parent: int | None, passed: list[int]) -> sums.Pieces:
    """Return the density of a draw, times the probability of all comparisons behind it as seen from its parent."""
    passed.append(number)
    found = _DENSITIES[region.kinds[number]]
    domain = found[0][0], found[-1][1]
    for edge in region.edges:
        if number not in edge[:2] or parent in edge[:2]:
            continue
        is_low = edge.low == number  # then the other draw lies above ratio y + shift
        other = _density(region, edge.high if is_low else edge.low, number, passed)
        slope, shift = (edge.ratio, edge.shift) if is_low else (1 / edge.ratio, -edge.shift / edge.ratio)
        found = sums.multiplied(found, sums.mass_beside(other, slope, shift, domain, not is_low))
    return found


_Race = list[tuple[sums.Bracket, sums.Bracket]]  # c and r of terms c e^(-ry)


def _racing(region: Region, number: int, parent: int | None, passed: list[int]) -> _Race:
    """Return the same for E = e^-X of Gumbel noise X, without its own density e^-y."""
    passed.append(number)
    found: _Race = [(_WHOLE, (0, 0))]
    for edge in region.edges:
        if number not in edge[:2] or parent in edge[:2]:
            continue
        is_low = edge.low == number  # then the other one is less than e^-shift y
        terms = _racing(region, edge.high if is_low else edge.low, number, passed)
        factor = sums.power_of_e(max(Fraction(-200), min(edge.shift, Fraction(200))) * (-1 if is_low else 1))
        message: _Race = []
        for c, r in terms:
            rate = r[0] + sums.ONE, r[1] + sums.ONE
            c, rate = sums.quotient(c, rate), sums.product(rate, factor)
            message += [(c, (0, 0)), ((-c[1], -c[0]), rate)] if is_low else [(c, rate)]
        found = [
            (sums.product(c, d), (r[0] + s[0], r[1] + s[1])) for c, r in found for d, s in message
        ]  # fmt: skip
    return found


def _race_total(terms: _Race) -> sums.Bracket:
    parts = [sums.quotient(c, (r[0] + sums.ONE, r[1] + sums.ONE)) for c, r in terms]
    return sum(low for low, _ in parts), sum(high for _, high in parts)


def _ends(region: Region) -> tuple[list[Fraction], list[Fraction]]:
    """Return the least numbers of the draws of a region, and the greatest, between two ends."""
    least, greatest = (list(ends) for ends in zip(*(_POINTS[kind] for kind in region.kinds), strict=True))
    for _ in region.kinds:
        for low, high, ratio, shift in region.edges:
            least[high] = max(least[high], ratio * least[low] + shift + _GAP)
            greatest[low] = min(greatest[low], (greatest[high] - shift - _GAP) / ratio)
    return least, greatest


Deferred._compared = staticmethod(compared)  # type: ignore[method-assign]
