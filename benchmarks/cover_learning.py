"""Learning from covers in numbers: exact privacy, sample sizes that theorems ask for and that are needed, geometry.

    python -m benchmarks.cover_learning                  all tables, under a minute
    python -m benchmarks.cover_learning privacy sizes    some tables: see TABLES

"Needed" sizes are for the best and the worst of seven targets in the table `sizes`, for 1/2 elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.tables import print_tables
from mechanisms.papers.chaudhuri2011 import lower_bounds, metric
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.accuracy import (
    BETA,
    CONCENTRATED,
    UNIFORM,
    agrees_with_points,
    draw_on_points,
    fail_on_line,
    fail_on_sphere,
    half_success,
)
from mechanisms.papers.chaudhuri2011.privacy import listed_cases, middles, threshold_ratio, worst_epsilon, worst_flip
from mechanisms.papers.chaudhuri2011.sample_sizes import (
    agnostic_parts,
    agnostic_size,
    label_private_size,
    metric_size,
    realizable_size,
)
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass, covering_radius
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS as LINE
from mechanisms.papers.chaudhuri2011.thresholds import ThresholdProblem, hard_distance

TARGETS = (0.01, 0.3, 1 / 3, 0.4, 0.45, 0.475, 0.5)
SEED = 20110601


def header(title: str, columns: str = "") -> None:
    """Print the title of a table, and its columns."""
    print(f"\n{title}" + (f"\n{columns}" if columns else ""))


def needed_size(
    problem: ThresholdProblem, kappa: float, epsilon: float, accuracy: float, beta: float, seed: int = 0
) -> int:
    """Estimate the least m at which the failure probability is at most beta: bisection on averages over 400 samples."""

    def failing(m: int) -> bool:
        rng = np.random.default_rng((seed, m))
        return bool(problem.failures(epsilon, accuracy, m, 400, rng, kappa).mean() > beta)

    low, high = 1, 2
    while failing(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failing(middle) else (low, middle)
    return high


def privacy_table() -> None:
    """Exact epsilon of A1 and A2 by the closed form, without the 1/2, and of A3."""
    header("Exact epsilon of A1 and A2 over all pairs", "alpha    J     m   with 1/2   without")
    for alpha, size, m in ((1, 2, 1), (1, 5, 1), (1, 20, 1), (1, 5, 4), (1, 5, 8), (0.5, 20, 1), (0.5, 20, 2000)):
        exact = [worst_epsilon(factor * alpha, m, threshold_ratio(size)) for factor in (1, 2)]
        print(f"{alpha:5g} {size:4d} {m:5d}   {exact[0]:.6f}  {exact[1]:.6f}")
    gaps = [abs(found - closed) for kind in (False, True) for _, found, closed in listed_cases(labels_only=kind)]
    print(f"{len(gaps)} enumerations of all datasets, J <= 6, m <= 4: largest gap to the closed form {max(gaps):.1e}")
    header("Share of alpha at alpha = 0.5, J = 20")
    print("  ".join(f"m={m}: {worst_epsilon(0.5, m, threshold_ratio(20)) / 0.5:.4f}" for m in (1, 10, 50)))
    header("Groups of k, alpha = 0.5, J = 21")
    cases = ((50, 5), (50, 20), (50, 40), (200, 20))
    print("  ".join(f"m={m} k={k}: {worst_epsilon(0.5, m, threshold_ratio(21), k):.4f}" for m, k in cases))
    header("Share of alpha of A3 under label flip")
    for m, accuracy, alpha in ((4, 0.3, 1.0), (12, 0.1, 0.5), (100, 0.1, 0.5)):
        predicted = LINE.predict(A3(alpha, accuracy).cover(middles(m)), middles(m))
        share = worst_flip(predicted, alpha)[0] / alpha
        print(f"m={m}: {share:.4f}, 1 - share = {1 - share:.1e}")


def worst_needed(problems: list[ThresholdProblem], kappa: float, epsilon: float, accuracy: float) -> tuple[int, int]:
    """Return the least and the largest needed size over problems, at beta = 0.1."""
    sizes = [needed_size(problem, kappa, epsilon, accuracy, BETA, SEED) for problem in problems]
    return min(sizes), max(sizes)


def sizes_table() -> None:
    """Theorems 8 and 9: the size asked for, the failure probability there, the size needed."""
    header("Sample sizes at beta = 0.1", "                                   asked   failure   needed      times")
    rows: list[tuple[str, list[ThresholdProblem], float, float, float, int]] = []
    noisy = [ThresholdProblem(t, 0.2) for t in TARGETS]
    clean = [ThresholdProblem(t) for t in TARGETS]
    for epsilon, accuracy in ((0.5, 0.1), (0.1, 0.2)):
        rows.append(("Theorem 8, noise .2", noisy, 1.0, epsilon, accuracy, agnostic_size(epsilon, accuracy, BETA)))
    far = agnostic_size(0.05, 0.2, BETA, math.log(75.5))
    rows.append(("Theorem 8, concentrated", [CONCENTRATED, replace(CONCENTRATED, noise=0.2)], 75.5, 0.05, 0.2, far))
    for epsilon, accuracy in ((0.5, 0.1), (0.02, 0.1), (0.9, 0.05)):
        rows.append(("Theorem 9", clean, 1.0, epsilon, accuracy, realizable_size(epsilon, accuracy, BETA)))
    for name, problems, kappa, epsilon, accuracy, asked in rows:
        failure = problems[-1].failures(epsilon, accuracy, asked, 200, np.random.default_rng(SEED), kappa).mean()
        low, high = worst_needed(problems, kappa, epsilon, accuracy)
        where = f"{name} alpha={epsilon:g} a={accuracy:g}"
        print(f"{where:40s} {asked:6d}  {failure:.0e}  {low:5d} to {high:<5d}  {asked / high:.0f}x")
    crossing = [a for a in np.arange(0.01, 0.2, 1e-3) if realizable_size(0.5, a, BETA) < agnostic_size(0.5, a, BETA)]
    print(f"Theorem 9 asks for less than Theorem 8 (alpha = .5) up to accuracy {max(crossing):.3f}")


def bisect(fails: Callable[[int], bool], high: int) -> int:
    """Return the least size that does not fail, between 1 and `high`."""
    low = 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def average(failure: Callable[[np.random.Generator], float], replicates: int) -> float:
    """Average a failure probability over fresh data."""
    return float(np.mean([failure(np.random.default_rng((SEED, i))) for i in range(replicates)]))


def more_sizes_table() -> None:
    """Theorem 27, the sphere, and Lemma 23: asked and needed."""
    header("Theorem 27, Theorem 8 on the sphere")
    for epsilon, accuracy, noise in ((0.5, 0.1, 0.0), (0.5, 0.1, 0.2), (0.05, 0.2, 0.0)):
        asked = label_private_size(epsilon, accuracy, BETA, noise)

        def fails(m: int, a: float = accuracy, e: float = epsilon, p: float = noise) -> bool:
            return average(partial(fail_on_line, replace(UNIFORM, noise=p), e, a, m), 300) > BETA

        needed = bisect(fails, 1000)
        where = f"A3 alpha={epsilon:g} a={accuracy:g} noise={noise:g}"
        print(f"{where}: asked {asked}, needed {needed} ({asked / needed:.0f}x)")
    asked = agnostic_size(0.5, 0.2, BETA, 0.0, math.log2(7))
    needed = bisect(lambda m: average(partial(fail_on_sphere, 0.5, 0.2, 0.1, m), 100) > BETA, 200)
    print(f"sphere: asked {asked}, needed {needed} ({asked / needed:.0f}x)")
    header("Lemma 23 at probability 1/2")
    for r in (0.1, 0.01):
        rng = np.random.default_rng(SEED)

        def disagrees(m: int, r: float = r, rng: np.random.Generator = rng) -> bool:
            return bool(draw_on_points(partial(agrees_with_points, r), m, 400, rng).mean() < 0.5)

        needed = bisect(disagrees, 4000)
        print(f"r={r:g}: asked {metric_size(r)}, needed {needed}")


def _misses(problem: ThresholdProblem, grid: np.ndarray, m: int) -> bool:
    return lower_bounds.best_success(problem, 0.5, grid, m) < 0.5


def family_table() -> None:
    """Theorem 5 and Example 1 on the hard family."""
    header("A1 on the kindest list of M examples of the middle distribution, alpha = .5")
    for (label, value, _), most in zip(lower_bounds.success_cases(), (4, 10, 20), strict=True):
        problem = ThresholdProblem.hard(hard_distance(0.5, most))
        grid = LINE.packing_cover(0.05 / problem.smoothness)
        half = bisect(partial(_misses, problem, grid), 400)
        print(f"{label}: success {value:.2g}; 1/2 is reached at m = {half} = {half / most:.1f} M")
    header("Examples at which A1 reaches 1/2 on samples of the family, a = .2, alpha = .5; Theorem 8 asks for")
    asked = {}
    for most in (8, 24, 48):
        smoothness = ThresholdProblem.hard(hard_distance(0.5, most)).smoothness
        deviation, privacy = agnostic_parts(0.5, 0.2, BETA, math.log(smoothness))
        asked[most] = privacy
        print(
            f"M={most:3d}: {half_success(most):5d} {math.ceil(max(deviation, privacy)):8d}, privacy part {privacy:9.0f}"
        )
    slope = (half_success(48) - half_success(8)) / 40
    print(f"slopes per unit of M: {slope:.2f} and, of the privacy part, {(asked[48] - asked[8]) / 40:.2f}")


def converse_table() -> None:
    """Theorem 12 in its packing form, Lemma 11 with linear programs, and the tail of A2."""
    header("Theorem 12, packing form: bound, success of A1, size for 1/2")
    for accuracy, epsilon in ((0.05, 0.5), (0.01, 0.5), (0.01, 0.1)):
        size = math.ceil(1 / (2 * accuracy) - 1e-9)
        bound = math.log(size - 1) / epsilon

        def success(m: int, a: float = accuracy, e: float = epsilon, k: int = size) -> float:
            rng = np.random.default_rng((SEED, m))
            targets = np.clip(np.arange(k) / (k - 1), 1e-9, 1 - 1e-9)[:: max(1, k // 10)]
            failures = [ThresholdProblem(t).failures(e, a, m, 60, rng).mean() for t in targets]
            return float(1 - np.max(failures))

        needed = bisect(lambda m: success(m) < 0.5, 4000)
        there = success(math.floor(bound))
        print(f"a={accuracy:g} alpha={epsilon:g} K={size}: {bound:.2f}, {there:.3f}, {needed} ({needed / bound:.0f}x)")
    header("Lemma 11, m = 20, s = .05, best least success")
    for label, value, _ in lower_bounds.optimal_cases():
        print(f"{label}: {value:.4f}")
    header("Tail of A2 on a realizable list")
    bounds = [next(iter(lower_bounds.tail_cases(rate)))[2] for rate in (3 / 80, 3 / 40, 3 / 20)]
    print(
        f"{lower_bounds.realizable_tail():.3g}; with 3 alpha / 40, 3 alpha / 20, 3 / 20:", *(f"{b:.3g}" for b in bounds)
    )


def geometry_table() -> None:
    """Nets, balls, bands and caps."""
    header("Nets on the sphere: points and certified covering radius")
    for s in metric.NETS:
        net = LinearSeparatorClass(3).packing_cover(s)
        print(f"s={s:g}: {len(net)}, {covering_radius(net):.4f}")
    header("Lemma 25: largest radius (in steps of .001) at which its argument gives 2^(n-2)")
    for n in (3, 4, 5, 6, 8, 10):
        held = [r for r in np.arange(1, 1001) / 1000 if metric.packing_by_deletion(n, r) >= 2 ** (n - 2)]
        print(f"n={n}: {max(held):.3f}")
    radii = (0.01, 0.25, 0.5, 1.0)
    dims = [math.log2(1 / metric.close_pair_mass(5, r)) for r in radii]
    print("volume bound of ddim, n = 5, r = .01 .25 .5 1:", *(f"{d:.2f}" for d in dims))
    header("Lemma 20: exact and printed kappa")
    for label, exact, printed in metric.band_cases((1.0, 1.2, 1.5)):
        print(f"{label}: {exact:.3g}, {printed:.3g}")
    header("Lemma 21 at w = .5: printed over exact")
    print(*(f"{label}: {printed / exact:.3g}  " for label, exact, printed in metric.cap_cases() if "0.5" in label))
    header("Lemma 19: radius under D over kappa s")
    print(*(f"{label}: {found / bound:.3f}" for label, found, bound in metric.smooth_cover_cases()))


TABLES: dict[str, Callable[[], None]] = {
    "privacy": privacy_table,
    "sizes": sizes_table,
    "more-sizes": more_sizes_table,
    "family": family_table,
    "converse": converse_table,
    "geometry": geometry_table,
}


if __name__ == "__main__":
    print_tables(TABLES)
