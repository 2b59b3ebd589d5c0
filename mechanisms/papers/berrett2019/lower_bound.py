"""Theorem 2.5 of Berrett & Butucea (2019), the lower bound: on its least favorable family, and for every rule.

The bump is u(t) = clip(2 - 8 t, 0, 1), C_phi = 8^-beta, C_1 = C_3 = 1, the sites are ((2 j_1 + 1) / (4 q), ...). The
excess risk of EVERY epsilon-locally private rule from N users, averaged over the signs of the balls, is at least

    (1/2) m w L C_phi q^-beta (1 - sqrt(D)),    D = 2 N (e^epsilon - 1)^2 w^2 (L C_phi q^-beta)^2.

Every rule: a private channel on k inputs is a mixture of columns with entries 1 and e^epsilon (Kairouz, Oh & Viswanath
2014), so that the largest divergence of a message is a linear program in 2^k variables, and N users tell at most N
times that. The least error of every interactive rule of a few users is exact, by backward induction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from audit import InequalityCheck, RateCheck
from mechanisms.papers.berrett2019.classifier import noisy_statistic
from mechanisms.papers.berrett2019.evaluator import CellTable
from mechanisms.papers.berrett2019.grid import FloatArray
from mechanisms.papers.berrett2019.mechanism import noise_scale
from mechanisms.papers.berrett2019.theorems import ball_volume
from mechanisms.papers.rows import BERRETT, Cases


@dataclass(frozen=True)
class LeastFavorableFamily:
    """2^m distributions on the unit cube, one for each vector of signs of m balls.

    With probability m w the point is uniform in one of the balls of radius 1 / (8 q), ball i having
    eta = (1 + sign_i * bump) / 2; else it is uniform on [1/2, 1]^d, where eta = 1/2.
    """

    dim: int
    smoothness: float  # beta
    margin_exponent: float  # gamma
    lipschitz: float  # L
    margin_constant: float  # C0
    users: float  # N, of both halves
    epsilon: float = 1.0

    @property
    def sites_per_axis(self) -> int:
        """q = ceil((N epsilon^2)^(1 / (2 beta + 2 d)))."""
        raw = (self.users * self.epsilon**2) ** (1 / (2 * self.smoothness + 2 * self.dim))
        return max(1, math.ceil(raw * (1 - 1e-12)))  # an exact power must not be pushed up by rounding

    @property
    def bump(self) -> float:
        """L C_phi q^-beta: |2 eta - 1| on the balls."""
        return self.lipschitz * (8 * self.sites_per_axis) ** -self.smoothness

    @property
    def balls(self) -> int:
        """m = floor(q^(d - beta gamma))."""
        raw = self.sites_per_axis ** (self.dim - self.smoothness * self.margin_exponent)
        return max(1, math.floor(raw * (1 + 1e-12)))

    @property
    def weight(self) -> float:
        """w, the mass of one ball: the largest c q^-d with m w <= min(1, C0 (bump / 2)^gamma) for every q."""
        slope = self.lipschitz * 8**-self.smoothness / 2
        return min(1.0, self.margin_constant * slope**self.margin_exponent) * self.sites_per_axis**-self.dim

    @property
    def coin_flip_excess(self) -> float:
        """Excess of guessing: m w bump / 2."""
        return self.balls * self.weight * self.bump / 2

    @property
    def information(self) -> float:
        """D, the bound on the information of N private releases about one sign."""
        return 2 * self.users * math.expm1(self.epsilon) ** 2 * (self.weight * self.bump) ** 2

    @property
    def lower_bound(self) -> float:
        """The least average excess of any locally private rule."""
        return self.coin_flip_excess * max(0.0, 1 - math.sqrt(self.information))

    @property
    def site_points(self) -> FloatArray:
        """Centers of the m balls that are used, shape (m, dim): the first m sites in row-major order."""
        index = np.unravel_index(np.arange(self.balls), (self.sites_per_axis,) * self.dim)
        return (2 * np.stack(index, axis=1) + 1) / (4 * self.sites_per_axis)

    @property
    def radius(self) -> float:
        """1 / (8 q), the radius of the balls."""
        return 1 / (8 * self.sites_per_axis)

    def margin(self, points: FloatArray, signs: FloatArray) -> FloatArray:
        """Return 2 eta - 1 on [0, 1]^d for given signs of the balls, rings and their surroundings included."""
        gaps = np.linalg.norm(points[:, None, :] - self.site_points, axis=2) * self.sites_per_axis
        return np.asarray((self.bump * np.clip(2 - 8 * gaps, 0, 1) * signs).sum(axis=1))

    def private_excess(self, factor: float = 1.0) -> float:
        """Return the average excess of the private classifier with h = 1 / (4 q); `factor` multiplies the noise."""
        # Half of the users are in each half. The grid is the kindest to the classifier: every ball lies in the inner
        # cube of its own cell. Signs + and - are equally likely: each in turn, half the time.
        lean, zero = self.weight * self.bump, 0.0
        plus, minus = (self.weight, lean, zero, lean, self.balls / 2), (self.weight, -lean, lean, zero, self.balls / 2)
        return CellTable(self.dim, *np.array([plus, minus]).T).expected_excess(self.users / 2, self.epsilon, factor)

    def draw_excess(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw the excess of the private classifier with fresh signs."""
        signs, half = rng.choice([-1.0, 1.0], size=(replicates, self.balls)), int(self.users) // 2
        masses = np.append(np.full(self.balls, self.weight), max(0.0, 1 - self.balls * self.weight))
        counts = [rng.multinomial(half, masses / masses.sum(), size=replicates)[:, :-1] for _ in range(2)]
        ones = rng.binomial(counts[1], (1 + signs * self.bump) / 2)
        voted = noisy_statistic(counts[0], ones, (half, half), noise_scale(self.dim, self.epsilon), rng)
        return np.asarray(self.weight * self.bump * ((voted >= 0) != (signs > 0)).sum(axis=1))


# d = 1, beta = 1, gamma = 0, L = 1, C0 = 1, and d = 2, beta = 1, gamma = 1, L = 1, C0 = 4: users, epsilon -> family
line_family = partial(LeastFavorableFamily, 1, 1.0, 0.0, 1.0, 1.0)
plane_family = partial(LeastFavorableFamily, 2, 1.0, 1.0, 1.0, 4.0)
_USERS = (1e4, 1e6, 1e8)
CLASS = ("hölder", "margin", "weight")
FAMILIES = {"d=1 gamma=0": line_family, "d=2 gamma=1": plane_family}
SIZES = {"d=1 gamma=0": tuple(10**k for k in range(4, 15)), "d=2 gamma=1": (10**6, 10**8, 10**10, 10**12)}


def evaluate(family: str, number: str, users: int, *arguments: float) -> float:
    """Return a number of a family, by the name of its property or method."""
    value = getattr(FAMILIES[family](users), number)
    return float(value(*arguments) if callable(value) else value)


def check_bound(name: str, family: str, users: Sequence[int], number: str, *arguments: float) -> InequalityCheck:
    """Return the check that an excess, a number of the family, keeps its bound."""
    return BERRETT.quote(name, partial(bound_cases, family, tuple(users), number, *arguments), ">=")


def bound_cases(family: str, users: tuple[int, ...], number: str, *arguments: float) -> Cases:
    """Compare an excess with its bound, for some numbers of users."""
    return [(f"N={n:g}", evaluate(family, number, n, *arguments), evaluate(family, "lower_bound", n)) for n in users]


def check_drawn(name: str, family: str, users: int) -> InequalityCheck:
    """Return the check that the drawn excess of the private vote keeps its bound."""
    known = FAMILIES[family](users)
    return InequalityCheck(
        **BERRETT.head(f"{name}, N={users:g}"),
        losses=known.draw_excess,
        bound=known.lower_bound,
        support=(0.0, 2 * known.coin_flip_excess * (1 + 1e-9)),  # no or all balls
        sense=">=",
        budget=2_000,
    )


def class_cases(family: str, what: str) -> Cases:
    """Compare the family with its class: "hölder", "margin" or "weight"; the first on a fine grid around two balls."""
    for users in _USERS:
        known, where = FAMILIES[family](users), f"{family} N={users:g}"
        if what == "hölder":
            yield where, _holder_quotient(known), known.lipschitz
        elif what == "margin":
            leans = known.margin(known.site_points, np.ones(known.balls)) / 2
            for at in (known.bump / 4, known.bump / 2, known.bump):
                mass = known.weight * np.count_nonzero((leans > 0) & (leans <= at * (1 + 1e-12)))
                yield f"{where} t={at:.3g}", mass, known.margin_constant * at**known.margin_exponent
        else:
            yield f"{where} mass", known.balls * known.weight, 1.0
            yield f"{where} reach of the sites", known.site_points.max() + known.radius, 0.5


def _holder_quotient(family: LeastFavorableFamily) -> float:
    """Largest |eta(x) - eta(x')| / |x - x'|^beta over pairs of neighboring and random points near the first ball."""
    rng = np.random.default_rng(7)
    signs = np.where(np.arange(family.balls) % 2 == 0, 1.0, -1.0)
    reach = 1.0 / family.sites_per_axis
    start = rng.random((20_000, family.dim)) * reach
    step = rng.normal(size=start.shape) * reach * 10.0 ** rng.uniform(-4, 0, size=(len(start), 1))
    end = np.clip(start + step, 0, 1)
    change = np.abs(family.margin(start, signs) - family.margin(end, signs)) / 2
    return float(np.max(change / np.linalg.norm(end - start, axis=1) ** family.smoothness))


def density_cases(family: str) -> Cases:
    """Compare the density on the balls, of mass w and radius r each, with that at N = 1e4."""
    known = (FAMILIES[family](users) for users in _USERS)
    first, *others = (each.weight / (ball_volume(each.dim) * each.radius**each.dim) for each in known)
    return [(f"{family} N={users:g}", each, first) for users, each in zip(_USERS[1:], others, strict=True)]


def factor_cases(information: float) -> Cases:
    """Compare the family's bound, as a part of the mass m w bump, with the factor 1/4 of the text, at a given D."""
    for users in _USERS:
        known = line_family(users)
        # D grows like L^2 while gamma = 0 keeps the weight; 1e-9 keeps rounding from pushing D above its limit
        known = replace(known, lipschitz=math.sqrt(information * (1 - 1e-9) / known.information))
        factor = known.lower_bound / (known.balls * known.weight * known.bump)
        yield f"D = {information:g} N={users:g}", factor, 0.25


def inputs(weight: float, lean: float, parts: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the two laws of one user's record: labels 1 and 0 of the ball, then the rest in equal parts."""
    one = np.array([weight * (1 + lean) / 2, weight * (1 - lean) / 2, *[(1 - weight) / parts] * parts])
    return one, one[[1, 0, *range(2, len(one))]]


def staircases(size: int, epsilon: float) -> FloatArray:
    """Return all columns with entries 1 and e^epsilon, shape (2^k, k)."""
    return np.exp(epsilon * np.array(list(product((0.0, 1.0), repeat=size))))


def best_channel(columns: FloatArray, gains: FloatArray) -> float:
    """Return the largest sum of theta_S gain_S over all channels made of the columns."""
    found = linprog(-gains, A_eq=columns.T, b_eq=np.ones(columns.shape[1]), bounds=(0, None))
    return float(-found.fun)


def most_divergence(epsilon: float, weight: float, lean: float, parts: int = 1) -> float:
    """Return the largest divergence of one message, over all epsilon-private channels."""
    first, second = inputs(weight, lean, parts)
    columns = staircases(len(first), epsilon)
    right, change = columns @ second, columns @ (first - second)
    t = change / right
    # (1 + t) log(1 + t) - t: the difference from the divergence sums to 0 over the columns of a channel
    gains = right * np.where(np.abs(t) < 1e-3, t**2 / 2 - t**3 / 6 + t**4 / 12, (1 + t) * np.log1p(t) - t)
    largest = float(gains.max())  # linear programs are solved up to 1e-9 or so
    return largest * best_channel(columns, gains / largest)


@dataclass(frozen=True)
class SignTest:
    """All rules that guess one sign from a few users, for the mass of a ball and |2 eta - 1| there."""

    epsilon: float
    weight: float
    lean: float

    def success(self, users: int, belief: float = 0.5) -> float:
        """Return the largest probability of a right guess of every interactive rule, at a prior belief in +."""
        if users == 0:
            return max(belief, 1 - belief)
        first, second = inputs(self.weight, self.lean)
        columns = staircases(len(first), self.epsilon)
        left, right = belief * (columns @ first), (1 - belief) * (columns @ second)
        values = {round(p, 14): self.success(users - 1, p) for p in left / (left + right)}
        gains = [(a + b) * values[round(a / (a + b), 14)] for a, b in zip(left, right, strict=True)]
        return best_channel(columns, np.array(gains))

    def bound(self, users: int) -> float:
        """Return (1 - sqrt(D)) / 2, D = 2 N (e^epsilon - 1)^2 (w b)^2: no rule errs less."""
        information = 2 * users * math.expm1(self.epsilon) ** 2 * (self.weight * self.lean) ** 2
        return 0.5 * (1 - math.sqrt(min(1.0, information)))


@BERRETT.states("every rule, one message", "Theorem 2.5")
def divergence_cases(part: float = 4.0) -> Cases:
    """No epsilon-private channel tells more than 4 (e^epsilon - 1)^2 TV^2, by linear programming over them."""
    return [
        (
            f"eps={epsilon:g} w={w:g} b={b:g}, rest in {parts}",
            most_divergence(epsilon, w, b, parts),
            part * math.expm1(epsilon) ** 2 * (w * b) ** 2,
        )
        for epsilon, w, b, parts in product((0.1, 0.5, 1.0), (1.0, 0.3, 0.01), (0.5, 0.05), (1, 3))
    ]


@BERRETT.states("every rule, N messages", "Theorem 2.5")
def information_cases() -> Cases:
    """N channels, each chosen after the messages before it, tell no more than D of the families."""
    for (name, family), users, epsilon in product(FAMILIES.items(), (1e4, 1e8, 1e14), (0.1, 1.0)):
        known = family(users, epsilon)
        told = users * most_divergence(epsilon, known.weight, known.bump) / 2
        yield f"{name} N={users:g} eps={epsilon:g}", told, known.information * (1 + 1e-6)


@BERRETT.states("every rule, a few users", "Theorem 2.5", ">=")
def error_cases() -> Cases:
    """The best interactive rule of up to three users errs as often as the bound says."""
    for epsilon, w, b in ((0.1, 1.0, 0.5), (0.5, 0.5, 0.5), (1.0, 0.3, 0.2)):
        test = SignTest(epsilon, w, b)
        for users in (1, 2, 3):
            yield f"eps={epsilon:g} w={w:g} b={b:g} N={users}", 1 - test.success(users), test.bound(users)


@BERRETT.states("every rule, rate", "Theorem 2.5", ">=")
def rate_cases() -> Cases:
    """The bound for every rule is c (N epsilon^2)^-(beta (1 + gamma) / (2 beta + 2 d)) where N epsilon^2 >= 1."""
    rates = {"d=1 gamma=0": (1 / 4, 1 / 25), "d=2 gamma=1": (1 / 3, 1 / 150)}
    return [
        (f"{name} N={n:g} eps={eps:g}", FAMILIES[name](n, eps).lower_bound, constant * (n * eps**2) ** -rate)
        for (name, (rate, constant)), n, eps in product(rates.items(), (1.0, 1e2, 1e4, 1e8, 1e14), (0.01, 0.1, 1.0))
        if n * eps**2 >= 1
    ]


@BERRETT.states("every rule, any n and alpha as printed", "Theorem 2.5", ">=")
def any_size_cases() -> Cases:
    """The same for every n and alpha, d = beta = 1, gamma = 0; false: no excess is above 1."""
    return [(f"c={c:g} n=1 alpha={(c / 2) ** 2:.3g}", 1.0, c * ((c / 2) ** 2) ** -0.5) for c in (0.1, 1e-3, 1e-6)]


def _family_checks(family: str, sizes: tuple[int, ...], exponent: float) -> list[Any]:
    excess, head = partial(evaluate, family, "private_excess"), BERRETT.head(f"excess on the family {family}")
    return [
        check_bound(f"lower bound {family}", family, SIZES[family], "private_excess"),
        RateCheck(**head, evaluator=excess, exponent=exponent, margin=0.02, sizes=sizes),
        *(BERRETT.quote(f"family {family} {what}", partial(class_cases, family, what)) for what in CLASS),
        BERRETT.quote(f"family {family} density", partial(density_cases, family), "==", tolerance=1e-6),
    ]


# sizes such that q = (N eps^2)^(1/(2 beta + 2 d)) is an integer
CHECKS: list[RateCheck | InequalityCheck] = [
    *BERRETT.rows(__name__),
    *_family_checks("d=1 gamma=0", tuple((10 * 2**k) ** 4 for k in range(7)), 1 / 4),
    *_family_checks("d=2 gamma=1", tuple((10 * 2**k) ** 6 for k in range(7)), 1 / 3),
    *(check_drawn("lower bound d=1 gamma=0, simulated", "d=1 gamma=0", n) for n in (10**4, 10**6, 10**8)),
    BERRETT.quote("factor 1/4 from D <= 1/2, as printed", partial(factor_cases, 0.5), ">="),
    BERRETT.quote("factor 1/4 from D <= 1/4", partial(factor_cases, 0.25), ">="),
]
