"""Bound how seldom guesses are wrong, by a linear program whose dual solution is checked as a proof.

Of m canaries the clearest are guessed, in groups: first r_1 of them, then r_2, and so on. A wrong guess of group g
costs a whole number of points a_g, fewer in each later group; D is the sum, to which a drawn number V may be added. One
group at one point counts wrong guesses.

Put a canary of group g aside, and let x be the points of all others. At each point (epsilon, delta) of a claim and for
all numbers 0 <= phi_g(x) <= 1

    E sum over guesses of phi_g(x) (1[it is right] - e^epsilon 1[it is wrong])  <=  m delta.

So any y(k, g, x) >= 0, a multiple of such numbers for each epsilon_k, proves with Y = sum of y(k, ., .), Z = sum of
e^epsilon_k y(k, ., .) over k, and q(x) = P(x + V <= d)

    P(D + V <= d) <= max over x of (q(x) - sum over g of r_g Y(g, x) + x max over g of (Y(g, x) + Z(g, x - a_g)) / a_g)
                     + m sum over k of delta_k max over g and x of y(k, g, x).

Against a mechanism that tells much in few runs, a q that falls slowly is better than a step. A solver proposes y, on
some of the groups and numbers of points, with straight lines between them. The right side, rounded up, is a bound
whatever the solver did. `docs/canaries.md` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from audit.api import Claim, GaussianClaim

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

_POINTS, _BELOW, _ABOVE = 28, 0.65, 0.25  # epsilons of a program, and their reach around the log odds, in units of mu
_ALONE = 2.0  # the unit in place of mu for one group, whose log odds are one number
_ANCHORS = 4  # groups at which multipliers are free at first
_WINDOW = 2  # epsilons on either side of a limit at which multipliers are free afterwards
_BEFORE, _AFTER, _FARTHEST = 3.5, 8.0, 40.0  # standard deviations, or points: how far multipliers reach on either side
_LARGEST = 6_000  # multipliers of a program that is solved, in about a second
_WIDENED, _THIN = 1.12, 12  # ratio of successive distances between nodes, and how many nodes lie below
_ROUNDED = 1e-13  # relative: a sum of a few dozen products
_DELTA_UP, _DELTA_LEAST = 1 + 1e-9, 1e-15  # cover the rounding of a profile
_HALVINGS = 40
_FIRST, _FINAL = 1 / 19, 1.48  # ranks between which points fall, in units of the best number of guesses
_WRONG = 29  # guesses at that number when mu is 1, which is where a count alone tells most of 100,000 canaries
_ADDED = (0.0, 0.3, 0.5, 0.85, 1.0)  # the distribution function of V at its knots, which were found by trial
_NEAR, _FAR = 0.75, 0.8  # two of them, in units of the points of a first guess, and of the last one
_STEADY = 17, 1.06  # where V ends: as many wrong guesses at their mean cost, or a share of all points
_ASKED = 0.8  # a guess at a bound, in units of the mu whose ideal scores cost as much


@dataclass(frozen=True)
class Weights:
    """Hold how many canaries are guessed in all up to each group, what a wrong guess of a group costs, and V."""

    cuts: tuple[int, ...]
    points: tuple[int, ...]
    width: int = 0  # points up to which V, which is added to the costs, is drawn; 0: nothing is added

    @classmethod
    def even(cls, mu: float, canaries: int, steps: int) -> Weights:
        """Return points from `steps` down to 1 at equal steps of the log odds of ideal scores for `mu`.

        So they fall in proportion to the score, between parts of a number of guesses of which 29 are wrong, on average,
        if mu is 1, 5 if it is 2, and 116 if it is 0.5. There is no need to be exact: these were found by trial.
        """
        most = _WRONG * mu ** (-2.5 if mu > 1 else -2.0)
        guesses = _last(lambda cut: float(cls((int(cut),), (1,)).wrong(mu, canaries)[0]) <= most, 1.0, float(canaries))

        def has_more(rank: float) -> Callable[[float], bool]:
            return lambda z: bool(canaries * (special.ndtr(mu / 2 - z) + special.ndtr(-mu / 2 - z)) > rank)

        first, final = (_last(has_more(part * guesses), 0.0, 20.0) for part in (_FIRST, _FINAL))
        scores = np.linspace(first, final, steps + 1)[1:]
        cuts = np.round(canaries * (special.ndtr(mu / 2 - scores) + special.ndtr(-mu / 2 - scores))).astype(int)
        cuts = np.minimum(cuts, canaries)
        kept = [place for place in range(steps) if cuts[place] > (cuts[place - 1] if place else 0)]
        found = cls(tuple(int(cuts[place]) for place in kept), tuple(steps - place for place in kept))
        wrong = found.wrong(mu, canaries)
        cost = float(wrong @ np.array(found.points))
        return replace(found, width=round(min(_STEADY[0] * cost / wrong.sum(), _STEADY[1] * cost)))

    def added(self, most: Any) -> FloatArray:
        """Return the probabilities that V is at most some whole numbers."""
        if not self.width:
            return np.asarray(most >= 0, dtype=float)
        near = _NEAR * self.points[0]
        knots = [-1.0, 0.4 * near, near, max(near, _FAR * self.width), max(near, self.width)]
        return np.asarray(np.interp(most, knots, _ADDED))

    def draw(self, rng: np.random.Generator) -> int:
        """Return V."""
        return int(np.sum(self.added(np.arange(self.points[0] + self.width)) <= rng.random()))

    @property
    def sizes(self) -> FloatArray:
        """The number of guesses of each group."""
        return np.diff(np.array(self.cuts, float), prepend=0.0)

    @property
    def steps(self) -> tuple[int, ...]:
        """The differences of successive points: D is the sum of these times the wrong guesses up to each cut."""
        return tuple(a - b for a, b in pairwise((*self.points, 0)))

    def wrong(self, mu: float, canaries: int) -> FloatArray:
        """Return how many guesses of each group are wrong about ideal scores for `mu`, on average."""
        shares = np.array(self.cuts, float) / canaries
        low, high = np.zeros_like(shares), shares / 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            fits = middle + special.ndtr(special.ndtri(middle) + mu) <= shares
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return np.asarray(np.diff(low * canaries, prepend=0.0))


@dataclass(frozen=True, eq=False)
class _Program:
    """The program for an observed D: the epsilons, and at which numbers of points multipliers are free."""

    weighing: Weights
    most: int  # D + V that is tested: P(D + V <= most)
    canaries: int
    ideal: float  # mu whose ideal scores cost that much
    epsilons: FloatArray
    nodes: FloatArray  # the multipliers are constant below the first one, and 0 from the last one on

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, weighing: Weights, most: int, canaries: int) -> _Program:
        points = np.array(weighing.points, float)

        mean = float(np.sum(1 - weighing.added(np.arange(points[0] + weighing.width))))  # of V

        def costs_more(mu: float) -> bool:
            return bool(points @ weighing.wrong(mu, canaries) > max(most - mean, points[0] / 2))

        ideal = _last(costs_more, 0.0, 20.0)
        wrong = np.maximum(weighing.wrong(ideal, canaries), 0.1)
        odds = np.log(np.maximum(weighing.sizes - wrong, 0.5) / wrong)
        reach = ideal if len(points) > 1 else _ALONE
        epsilons = np.linspace(max(0.0, odds.min() - _BELOW * reach), odds.max() + _ABOVE * reach, _POINTS)
        spread = math.sqrt(float(points**2 @ wrong)) + points[0]
        room = _LARGEST // (min(_ANCHORS, len(points)) * _POINTS)
        return cls(weighing, most, canaries, ideal, epsilons, _nodes(most, spread, weighing, room))

    def multipliers(self, claim: Claim) -> _DualCertificate | None:
        """Return the multipliers that a solver proposes for a claim; None where it finds none.

        All epsilons below a limit that depends on group and node have their largest multiplier, and those above none. A
        program for few groups shows about where the limits are, and one for all groups is asked near them.
        """
        deltas, points = _profile(claim, self.epsilons), np.array(self.weighing.points, float)
        chosen = np.unique(np.round(np.linspace(0, len(points) - 1, _ANCHORS)).astype(int))
        anchors = np.array([np.interp(points, points[chosen][::-1], row) for row in np.eye(len(chosen))[::-1]]).T
        free = np.ones((len(self.epsilons), len(chosen), len(self.nodes) - 1), bool)
        proposed = _propose(self, deltas, anchors, free, ~free)
        if proposed is not None and len(chosen) < len(points):
            limits = self._limits(proposed)
            distance = np.arange(len(self.epsilons))[:, None, None] - limits
            proposed = _propose(self, deltas, np.eye(len(points)), np.abs(distance) <= _WINDOW, distance < -_WINDOW)
        return None if proposed is None else self.proved(proposed)

    def _limits(self, y: FloatArray) -> FloatArray:
        """Return up to which epsilon, by its place, multipliers are the largest ones: shape (groups, nodes)."""
        largest = y.max(axis=(1, 2))
        below = np.r_[0.0, np.cumsum(largest)]
        reached = below + 1e-12 * below[-1] * np.arange(len(below))
        return np.asarray(np.interp(y.sum(axis=0), reached, np.arange(len(below)) - 0.5))

    def proved(self, y: FloatArray) -> _DualCertificate:
        """Return what multipliers prove, y of shape (epsilons, groups, nodes but the last)."""
        sizes, points = self.weighing.sizes, np.array(self.weighing.points)
        x = np.arange(int(self.nodes[-1]) + points[0] + 1)
        own, other = y.sum(axis=0), np.einsum("k,kgx->gx", np.exp(self.epsilons), y)
        right = np.array([self._between(row, x) for row in own])
        wrong = np.array([self._between(row, x - cost) for row, cost in zip(other, points, strict=True)])
        worst = x * ((right + wrong) / points[:, None]).max(axis=0)
        gained = sizes @ right
        base = float(np.max(self.weighing.added(self.most - x) - gained + worst + _ROUNDED * (1 + gained + worst)))
        return _DualCertificate(self.epsilons, base, y.max(axis=(1, 2)), self.canaries)

    def _between(self, values: FloatArray, x: Any) -> FloatArray:
        return np.asarray(np.interp(x, self.nodes, np.r_[values, 0.0]))


@dataclass(frozen=True, eq=False)
class _DualCertificate:
    """Hold what multipliers prove: the part that no delta enters, rounded up, and the largest one of each epsilon."""

    epsilons: FloatArray
    base: float
    largest: FloatArray
    canaries: int

    def tail(self, claim: Claim) -> float:
        """Return an upper bound of P(D + V <= most) under a claim."""
        up = _profile(claim, self.epsilons) * _DELTA_UP + _DELTA_LEAST
        return float((self.base + self.canaries * float(self.largest @ up)) * (1 + _ROUNDED))


def _nodes(most: int, spread: float, weighing: Weights, room: int) -> FloatArray:
    """Return whole numbers around `most`: all, where there is room, else sparser with the distance."""
    near, first = weighing.points[0], most - weighing.width
    low, high = max(0, math.floor(first - _BEFORE * spread)), math.ceil(most + max(_AFTER * spread, _FARTHEST))
    if high - low < room:
        return np.arange(low, high + 1.0)
    start, end = max(0, first - near), most + near
    above, step = [float(end)], 1.0
    while above[-1] < high:
        above.append(above[-1] + round(step))
        step *= _WIDENED
    return np.unique(np.r_[np.round(np.linspace(low, start, _THIN)), np.arange(start, end), above])


def _propose(
    setting: _Program, deltas: FloatArray, anchors: FloatArray, free: BoolArray, full: BoolArray
) -> FloatArray | None:
    """Return multipliers by a solver, shape (epsilons, groups, nodes but the last).

    Those of groups are `anchors`, shape (groups, held), times those that are held, of which some are free, some the
    largest of their epsilon, and the rest 0.
    """
    from scipy import optimize, sparse

    sizes, odds = setting.weighing.sizes, np.exp(setting.epsilons)
    total, largest, (lines, held, places) = sizes.sum(), odds.max(), free.shape
    x = np.arange(setting.nodes[0], setting.nodes[-1] + setting.weighing.points[0] + 1)
    own, line = np.flatnonzero(free), np.repeat(np.arange(lines), held * places)
    widths = [len(own), lines, held * places, held * places, len(x), 1]  # free, largest, Y, Z, slope, base
    made = [
        sparse.csr_matrix((np.ones(len(own)), (own, np.arange(len(own)))), (free.size, len(own))),
        sparse.csr_matrix((np.ones(full.sum()), (np.flatnonzero(full), line[full.ravel()])), (free.size, lines)),
    ]
    one = sparse.identity(held * places)
    sums = [sparse.kron(row[None, :], one) for row in (np.ones(lines), odds / largest)]
    equal = [[*(sums[0] @ part for part in made), -one], [*(sums[1] @ part for part in made), None, -one]]
    of_line = sparse.csr_matrix((np.ones(len(own)), (np.arange(len(own)), line[own])), (len(own), lines))
    rows, at = [[sparse.identity(len(own)), -of_line]], _lines(setting.nodes, x)
    for group, cost in zip(anchors, setting.weighing.points, strict=True):
        other = largest * _lines(setting.nodes, x - cost)
        terms = sparse.kron(group[None, :], at), sparse.kron(group[None, :], other)
        rows.append([None, None, *terms, -cost * sparse.identity(len(x))])
    gained = -sparse.kron((sizes @ anchors / total)[None, :], at)
    rows.append([None, None, gained, None, sparse.diags(x / total), -np.ones((len(x), 1))])
    price = np.zeros(sum(widths))
    price[widths[0] : sum(widths[:2])], price[-1] = setting.canaries * deltas / total, 1.0
    upper, exact = _matrix(rows, widths), _matrix(equal, widths)
    limits = np.r_[np.zeros(upper.shape[0] - len(x)), -setting.weighing.added(setting.most - x)]
    found = optimize.linprog(price, upper, limits, exact, np.zeros(exact.shape[0]), method="highs-ipm")
    if found.x is None:
        return None
    y = sum(part @ piece for part, piece in zip(made, np.split(found.x[: sum(widths[:2])], [len(own)]), strict=True))
    return np.asarray(np.einsum("khx,gh->kgx", np.maximum(y, 0.0).reshape(free.shape) / total, anchors))


def _matrix(rows: list[list[Any]], widths: list[int]) -> Any:
    from scipy import sparse

    tall = [next(block.shape[0] for block in row if block is not None) for row in rows]
    blocks = [
        [sparse.csr_matrix((size, width)) if block is None else block
         for block, width in zip([*row, *[None] * (len(widths) - len(row))], widths, strict=True)]
        for row, size in zip(rows, tall, strict=True)
    ]  # fmt: skip
    return sparse.bmat(blocks, format="csr")


def _lines(nodes: FloatArray, x: FloatArray) -> Any:
    """Return how values at nodes, but for the last, make values at x: straight lines between."""
    from scipy import sparse

    inside = np.clip(x, nodes[0], nodes[-1])
    after = np.clip(np.searchsorted(nodes, inside, "right"), 1, len(nodes) - 1)
    share = (inside - nodes[after - 1]) / (nodes[after] - nodes[after - 1])
    row = np.arange(len(x))
    values, columns = np.r_[1 - share, share], np.r_[after - 1, after]
    return sparse.csr_matrix((values, (np.r_[row, row], columns)), (len(x), len(nodes)))[:, :-1]


def _profile(claim: Claim, epsilons: FloatArray) -> FloatArray:
    return np.array([claim.profile(float(epsilon)) for epsilon in epsilons])


@lru_cache(maxsize=64)
def least_tail(claim: Claim, weighing: Weights, most: int, canaries: int) -> float:
    """Return an upper bound of P(D + V <= most) under a claim; 1.0 where the program proves nothing."""
    setting = _Program.of(weighing, most, canaries)
    found = setting.multipliers(claim) if setting.ideal > 0 else None
    return 1.0 if found is None else min(1.0, found.tail(claim))


@lru_cache(maxsize=64)
def program_mu(weighing: Weights, most: int, canaries: int, level: float, guess: float = 0.0) -> float:
    """Return a mu up to which Gaussian claims allow D + V <= most with probability at most `level`; 0.0 if none.

    The multipliers for one mu are a proof for any other: their bound of the tail increases with the deltas, and so with
    mu. They are asked for at a guess, by default 0.8 times the mu whose ideal scores cost as much, and for one group at
    what that proved.
    """
    setting = _Program.of(weighing, most, canaries)
    if setting.ideal <= 0:
        return 0.0
    first = _proved_mu(setting, guess or _ASKED * setting.ideal, level)
    if not first or len(weighing.cuts) > 1:  # where it takes long, and tells little more
        return first
    return max(first, _proved_mu(setting, first, level))


def _proved_mu(setting: _Program, asked: float, level: float) -> float:
    """Return the mu up to which the multipliers for one mu prove a tail of at most `level`; 0.0 if for none."""
    found = setting.multipliers(GaussianClaim(asked))
    if found is None:
        return 0.0
    return _last(lambda mu: found.tail(GaussianClaim(mu)) <= level, 0.0, setting.ideal)


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest number between two for which a falling condition holds, by halving; `low` if for none."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
