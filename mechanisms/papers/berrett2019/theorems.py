"""Theorems 2.2 to 2.4 of Berrett & Butucea (2019) and the steps of their proofs, as rows of checks.

Theorem 2.2 is checked up to n = 1e12 users in each half, by the evaluator. Theorem 2.4, with every constant:

    excess <= 4 C0 2^gamma D^(1+gamma)
              + sum_{j >= 1} 2^(j+2) D min(1, C0 (2^(j+1) D)^gamma) exp(-R 4^j / 2^(4 d + 8 - 2 beta)),
    D = L (2 h sqrt(d))^beta,    R = n eps^2 d^beta (c0 mu L)^2 h^(2d + 2beta).

Departures, which docs/local-classification.md explains: 2^(4 d + 8 - 2 beta) in place of 2^(4 d + 6 - 2 beta), h <= 2
r0 in Theorem 2.4, eps bounded in (3.1), and the volume of the ball in (3.3).

`SETTINGS` are benchmark distributions for the rate: X uniform on the unit cube, eta a power of a distance, so that the
smoothness beta, the margin exponent gamma and the constants L and mu are known exactly. The boundary x1 = 1/2 is a grid
point when h = 1 / (2 K): always choose K first, and n from h, or its position adds a ripple to every slope.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy import special

from audit import ConsistencyCheck, RateCheck
from mechanisms.distributions import UNIFORM, ZOO, Distribution, Line, Product, cauchy_parity, make_power, make_steps
from mechanisms.papers.berrett2019.classifier import consistent_bandwidth, rate_bandwidth
from mechanisms.papers.berrett2019.evaluator import CellTable, tabulate
from mechanisms.papers.berrett2019.grid import FloatArray, Grid
from mechanisms.papers.berrett2019.mechanism import noise_scale
from mechanisms.papers.rows import BERRETT, Cases


@dataclass(frozen=True)
class Slab:
    """eta = 1/2 + c sign(x1 - 1/2) |x1 - 1/2|^s: the noisy zone is a slab around the plane x1 = 1/2."""

    dim: int
    coefficient: float
    power: float

    @property
    def largest_margin(self) -> float:
        """max |eta - 1/2|."""
        return self.coefficient * 0.5**self.power

    @property
    def smoothness(self) -> float:
        """Hölder exponent beta of eta."""
        return min(1.0, self.power)

    @property
    def margin_exponent(self) -> float:
        """Exponent gamma of P(0 < |eta - 1/2| <= t) <= C0 t^gamma."""
        return 1 / self.power

    @property
    def margin_constant(self) -> float:
        """Smallest C0: the distance is uniform on [0, 1/2]."""
        return float(2 * self.coefficient ** (-1 / self.power))

    @property
    def lipschitz(self) -> float:
        """Hölder constant L of eta."""
        return float(self.coefficient * max(1.0, self.power) * 2 ** (1 - self.power))

    @property
    def exponent(self) -> float:
        """Exponent of n in the rate, beta (1 + gamma) / (2 beta + 2 d)."""
        return self.smoothness * (1 + self.margin_exponent) / (2 * self.smoothness + 2 * self.dim)

    def constant(self, epsilon: float) -> float:
        """Return C of excess ~ C n^-exponent at the paper's bandwidth, from the normal law in small cells."""
        # With kappa = sqrt(10) L h^beta, the noise in units of eta, a point of margin t is decided wrongly with
        # probability Phi(-t / kappa), and t / kappa has density 2 gamma kappa^gamma c^-gamma u^(gamma - 1): excess = 4
        # kappa (kappa / c)^gamma gamma E|Z|^(gamma + 1) / (2 (gamma + 1)).
        gamma = self.margin_exponent
        integral = gamma * absolute_moment(gamma + 1) / (2 * (gamma + 1))
        shrink = -(gamma + 1) * self.smoothness / (self.smoothness + self.dim)
        power = (math.sqrt(10) * self.lipschitz) ** (gamma + 1) * (epsilon * self.lipschitz) ** shrink
        return float(4 * self.coefficient ** (-gamma) * integral * power)  # kappa^(1 + gamma) n^exponent is the power

    def users(self, half_cells: int, epsilon: float = 1.0) -> float:
        """Return n, users in each half, at which the paper's bandwidth is 1 / (2 half_cells)."""
        return float((2.0 * half_cells) ** (2 * self.dim + 2 * self.smoothness) / (epsilon * self.lipschitz) ** 2)

    def half_cells(self, n: float, epsilon: float = 1.0) -> int:
        """Return the K whose bandwidth 1 / (2 K) is nearest to the paper's for n users in each half."""
        return max(1, round(0.5 / rate_bandwidth(n, epsilon, self.dim, self.smoothness, self.lipschitz)))

    def excess(self, n: float, epsilon: float = 1.0, half_cells: int | None = None, factor: float = 1.0) -> float:
        """Return the expected excess risk with n users in each half; `factor` multiplies the noise."""
        side = self.half_cells(n, epsilon) if half_cells is None else half_cells
        return self.cells(side).expected_excess(n, epsilon, factor)

    def distribution(self) -> Line | Product:
        """Return the distribution with samplers and box integrals."""
        first = Line(UNIFORM, make_power(self.coefficient, self.power))
        others = [Line(UNIFORM, make_steps([], [1.0])) for _ in range(self.dim - 1)]
        return Product((first, *others)) if others else first

    def cells(self, half_cells: int) -> CellTable:
        """Tabulate: a cell is cut by the cube in b of its last d - 1 coordinates, or in none."""
        h = 0.5 / half_cells
        offsets = np.arange(-half_cells, half_cells + 1) * h
        low, high = np.maximum(offsets - h, -0.5), np.minimum(offsets + h, 0.5)
        a, b = np.maximum(offsets - h / 2, -0.5), np.minimum(offsets + h / 2, 0.5)
        line = (
            high - low,
            self.primitive(high) - self.primitive(low),
            self.primitive(np.minimum(a, 0)) - self.primitive(np.minimum(b, 0)),
            self.primitive(np.maximum(b, 0)) - self.primitive(np.maximum(a, 0)),
        )
        kinds = []
        for cut in range(self.dim):
            whole = self.dim - 1 - cut
            outer, inner = (2 * h) ** whole * h**cut, h**whole * (h / 2) ** cut
            times = math.comb(self.dim - 1, cut) * 2.0**cut * (2.0 * half_cells - 1) ** whole
            sizes = (outer, outer, inner, inner)
            kinds.append([*(part * size for part, size in zip(line, sizes, strict=True)), np.full(offsets.size, times)])
        return CellTable(self.dim, *(np.concatenate(parts) for parts in zip(*kinds, strict=True)))

    def primitive(self, offset: FloatArray) -> FloatArray:
        """Return the integral of 2 eta - 1 from 1/2 to 1/2 + offset, an even function."""
        return np.asarray(2 * self.coefficient * np.abs(offset) ** (self.power + 1) / (self.power + 1))


def absolute_moment(order: float) -> float:
    """Return E|Z|^order of a standard normal Z."""
    return float(2 ** (order / 2) * special.gamma((order + 1) / 2) / math.sqrt(math.pi))


SETTINGS = {
    "d=1 s=1": Slab(1, 1.0, 1.0),
    "d=1 s=2": Slab(1, 2.0, 2.0),
    "d=1 s=5": Slab(1, 16.0, 5.0),
    "d=1 s=1/2": Slab(1, 0.7, 0.5),
    "d=2 s=1": Slab(2, 1.0, 1.0),
    "d=2 s=2": Slab(2, 2.0, 2.0),
    "d=2 s=1/2": Slab(2, 0.7, 0.5),
    "d=3 s=1": Slab(3, 1.0, 1.0),
    "d=3 s=1/2": Slab(3, 0.7, 0.5),
}
LINE = SETTINGS["d=1 s=1"]


REACH = 400.0  # window for unbounded features; the mass beyond is charged a coin flip
MARGIN = 0.02
CORNER = 0.5  # c0 of the cube, an axis: a corner sees 2^-d of a small ball; r0 is 1/2
_STEP = 0.05  # of the inversion: the law is wrapped at 2 pi / 0.05 = 125 standard deviations
_NODES = 40_000  # up to frequency 2,000: for a few users the characteristic function falls like u^-4 only
_NODES_MANY, _MANY, _TERMS = 2_000, 100, 60


@cache
def distribution_named(name: str) -> Distribution:
    """Build, once, a distribution of the zoo, or "cauchy-parity"."""
    return cauchy_parity() if name == "cauchy-parity" else ZOO[name]()


@dataclass(frozen=True)
class RiskOn:
    """Evaluator on a distribution: n, users in each half -> expected risk at h = n^-exponent, or the consistent h."""

    name: str
    exponent: float | None = None

    def __call__(self, n: int) -> float:
        return distribution_named(self.name).bayes_risk + self.excess(n)

    def excess(self, n: float) -> float:
        """Return the expected excess risk at eps = 1."""
        distribution = distribution_named(self.name)
        h = consistent_bandwidth(n, 1.0, distribution.dim) if self.exponent is None else float(n**-self.exponent)
        if self.name != "cauchy-parity":
            return tabulate(distribution, Grid(distribution.dim, h)).expected_excess(n, 1.0)
        grid = Grid(1, h, -REACH, REACH)
        low, high = (grid.first - 0.5) * h, (grid.last + 0.5) * h
        beyond = distribution.absolute_mass(-np.inf, low) + distribution.absolute_mass(high, np.inf)
        return tabulate(distribution, grid).expected_excess(n, 1.0) + float(beyond) / 2


def deviation(dim: int, epsilon: float, n: int, mass: float, eta: float) -> float:
    """Return the standard deviation of T in a cell of given mass with eta constant on it."""
    noise, labeled = 2 * noise_scale(dim, epsilon) ** 2, mass * eta
    return math.sqrt((noise + labeled * (1 - labeled) + (noise + mass * (1 - mass)) / 4) / n)


def tail(dim: int, epsilon: float, n: int, mass: float, eta: float, level: float) -> tuple[float, float]:
    """Return P(T - E T >= level) and P(T - E T <= -level), within 1e-11."""
    sd = deviation(dim, epsilon, n, mass, eta)
    nodes = (np.arange(_NODES_MANY if n >= _MANY else _NODES) + 0.5) * _STEP
    values = _characteristic(nodes / sd, noise_scale(dim, epsilon), n, mass, eta)
    shift = np.exp(-1j * nodes * level / sd)
    upper = 0.5 + _STEP / math.pi * float(np.sum((shift * values).imag / nodes))
    lower = 0.5 - _STEP / math.pi * float(np.sum((np.conj(shift) * values).imag / nodes))
    return upper, lower


def _characteristic(u: FloatArray, scale: float, n: int, mass: float, eta: float) -> np.ndarray:
    """Characteristic function of T - E T: n labeled bits with noise, and n bits with noise of weight -1/2."""
    logs = np.zeros(u.shape, dtype=complex)
    for weight, chance in ((1.0, mass * eta), (-0.5, mass)):
        w = weight * u / n
        logs += np.log(1 + chance * np.expm1(1j * w)) - 1j * chance * w - np.log1p((scale * w) ** 2)
    return np.asarray(np.exp(n * logs))


def tail_bound(dim: int, epsilon: float, n: int, level: float) -> float:
    """Return the right side of (3.1)."""
    return math.exp(-n * (epsilon * level) ** 2 / 2 ** (2 * dim + 6))


def tail_cases(epsilons: tuple[float, ...], sizes: tuple[int, ...], dims: tuple[int, ...] = (1, 2, 3)) -> Cases:
    """Compare both tails with (3.1) at 1 to 5 standard deviations, as far as t <= 1 and the tail exceeds 1e-9."""
    places = product(dims, epsilons, sizes, (0.01, 0.5, 1.0), (0.0, 0.5, 1.0), range(1, 6))
    for dim, epsilon, n, mass, eta, count in places:
        level = count * deviation(dim, epsilon, n, mass, eta)
        if level <= 1:
            where = f"d={dim} eps={epsilon:g} n={n} mass={mass:g} eta={eta:g} t={count} sd"
            bound = tail_bound(dim, epsilon, n, level)
            sides = zip(("above", "below"), tail(dim, epsilon, n, mass, eta, level), strict=True)
            yield from [(f"{where} {side}", found, bound) for side, found in sides if found > 1e-9]


def draw_bias(name: str, n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Draw the largest |mean of eta over the cell that decides X - eta(X)| at n users and more, (replicates,)."""
    # Its mean tends to 0 if and only if the average tends to eta(X) almost everywhere. h = n^(-1/4).
    distribution, worst = distribution_named(name), np.zeros(replicates)
    points, margins = distribution.draw(replicates, rng)
    for more in range(5):
        grid = Grid(1, consistent_bandwidth(n * 10**more, 1.0, 1))
        table = tabulate(distribution, grid)
        average = np.divide(table.signed, table.mass, out=np.zeros_like(table.mass), where=table.mass > 0)
        worst = np.maximum(worst, np.abs(average[grid.nearest(np.clip(points, 0, 1))] - margins) / 2)
    return worst


def excess_bound(setting: Slab, n: float, epsilon: float, bandwidth: float) -> float:
    """Return the upper bound above for X uniform on the cube, n users in each half."""
    d, beta, gamma = setting.dim, setting.smoothness, setting.margin_exponent
    margin = setting.lipschitz * (2 * bandwidth * math.sqrt(d)) ** beta
    rate = n * (epsilon * setting.lipschitz * CORNER**d) ** 2 * d**beta * bandwidth ** (2 * d + 2 * beta)
    total = 4 * setting.margin_constant * 2**gamma * margin ** (1 + gamma)
    for j in range(1, _TERMS):
        share = min(1.0, setting.margin_constant * (2.0 ** (j + 1) * margin) ** gamma)
        total += 2.0 ** (j + 2) * margin * share * math.exp(-rate * 4.0**j / 2 ** (4 * d + 8 - 2 * beta))
    return total


def theorem_constant(dim: int, smoothness: float, margin_exponent: float) -> float:
    """Return A of Theorem 2.4 for c0 = 2^-d, mu = 1: `excess_bound` at the paper's h, over C0 (L h^beta)^(1+gamma)."""
    d, beta, gamma = dim, smoothness, margin_exponent
    rate = d**beta * CORNER ** (2 * d) / 2 ** (4 * d + 8 - 2 * beta)
    series = sum(2.0 ** (j + 2) * 2.0 ** ((j + 1) * gamma) * math.exp(-rate * 4.0**j) for j in range(1, _TERMS))
    return float((4 * 2**gamma + series) * (2 * math.sqrt(d)) ** (beta * (1 + gamma)))


@BERRETT.states("excess bound with all constants", "Theorem 2.4, its proof, with 2^(4d+8-2beta)")
def bound_cases() -> Cases:
    """The excess keeps the explicit bound in all nine settings."""
    return [
        (f"{name} K={side}", setting.excess(n, 1.0, side), excess_bound(setting, n, 1.0, 0.5 / side))
        for name, setting in SETTINGS.items()
        for side in (4, 16, 64, 128, 512)
        if (n := setting.users(side)) >= 1
    ]


@BERRETT.states("excess <= A C0 (L h^beta)^(1+gamma)", "Theorem 2.4, with h <= 2 r0")
def theorem_cases() -> Cases:
    """The excess keeps the theorem with an explicit A in all nine settings, h <= 2 r0."""
    for (name, setting), side in product(SETTINGS.items(), (1, 4, 16, 64, 256)):
        beta, gamma = setting.smoothness, setting.margin_exponent
        size = (setting.lipschitz * (0.5 / side) ** beta) ** (1 + gamma)
        limit = theorem_constant(setting.dim, beta, gamma) * setting.margin_constant * size
        yield f"{name} K={side}", setting.excess(setting.users(side), 1.0, side), limit


def constant_eta_excess(n: float, bandwidth: float) -> float:
    """Return the excess for eta = 0.6 on [0, 1], eps = 1: one cell when h > 1, else one cell a grid point."""
    return tabulate(Line(UNIFORM, make_steps([], [0.2])), Grid(1, bandwidth)).expected_excess(n, 1.0)


def flat_cases(users: float | None) -> Cases:
    """Compare the excess for eta = 0.6 with A C0 (L h)^2: d = beta = gamma = 1, C0 = 10, any L > 0 being admissible."""
    # `users` None takes the n from which h <= 2 r0 = 1, that is n = L^-2.
    for L in (1e-2, 1e-4, 1e-6, 1e-8):
        n = L**-2 if users is None else users
        h = (n * L**2) ** -0.25
        yield f"L={L:g} n={n:g}", constant_eta_excess(n, h), theorem_constant(1, 1.0, 1.0) * 10 * (L * h) ** 2


@BERRETT.states("excess identity", "section 2", "==")
def identity_cases() -> Cases:
    """risk - Bayes risk = E[(P(C = 0) - 1{eta < 1/2}) (2 eta - 1)] for every randomised rule."""
    # The left side comes from masses and the Bayes risk, the right side from the integrals of (2 eta - 1)^+ and of (1 -
    # 2 eta)^+ over the pieces on which the random rule is constant.
    rng, grid, edges = np.random.default_rng(20190), Grid(1, 1 / 37), (np.arange(-1, 39) - 0.5) / 37
    for name, distribution in ((name, build()) for name, build in ZOO.items() if build().dim == 1):
        mass, ones = (part(edges[:-1], edges[1:]) for part in (distribution.mass, distribution.positive_mass))
        table = tabulate(distribution, grid)
        for trial in range(3):
            one = rng.random(grid.cells)
            everywhere = np.r_[0.0, one]  # the first piece lies left of the window and has no mass
            risk = float(np.sum(everywhere * (mass - ones) + (1 - everywhere) * ones))
            yield f"{name} rule {trial}", risk - distribution.bayes_risk, float(table.excess(one))


@BERRETT.states("asymptotic constant", "Theorem 2.4, the normal limit at its bandwidth", "==", tolerance=0.02)
def constant_cases() -> Cases:
    """excess n^exponent is within 2 % of its limit constant in all nine settings."""
    for name, setting in SETTINGS.items():
        for n, side in ((setting.users(side), side) for side in (4096, 8192)):
            limit = setting.constant(1.0) * n**-setting.exponent
            yield f"{name} K={side}", setting.excess(n, 1.0, side), limit


def collapse_cases(epsilons: tuple[float, ...]) -> Cases:
    """Compare the excess at n = m / eps^2 with that at eps = 0.01, for n eps^2 = m = 1e4, 1e6, 1e8, setting d=1 s=1."""
    return [
        (f"n eps^2={m:g} eps={epsilon:g}", LINE.excess(m / epsilon**2, epsilon), LINE.excess(m / 1e-4, 0.01))
        for m in (1e4, 1e6, 1e8)
        for epsilon in epsilons
    ]


def mean_cases(printed: str) -> Cases:
    """Compare cell masses, or |E T|, with their lower bounds in (3.3): 20 queries a cell, all kinds of cells."""
    # The uniform law on the cube has mu = 1, and c0 = 2^-d from its corners. `printed` is "mass" or "mean". Of the
    # means, the query with the smallest ratio is kept, among those where the bound is positive.
    for (name, setting), half_cells in product(SETTINGS.items(), (17, 100, 1000)):
        where, h = f"{name} K={half_cells}", 0.5 / half_cells
        table = setting.cells(half_cells)
        least = 0.5**setting.dim * (h / 2) ** setting.dim
        if printed == "mass":
            yield where, float(table.mass.min()), least
            continue
        x = (np.arange(40 * half_cells) + 0.5) * h / 20
        kinds = table.signed.reshape(setting.dim, -1)[:, np.floor(x / h + 0.5).astype(int)]
        mean = np.abs(kinds).min(axis=0) / 2
        margin = setting.coefficient * np.abs(x - 0.5) ** setting.power
        bound = least * (margin - setting.lipschitz * (2 * h * math.sqrt(setting.dim)) ** setting.smoothness)
        if (bound > 0).any():
            worst = np.flatnonzero(bound > 0)[np.argmin(mean[bound > 0] / bound[bound > 0])]
            yield where, float(mean[worst]), float(bound[worst])


def ball_volume(dim: int) -> float:
    """Return V_d, the volume of the Euclidean unit ball."""
    return float(math.pi ** (dim / 2) / special.gamma(dim / 2 + 1))


def ball_cases(dims: tuple[int, ...], has_volume: bool) -> Cases:
    """Compare P(cell) with c0 mu (h/2)^d, times V_d when repaired, for X uniform on a ball of radius h / 2 = r0."""
    # The ball of radius 1/2 around the center of the cube lies in one cell of bandwidth 1, so that P(cell) = 1. Around
    # a point of its surface the ball of the same radius holds the fraction c0 = I_{3/4}((d+1)/2, 1/2) of itself in the
    # support, and the density is mu = 2^d / V_d.
    shares = {dim: float(special.betainc((dim + 1) / 2, 0.5, 0.75)) for dim in dims}
    return [(f"ball in d={d}", 1.0, share if has_volume else share / ball_volume(d)) for d, share in shares.items()]


@dataclass(frozen=True)
class ExcessOf:
    """Evaluator in a setting: n -> expected excess, for `factor` times the noise."""

    setting: Slab
    epsilon: float = 1.0
    factor: float = 1.0

    def __call__(self, n: int) -> float:
        return self.setting.excess(n, self.epsilon, factor=self.factor)


def asymptotic_half_cells(setting: Slab) -> tuple[int, ...]:
    """Return the K of five sizes at which the rate of a setting should show, by the width of its noisy zone alone."""
    widest = 0.2 if setting.smoothness < 1 else 0.1 if setting.dim == 1 else 0.05
    kappa = math.sqrt(10) * setting.lipschitz  # over the bandwidth to the power beta; compared with the largest margin
    sides = (2**k for k in range(1, 30))
    first = next(K for K in sides if kappa * (0.5 / K) ** setting.smoothness <= widest * setting.largest_margin)
    return tuple(first * 2**k for k in range(5))


def sizes_of(setting: Slab, half_cells: tuple[int, ...], epsilon: float = 1.0) -> list[int]:
    """Return the sizes n, users in each half, at which the paper's bandwidth is 1 / (2 K)."""
    return [round(setting.users(side, epsilon)) for side in half_cells]


def rate_check(name: str, setting: Slab, sizes: Sequence[int], **settings: Any) -> RateCheck:
    """Return the check of a setting's exponent, unless `exponent` says another one."""
    return RateCheck(
        **{**BERRETT.head(name), "exponent": setting.exponent, "margin": MARGIN, "sizes": list(sizes), **settings}
    )


def constant_of(setting: Slab, epsilon: float = 1.0) -> dict[str, float]:
    """Return the settings of a check that knows the constant of the rate."""
    return {"constant": setting.constant(epsilon), "constant_margin": 0.02}


# limits of the excess at n = 1e12
LEFT_OVER = {
    "smooth": 2e-5, "step": 3e-4, "atoms": 2e-5, "cantor-rank": 1e-9, "cantor-parity": 1e-9,
    "pure-noise": 1e-9, "fat-cantor": 0.05, "flat-margin": 2e-4, "sqrt-density": 5e-4,
    "cauchy-parity": 0.05,
}  # fmt: skip
# the same at n = 1e20, for features in the plane and in space, where h = n^(-1/8) and n^(-1/12) shrink slowly
HIGHER = {"sine-product": 2e-5, "checkerboard": 0.01, "cantor-uniform": 0.002, "octants": 0.03}
BIAS = {
    "smooth": 0.01, "step": 0.01, "atoms": 0.02, "cantor-rank": 0.02, "cantor-parity": 0.01, "fat-cantor": 0.08,
    "sqrt-density": 0.01,
}  # fmt: skip
_DECADES = tuple(10**k for k in range(3, 13))


def consistency_check(
    name: str, tolerance: float, sizes: tuple[int, ...], on: str = "smooth", **settings: Any
) -> ConsistencyCheck:
    """Return the check that a risk tends to the Bayes risk of a distribution."""
    head, least = BERRETT.head(name), distribution_named(on).bayes_risk
    return ConsistencyCheck(**head, bayes_risk=least, tolerance=tolerance, sizes=sizes, **settings)


def _late(name: str, setting: Slab, epsilon: float) -> RateCheck:
    sizes, constant = sizes_of(setting, asymptotic_half_cells(setting), epsilon), constant_of(setting, epsilon)
    return rate_check(f"rate {name} eps={epsilon:g}", setting, sizes, evaluator=ExcessOf(setting, epsilon), **constant)


_SIZES = sizes_of(LINE, asymptotic_half_cells(LINE))

RATES: list[RateCheck] = [
    *(_late(name, setting, 1.0) for name, setting in SETTINGS.items()),
    _late("d=1 s=1", LINE, 0.1),
    _late("d=2 s=2", SETTINGS["d=2 s=2"], 0.1),
    rate_check(
        "rate d=1 s=1 declared with gamma = 0", LINE, _SIZES, evaluator=ExcessOf(LINE), sense="at_least", exponent=0.25
    ),
]

STATEMENTS: list[Any] = [
    *BERRETT.rows(__name__),
    BERRETT.quote("tail bound, eps <= 1", partial(tail_cases, (0.1, 1.0), (1, 300, 100_000))),
    BERRETT.quote("tail bound, eps = 13 and 17", partial(tail_cases, (13.0, 17.0), (100_000,), (1,))),
    BERRETT.quote("tail bound as printed, any eps", partial(tail_cases, (25.0, 40.0), (100_000,), (1,))),
    BERRETT.quote("theorem as printed, A free of L", partial(flat_cases, 1.0)),
    BERRETT.quote("theorem for small L, h <= 2 r0", partial(flat_cases, None)),
    BERRETT.quote(
        "n and eps through n eps^2, eps <= 1", partial(collapse_cases, (0.1, 0.5, 1.0)), "==", tolerance=0.002
    ),
    BERRETT.quote("n and eps through n eps^2, eps = 8", partial(collapse_cases, (8.0,)), "==", tolerance=0.002),
    BERRETT.quote("cell mass", partial(mean_cases, "mass"), ">="),
    BERRETT.quote("mean of the statistic", partial(mean_cases, "mean"), ">="),
    BERRETT.quote("cell mass as printed, any dimension", partial(ball_cases, (2, 12, 18, 22, 30), False), ">="),
    BERRETT.quote("cell mass with the volume of the ball", partial(ball_cases, (2, 12, 18, 22, 30), True), ">="),
]
REMARK = [("h=n^-1/4", 0.25), ("h=n^-0.7, n h -> inf only", 0.7), ("h=n^-1/2, n h^2 = 1", 0.5)]

CHECKS = [
    *(
        consistency_check(f"consistency {on}", tolerance, sizes, on, evaluator=RiskOn(on))
        for tolerances, sizes in ((LEFT_OVER, _DECADES), (HIGHER, tuple(10**k for k in range(4, 21, 4))))
        for on, tolerance in tolerances.items()
    ),
    *(
        consistency_check(f"consistency {name}", 0.01, _DECADES[:5], evaluator=RiskOn("smooth", power))
        for name, power in REMARK
    ),
    *(
        ConsistencyCheck(
            **BERRETT.head(f"cell average of eta {name}"),
            losses=partial(draw_bias, name),
            support=(0.0, 1.0),
            sizes=(10**4, 10**8, 10**13),
            tolerance=tolerance,
            budget=24_000,
        )
        for name, tolerance in BIAS.items()
    ),
    *STATEMENTS,
    *RATES,
]
