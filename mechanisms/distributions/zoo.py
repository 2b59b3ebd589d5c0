"""Named distributions that stress a partitioning rule, each with its exact Bayes risk.

Smooth and discontinuous eta, atoms, singular features, fat and thin Cantor sets, several dimensions, heavy tails,
and eta = 1/2. Every function builds its distribution anew; `ZOO` lists those on the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms.distributions.features import (
    CANTOR,
    CAUCHY,
    DENSITIES,
    NO_MARGIN,
    UNIFORM,
    Response,
    make_power,
    make_sine,
    make_steps,
)
from mechanisms.distributions.labeled import Atomic, Distribution, Line, Product, ZipfByThirds

PARITY_REACH = 2**16


def smooth() -> Line:
    """X uniform, eta = 1/2 + 0.4 sin(2 pi x); Bayes risk 1/2 - 0.8 / pi."""
    return Line(UNIFORM, make_sine(0.8))


def step() -> Line:
    """X uniform, eta = 0.9 on [0, 1/pi) and 0.2 after; Bayes risk 0.168169."""
    return Line(UNIFORM, make_steps([1 / math.pi], [0.8, -0.6]))


def atoms() -> Atomic:
    """Mass 2^-k at the fractional part of k (sqrt(5) - 1) / 2, eta = 0.8 for odd k and 0.3 for even k."""
    k = np.arange(1, 41)
    masses = 2.0**-k
    masses[-1] *= 2
    locations = np.mod(k * (math.sqrt(5) - 1) / 2, 1.0)
    return Atomic(locations, masses, np.where(k % 2 == 1, 0.6, -0.4))


def cantor_parity(digits: int = 6) -> Line:
    """X of the Cantor law, eta = 0.9 or 0.1 by the parity of the number of 2s among the first ternary digits."""
    ranks = np.arange(2**digits)
    parity = np.array([int(rank).bit_count() % 2 for rank in ranks])
    return Line(CANTOR, make_steps(ranks[1:] / 2**digits, np.where(parity == 0, 0.8, -0.8)))


def fat_cantor(level: int = 16) -> Line:
    """X uniform, eta the indicator of a Smith-Volterra-Cantor set of measure 1/2 + 2^-(level + 1); Bayes risk 0."""
    starts, length = np.zeros(1), 1.0
    for k in range(1, level + 1):
        shorter = (length - 4.0**-k) / 2
        starts = np.sort(np.r_[starts, starts + length - shorter])
        length = shorter
    edges = np.stack([starts, starts + length], axis=1).ravel()[1:-1]
    return Line(UNIFORM, make_steps(edges, np.where(np.arange(edges.size + 1) % 2 == 0, 1.0, -1.0)))


def sign_steps(edges: np.ndarray, size: float = 1.0) -> Response:
    """Margin +size, -size, +size ... between successive edges."""
    return make_steps(edges, np.where(np.arange(len(edges) + 1) % 2 == 0, size, -size))


def checkerboard(squares: int = 7) -> Product:
    """Uniform on the unit square, eta = 0.9 or 0.1 on a board of squares x squares; Bayes risk 0.1."""
    edges = np.arange(1, squares) / squares
    return _uniform_product(sign_steps(edges, 0.8), sign_steps(edges))


def octants() -> Product:
    """Uniform on the unit cube, 2 eta - 1 = 0.8 times the signs of x_k - 1/e; Bayes risk 0.1."""
    edge = np.array([math.exp(-1)])
    return _uniform_product(*(make_steps(edge, [-size, size]) for size in (0.8, 1.0, 1.0)))


def cantor_times_uniform() -> Product:
    """X1 Cantor, X2 uniform, 2 eta - 1 = 0.7 sign(F(x1) - 1/2) times a square wave of half-period 1 / 3.3 in x2."""
    first = Line(CANTOR, make_steps([0.5], [-0.7, 0.7]))
    return Product((first, Line(UNIFORM, sign_steps(np.arange(1, 4) / 3.3))))


def quadrants() -> Product:
    """Uniform on the unit square, 2 eta - 1 = 0.8 times the signs of x_k - 1/e; Bayes risk 0.1."""
    edge = np.array([math.exp(-1)])
    return _uniform_product(make_steps(edge, [-0.8, 0.8]), make_steps(edge, [-1.0, 1.0]))


def shifted_sine_product() -> Product:
    """Uniform on the unit square, 2 eta - 1 = 0.8 sin(2 pi (x1 - 0.13)) sin(2 pi (x2 - 0.29)): zeros off any grid."""
    return _uniform_product(make_sine(0.8, 0.13), make_sine(1.0, 0.29))


def cauchy_parity() -> Line:
    """X Cauchy, eta = 0.9 on even unit intervals and 0.2 on odd ones; Bayes risk 0.15.

    The parity stops at |x| = 2^16, where 1e-5 of the mass lies beyond: eta = 0.2 to the left and 0.9 to the right.
    """
    cuts = np.arange(-PARITY_REACH, PARITY_REACH + 1)
    inner = np.where(cuts[:-1] % 2 == 0, 0.8, -0.6)
    return Line(CAUCHY, make_steps(CAUCHY.cdf(cuts), np.r_[-0.6, inner, 0.8]))


def zipf_by_thirds() -> ZipfByThirds:
    """X on the integers but 0, P(k) = |k|^-1.5 / (2 zeta(1.5)), eta = 0.8 if 3 divides k, else 0.3; 0.2809."""
    return ZipfByThirds()


def _uniform_product(*responses: Response) -> Product:
    return Product(tuple(Line(UNIFORM, response) for response in responses))


ZOO: dict[str, Callable[[], Distribution]] = {  # with the Bayes risk of those that have no function
    "smooth": smooth,
    "step": step,
    "atoms": atoms,
    "cantor-rank": lambda: Line(CANTOR, make_power(1.0, 1.0)),  # eta the Cantor function: 1/4
    "cantor-parity": cantor_parity,
    "pure-noise": lambda: Line(UNIFORM, NO_MARGIN),  # nothing to learn: 1/2
    "fat-cantor": fat_cantor,
    "flat-margin": lambda: Line(UNIFORM, make_power(2.0, 2.0)),  # eta = 1/2 + 2 sign(x - 1/2) |x - 1/2|^2: 1/3
    # a jump at 1 / e: 0.15
    "sqrt-density": lambda: Line(DENSITIES["square root"], make_steps([math.exp(-0.5)], [0.7, -0.7])),
    "checkerboard": checkerboard,
    "sine-product": lambda: _uniform_product(make_sine(0.9), make_sine(1.0)),  # 0.317622
    "octants": octants,
    "cantor-uniform": cantor_times_uniform,
}
