"""Risks and L1 errors of the consistent learners for n = 10^3 ... 10^9.

    python -m benchmarks.consistency                     all tables, about two minutes
    python -m benchmarks.consistency classifier          some tables: classifier, density, metric, bounds, sizes

`classifier`, the bounded part of `metric` and `bounds` are exact expectations ("cauchy on the line" an upper bound);
`density`, `sizes` and the unbounded part of `metric` are means of a few runs of the aggregate samplers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from benchmarks.tables import print_tables
from mechanisms.papers.bousquet2022.appendix import FLAT, STABLE, cell_risk, noise_term
from mechanisms.papers.bousquet2022.section3 import CubeProblem, line_risk
from mechanisms.papers.bousquet2022.section4 import LAWS, DensityErrors, inverse_square, power_limit, slow_enough
from mechanisms.papers.bousquet2022.theorem4_10 import draw_within, threshold_error, uniform_points
from mechanisms.papers.bousquet2022.theorem4_11 import median_trials

SIZES = tuple(10**k for k in range(3, 10))
SEED = 20220101

CLASSIFIER = (
    "smooth", "step", "atoms", "cantor-rank", "cantor-parity", "pure-noise", "fat-cantor",
    "flat-margin", "sqrt-density", "checkerboard", "sine-product", "octants", "cantor-uniform",
)  # fmt: skip
DENSITY = (
    "uniform", "normal", "cauchy", "exponential", "square root", "pareto",
    "normal in the plane",
)  # fmt: skip


def row(name: str, values: Iterable[float]) -> None:
    """Print measured values."""
    print(f"{name:22s}" + "".join(f"{value:10.3g} " for value in values), flush=True)


def header(title: str, sizes: tuple[int, ...] = SIZES) -> None:
    """Print the title of a table and its sizes."""
    print(f"\n{title}\n{'n':22s}" + "".join(f"{n:10.0e} " for n in sizes))


def classifier() -> None:
    """Excess risk of the cube classifier."""
    header("Cube classifier, mean excess risk, epsilon = 1 (exact)")
    for name in CLASSIFIER:
        row(name, (CubeProblem(name, n).excess(1.0) for n in SIZES))
    row("smooth, epsilon = 0.1", (CubeProblem("smooth", n).excess(0.1) for n in SIZES))
    sizes = SIZES[:5]
    row("cauchy on the line", (line_risk(1.0, 1.2e5 / math.sqrt(n), n) - 0.15 for n in sizes))


def density() -> None:
    """L1 errors of the density estimator."""
    rng = np.random.default_rng(SEED)
    header("Cube density estimator, mean L1 error, epsilon = 1, delta = n^-2; second row: normalized")
    for name in DENSITY:
        errors = [_errors(name, n, rng, inverse_square) for n in SIZES]
        row(name, (raw for raw, _ in errors))
        row("  normalized", (normalized for _, normalized in errors))
    header("Uniform, epsilon = 1, other delta(n)")
    row("n 2^(-sqrt n)", (_errors("uniform", n, rng, power_limit)[0] for n in SIZES))
    row("2^(-n^0.4)", (_errors("uniform", n, rng, slow_enough)[0] for n in SIZES))


def _errors(name: str, n: int, rng: np.random.Generator, schedule: Callable[[int], float]) -> tuple[float, float]:
    replicates = 40 if n <= 10**4 else 10 if n <= 10**6 else 2
    drawn = DensityErrors(LAWS[name], n, 1.0, schedule(n)).sample(replicates, rng)
    return float(drawn[:, 0].mean()), float(drawn[:, 1].mean())


def metric() -> None:
    """Excess risk of the Voronoi learners."""
    header("Voronoi votes on bounded spaces, mean excess risk, epsilon = 1 (exact)")
    for name, (cells, _) in FLAT.items():
        row(name, map(partial(cell_risk, cells), SIZES))
    rng = np.random.default_rng(SEED)
    header("Votes from two stability histograms, mean excess risk, epsilon = 1, by delta(n)")
    for (name, risk), most in zip(STABLE.items(), (7, 7, 7, 7, 7, 6), strict=True):
        row(name, (float(risk(n, 8, rng).mean()) - risk.bayes_risk for n in SIZES[:most]))


def bounds() -> None:
    """The bound that holds at every n, and the noise term of equation (12)."""
    sizes = SIZES[::2]
    header("Bound on the excess risk of the cube classifier that holds at every n, epsilon = 1", sizes)
    for name in ("smooth", "fat-cantor", "cantor-parity"):
        row(name, (CubeProblem(name, n).certified_excess(1.0) for n in sizes))
    far = tuple(10**k for k in (7, 9, 11, 13))
    header("Equation (12) on the Cauchy line, delta = n 2^(-n^1/4), epsilon = 1", far)
    row("as printed", (noise_term(False, n) for n in far))
    row("repaired", (noise_term(True, n) for n in far))


def sizes() -> None:
    """Failure probabilities of the semi-private and semi-supervised learners at accuracy 0.1."""
    rng, labeled = np.random.default_rng(SEED), (12, 25, 50, 100, 200, 738)
    print("\nSemi-private thresholds: probability of an error above 0.1, by labeled records, 369 public points")
    points = partial(uniform_points, 369)
    rates = [1 - draw_within(partial(threshold_error, 0.5, m), points, 1000, rng).mean() for m in labeled]
    print("  ".join(f"m={m}: {rate:.3f}" for m, rate in zip(labeled, rates, strict=True)))
    header("The same with a private density, 200 labeled records, by unlabeled records", SIZES[:4])
    for law in ("uniform", "square root", "normal", "cauchy", "pareto"):
        row(law, (1 - median_trials(law, n)(200, rng).mean() for n in SIZES[:4]))


TABLES = {"classifier": classifier, "density": density, "metric": metric, "bounds": bounds, "sizes": sizes}


if __name__ == "__main__":
    print_tables(TABLES)
