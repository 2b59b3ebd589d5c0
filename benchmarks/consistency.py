"""Risks and L1 errors of the consistent learners for n = 10^3 ... 10^9, beside reference values.

    python -m benchmarks.consistency                     all tables, about two minutes
    python -m benchmarks.consistency classifier          some tables: classifier, density, metric, bounds, sizes

`classifier`, the bounded part of `metric` and `bounds` are exact expectations ("cauchy on the line" an upper bound);
`density`, `sizes` and the unbounded part of `metric` are means of a few runs of the aggregate samplers. The reference
values were computed before this package existed, by simulation, and are kept to the digits that were printed; their
relative standard error is up to 11 % at n = 10^3, 4 % from 10^5 on, and 20 % for `atoms` and `cantor-rank`. A star
marks a number off by more than 25 % and more than 0.02 of its reference, or by more than 35 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from mechanisms.papers.bousquet2022.appendix import (
    STABLE,
    CellRisk,
    NoiseTerm,
    circle_cells,
    cube_cells,
    sequence_cells,
    square_cells,
)
from mechanisms.papers.bousquet2022.section3 import CubeProblem, LineRisk
from mechanisms.papers.bousquet2022.section4 import LAWS, DensityErrors, inverse_square, power_limit, slow_enough
from mechanisms.papers.bousquet2022.theorem4_10 import Trials, threshold_error, uniform_points
from mechanisms.papers.bousquet2022.theorem4_11 import median_trials

SIZES = tuple(10**k for k in range(3, 10))
SEED = 20220101

CLASSIFIER = {
    "smooth": "9.2e-3 2.3e-3 6.6e-4 2.0e-4 6.4e-5 2.0e-5 6.3e-6",
    "step": "2.8e-3 1.0e-3 6.5e-4 2.5e-4 7.9e-5 7.9e-6 3.0e-6",
    "atoms": "2.3e-3 2.1e-4 2.6e-5 2.2e-6 2.2e-7 2.5e-8 2.2e-9",
    "cantor-rank": "5.6e-3 6.7e-4 2.2e-4 3.7e-5 9.3e-6 1.7e-6 3.1e-7",
    "cantor-parity": ".397 .297 .087 0 0 0 0",
    "mixture": ".144 .113 .060 .028 .018 .011 .0073",
    "pure-noise": "0 0 0 0 0 0 0",
    "fat-cantor": ".161 .102 .056 .024 .018 .010 .0059",
    "sin(1/x)": ".060 .037 .022 .012 .0070 .0039 .0022",
    "flat-margin": ".012 4.7e-3 2.0e-3 8.0e-4 3.4e-4 1.4e-4 6.1e-5",
    "sqrt-density": "9.6e-3 1.2e-3 6.1e-4 7.0e-5 6.2e-5 1.2e-5 6.7e-6",
    "checkerboard": ".325 .233 .134 .075 .020 .027 .015",
    "sine-product": ".023 4.2e-3 1.7e-3 7.8e-4 2.1e-4 6.2e-5 2.4e-5",
    "octants": ".132 .135 .151 .072 .062 .0082 .027",
    "cantor-uniform": ".112 .013 .031 .019 .0030 .0055 .0027",
}
WEAK = ".111 .021 2.3e-3 3.7e-4 8.0e-5 2.2e-5 6.5e-6"  # smooth, epsilon = 0.1
ON_THE_LINE = ".151 .074 .040 .022 .0125"

DENSITY = {
    "uniform": ".50 .083 .046 .025 .014 .0080 .0045",
    "normal": "1.00 .84 .24 .098 .045 .022 .0114",
    "cauchy": "1.00 .99 .54 .32 .20 .122 .075",
    "exponential": ".93 .46 .21 .097 .046 .022 .0112",
    "narrow mixture": ".79 .60 .31 .100 .041 .019 .0093",
    "square root": ".60 .133 .074 .042 .024 .0135 .0076",
    "pareto": "1.00 .93 .70 .52 .38 .27 .19",
    "log tail": ".98 .77 .60 .47 .38 .31 .26",
    "normal in the plane": "1.00 1.00 .94 .42 .18 .080 .037",
}
PRINTED = ".66 .99 1.00 1.00 1.00 1.00 1.00"
REPAIRED = ".22 .083 .047 .026 .014 .0080 .0045"

METRIC = {
    "circle": (circle_cells, "2.4e-2 1.3e-2 2.2e-3 6.5e-4 4.0e-4 1.3e-4 2.0e-5"),
    "square, l-infinity": (cube_cells, ".22 .15 .019 .11 .053 .028 .047"),
    "square, l2, 1,681 points": (square_cells, ""),
    "binary sequences": (sequence_cells, ".39 .34 .24 .24 0 0 0"),
}
UNBOUNDED = (  # in the order of `STABLE`
    ".247 .122 .055 .026 .013 .0071 .0031",
    ".099 .043 .022 .011 .0054 .0026 .0013",
    ".126 .068 .028 .018 .011 .0078 .0041",
    ".26 .21 .14 .11 .079 .059 .043",
    ".400 .400 .400 .400 .400 .400 .400",
    ".400 .399 .212 .119 .070 .042",
)


def row(name: str, values: Iterable[float], reference: str = "") -> None:
    """Print measured values, and below them the reference values."""
    measured, known = list(values), reference.split()
    stars = [" " if not known or known[i] == "-" or _near(v, float(known[i])) else "*" for i, v in enumerate(measured)]
    print(f"{name:22s}" + "".join(f"{value:10.3g}{star}" for value, star in zip(measured, stars, strict=True)))
    if known:
        print(f"{'':22s}" + "".join(f"{entry:>10s} " for entry in known))


def _near(value: float, reference: float) -> bool:
    gap = abs(value - reference)
    return gap <= max(0.25 * reference, 1e-9) or (gap <= 0.02 and gap <= 0.35 * reference)


def header(title: str, sizes: tuple[int, ...] = SIZES) -> None:
    """Print the title of a table and its sizes."""
    print(f"\n{title}\n{'n':22s}" + "".join(f"{n:10.0e} " for n in sizes))


def classifier() -> None:
    """Excess risk of the cube classifier."""
    header("Cube classifier, mean excess risk, epsilon = 1 (exact)")
    for name, reference in CLASSIFIER.items():
        row(name, (CubeProblem(name, n).excess(1.0) for n in SIZES), reference)
    row("smooth, epsilon = 0.1", (CubeProblem("smooth", n).excess(0.1) for n in SIZES), WEAK)
    sizes = SIZES[:5]
    row("cauchy on the line", (LineRisk(1.0, 1.2e5 / math.sqrt(n))(n) - 0.15 for n in sizes), ON_THE_LINE)


def density() -> None:
    """L1 errors of the density estimator."""
    rng = np.random.default_rng(SEED)
    header("Cube density estimator, mean L1 error, epsilon = 1, delta = n^-2; second row: normalized")
    for name, reference in DENSITY.items():
        errors = [_errors(name, n, rng, inverse_square) for n in SIZES]
        row(name, (raw for raw, _ in errors), reference)
        row("  normalized", (normalized for _, normalized in errors))
    header("Uniform, epsilon = 1, other delta(n)")
    row("n 2^(-sqrt n)", (_errors("uniform", n, rng, power_limit)[0] for n in SIZES), PRINTED)
    row("2^(-n^0.4)", (_errors("uniform", n, rng, slow_enough)[0] for n in SIZES), REPAIRED)


def _errors(name: str, n: int, rng: np.random.Generator, schedule: Callable[[int], float]) -> tuple[float, float]:
    replicates = 40 if n <= 10**4 else 10 if n <= 10**6 else 2
    drawn = DensityErrors(LAWS[name], n, 1.0, schedule(n)).sample(replicates, rng)
    return float(drawn[:, 0].mean()), float(drawn[:, 1].mean())


def metric() -> None:
    """Excess risk of the Voronoi learners."""
    header("Voronoi votes on bounded spaces, mean excess risk, epsilon = 1 (exact)")
    for name, (cells, reference) in METRIC.items():
        row(name, [CellRisk(cells)(n) for n in SIZES], reference)
    rng = np.random.default_rng(SEED)
    header("Votes from two stability histograms, mean excess risk, epsilon = 1, by delta(n)")
    for (name, risk), reference in zip(STABLE.items(), UNBOUNDED, strict=True):
        chosen = SIZES[: len(reference.split())]
        row(name, (float(risk(n, 8, rng).mean()) - risk.bayes_risk for n in chosen), reference)


def bounds() -> None:
    """The bound that holds at every n, and the noise term of equation (12)."""
    sizes = SIZES[::2]
    header("Bound on the excess risk of the cube classifier that holds at every n, epsilon = 1", sizes)
    known = {"smooth": ".41 .078 .021 6e-3", "fat-cantor": ".78 .24 .073 .022", "cantor-parity": "1.1 .29 .018 -"}
    for name, reference in known.items():
        values = [CubeProblem(name, n).certified_excess(1.0) for n in sizes]
        row(name, values, reference)
    far = tuple(10**k for k in (7, 9, 11, 13))
    header("Equation (12) on the Cauchy line, delta = n 2^(-n^1/4), epsilon = 1", far)
    row("as printed", (NoiseTerm(False)(n) for n in far))
    row("repaired", (NoiseTerm(True)(n) for n in far))


def sizes() -> None:
    """Failure probabilities of the semi-private and semi-supervised learners at accuracy 0.1."""
    rng, labeled = np.random.default_rng(SEED), (12, 25, 50, 100, 200, 738)
    print("\nSemi-private thresholds: probability of an error above 0.1, by labeled records, 369 public points")
    points = partial(uniform_points, 369)
    rates = [1 - Trials(partial(threshold_error, 0.5, m), points)(1000, rng).mean() for m in labeled]
    print("  ".join(f"m={m}: {rate:.3f}" for m, rate in zip(labeled, rates, strict=True)))
    header("The same with a private density, 200 labeled records, by unlabeled records", SIZES[:4])
    for law in ("uniform", "square root", "normal", "cauchy", "log tail", "pareto"):
        row(law, (1 - median_trials(law, n)(200, rng).mean() for n in SIZES[:4]))


TABLES = {"classifier": classifier, "density": density, "metric": metric, "bounds": bounds, "sizes": sizes}


def main(names: list[str]) -> None:
    """Print the tables named, or all."""
    for name in names or list(TABLES):
        TABLES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
