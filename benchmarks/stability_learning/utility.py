"""Utility tables: services of full size, rates, students, stability, soft labels."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from benchmarks.tables import show
from mechanisms.papers.bassily2018.accuracy import failure as run_failure
from mechanisms.papers.bassily2018.accuracy import teacher_failure
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM
from mechanisms.papers.bassily2018.algorithm3 import NO_ANSWER
from mechanisms.papers.bassily2018.algorithm4 import printed_teachers
from mechanisms.papers.bassily2018.faults import quarter_cases
from mechanisms.papers.bassily2018.noise import printed, pure
from mechanisms.papers.bassily2018.section4 import (
    FLIPPED,
    LAYOUTS,
    SMALL,
    PieceService,
    PieceTask,
    ServiceSize,
    most_bad_points,
    transfer_records,
)
from mechanisms.papers.bassily2018.section5 import full_run, unsure_probability
from mechanisms.papers.bassily2018.stable_learners import CELLS, CellStability, deviation, two_stage_deviation
from mechanisms.parts.sparse_vector import Noise


def printed_service(records: int, queries: int) -> PieceService:
    """Return a realizable service of Corollary 4.1 at epsilon = 1, delta = 1e-6, beta = 0.05."""
    cutoff = math.ceil(ServiceSize(records, queries).cutoff())
    teachers = printed_teachers(1.0, 1e-6, cutoff, queries, 0.05)
    return PieceService(PieceTask(1), teachers, records // teachers, printed(1.0, 1e-6, cutoff, queries), queries)


def service_table() -> None:
    """Print whole runs: the printed cutoff, BOTTOMs, wrong answers, seconds a run."""
    rows = []
    for records, queries, runs in ((10**10, 10**6, 5), (10**9, 10**4, 40)):
        service, rng = printed_service(records, queries), np.random.default_rng(41)
        started = time.perf_counter()
        answers = [service.run(rng)[1:] for _ in range(runs)]
        seconds = (time.perf_counter() - started) / runs
        bottoms = [int(np.sum(labels == BOTTOM)) for _, labels in answers]
        wrong = sum(int(np.sum((labels >= 0) & (labels != (place >= 0.5)))) for place, labels in answers)
        rows.append(
            [f"n={records:.0e} m={queries:.0e}", f"{service.teachers:,}", f"{service.noise.epochs - 1:,}",
             f"{min(bottoms)}-{max(bottoms)}", str(wrong),
             f"{sum(NO_ANSWER not in labels for _, labels in answers)} of {runs}", f"{seconds:.2f}"]
        )  # fmt: skip
    head = ["", "k", "T", "BOTTOMs", "wrong", "all answered", "seconds a run"]
    show("Corollary 4.1 with teachers on thresholds, eps = 1, delta = 1e-6", head, rows)


def needed_table() -> None:
    """Print the part of the printed k that Theorem 3.11 needs, and the teachers that the calibrated release needs."""
    rows = []
    for epsilon, delta, queries, cutoff in ((1.0, 1e-6, 100, 1), (1.0, 1e-6, 1000, 10), (10.0, 1e-2, 100, 1)):
        noise = printed(epsilon, delta, cutoff, queries, quiet=True)
        k = printed_teachers(epsilon, delta, cutoff, queries, 0.05, labels=3)
        parts = [least_teachers(noise, queries - cutoff, rule) / k for rule in ("safe", "gap")]
        where = f"eps={epsilon:g} delta={delta:g} m={queries} T={cutoff}"
        rows.append([where, f"{k:,}", *(f"{part:.3f}" for part in parts)])
    show("Theorem 3.11: needed part of the printed k", ["", "printed k", "safe", "gap"], rows)
    label, failure, _ = next(iter(quarter_cases()))
    print(f"  a quarter of k at (1, 1e-2, 100, 1): {label} fails with probability {failure:.3g}")
    rows = []
    for cutoff in (1, 10):
        noise = pure(1.0, 1e-6, cutoff)
        ours = math.ceil(6 * (noise.threshold + needed_level(noise, 1000 - cutoff) * noise.lam + 1))
        rows.append([str(cutoff), f"{ours:,}", f"{printed_teachers(1.0, 1e-6, cutoff, 1000, 0.05, labels=3):,}"])
    title = "Two thirds right, m = 1,000, eps = 1: k / 6 - 1 >= w + margin"
    show(title, ["T", "pure variant", "printed k"], rows)


def least_teachers(noise: Noise, queries: int, rule: str) -> int:
    """Return the least odd number of teachers, right with 3/4, that fails with probability 0.05 at most."""
    low, high = 1, 3
    while teacher_failure(noise, high, queries, rule) > 0.05:
        low, high = high, 2 * high + 1
    while high - low > 2:
        middle = (low + high) // 4 * 2 + 1
        low, high = (low, middle) if teacher_failure(noise, middle, queries, rule) <= 0.05 else (middle, high)
    return high


def needed_level(noise: Noise, queries: int) -> float:
    """Return the margin in units of lam at which a run fails with probability 0.05."""
    return float(brentq(lambda x: run_failure(np.array([x]), np.ones(1), queries, noise.epochs) - 0.05, 0.0, 300.0))


def counting_table() -> None:
    """Print the extremum of Lemma 4.2 and the bound."""
    rows = [
        [f"k={k} B={b} share={share}", str(most_bad_points(k, b, share, 10**9)), f"{float(b / share):.4g}"]
        for k, b, share in LAYOUTS
    ]
    show("Lemma 4.2: most points with over share * k wrong teachers", ["", "found", "below"], rows)


def slope(evaluator: Callable[[int], float], size: int) -> float:
    """Return the local exponent of growth at a size."""
    low, high = evaluator(size), evaluator(2 * size)
    return math.log(high / low) / math.log(2)


def rate_table() -> None:
    """Print local exponents."""
    cases = [
        ("4.3 in n", -2, lambda n: ServiceSize(n, 1e8), 10**10),
        ("4.3 in m", 1, lambda m: ServiceSize(1e10, m), 10**8),
        ("4.3 in n", -2, lambda n: ServiceSize(n, 1e24), 10**20),
        ("4.3 in m", 1, lambda m: ServiceSize(1e20, m), 10**24),
        *(("4.3 at m = n^(4/3)", -2 / 3, lambda n: ServiceSize(n, n ** (4 / 3)), 10**p) for p in (20, 22)),
        ("4.4 in n", -2 / 3, lambda n: ServiceSize(n, 1e10, realizable=False), 10**10),
        ("4.4 in m", 1 / 3, lambda m: ServiceSize(1e10, m, realizable=False), 10**10),
        ("4.4 in n", -2 / 3, lambda n: ServiceSize(n, 1e30, realizable=False), 10**30),
        ("4.4 in m", 1 / 3, lambda m: ServiceSize(1e30, m, realizable=False), 10**30),
        *(
            ("4.4 at m = n^(4/5)", -0.4, lambda n: ServiceSize(n, n**0.8, realizable=False), 10**p)
            for p in (10, 20, 40)
        ),
    ]
    rows = []
    for name, limit, at, size in cases:
        rate = lambda value, at=at: at(float(value)).rate()  # noqa: E731
        exponents = f"{limit:.3f}", f"{slope(rate, size):.3f}"
        rows.append([name, f"1e{round(math.log10(size))}", *exponents, f"{rate(size):.2g}"])
    show("Exponents of the guaranteed rate T / m", ["theorem", "size", "limit", "found", "T / m"], rows)
    rows = []
    for power in (1, 4, 8, 16):
        both = [slope(lambda size, r=r: transfer_records(1 / size, 1.0, r), 10**power) for r in (True, False)]
        rows.append([f"1/alpha = 1e{power}", *(f"{value:.3f}" for value in both)])
    vc = [slope(lambda size: transfer_records(1e-3, float(size), True), 10**p) for p in (3, 6, 9)]
    rows.append(["V = 1e3, 1e6, 1e9", " ".join(f"{v:.3f}" for v in vc)])
    show("Exponents of the records for a student (Theorems 4.6, 4.7)", ["", "realizable", "agnostic"], rows)


def consistent_table() -> None:
    """Print the cutoff that thresholds really need, computed and simulated."""
    rows = []
    for records, runs in ((10**8, 10), (3 * 10**8, 40), (10**9, 40)):
        size, rng = ServiceSize(records, 1e6), np.random.default_rng(8)
        cutoff = size.stable_cutoff()
        service = size.service(cutoff, size.noise(cutoff))
        bottoms = [service.bottoms(rng) for _ in range(runs)]
        error = float(np.std(bottoms, ddof=1) / math.sqrt(runs))
        rows.append([f"{records:.0e}", f"{cutoff:.4g}", f"{np.mean(bottoms):.1f} +- {error:.1f}"])
    show("Self-consistent cutoff, m = 1e6", ["n", "computed", "BOTTOMs of runs"], rows)
    cutoffs = [ServiceSize(n, 1e6).stable_cutoff() for n in (1e8, 3e8, 1e9)]
    slopes = [math.log(cutoffs[j + 1] / cutoffs[j]) / math.log(r) for j, r in ((0, 3), (1, 10 / 3))]
    ten = ServiceSize(1e8, 1e7).stable_cutoff() / cutoffs[0]
    print(f"  slopes in n {slopes[0]:.2f}, {slopes[1]:.2f}; ten times the queries: T x {ten:.0f}")


def student_table() -> None:
    """Print students: worst error, coins, and points on which over a third of the teachers err."""
    rows = []
    for name, service, runs in (
        ("alpha=.05", SMALL[0.05], 100),
        ("alpha=.02", SMALL[0.02], 100),
        ("gamma=.05", FLIPPED, 20),
    ):
        rng = np.random.default_rng(6)
        excess = max(service.student_error(rng) for _ in range(runs)) - service.task.flip
        coins = np.mean([np.mean(service.run(rng)[2] < 0) for _ in range(runs)])
        doubt = max(service.doubtful_mass(rng) for _ in range(runs))
        sizes = f"{service.teachers:,}", f"{service.queries:,}"
        rows.append([name, *sizes, f"{excess:.4f}", f"{coins:.0%}", f"{doubt:.4f}"])
    head = ["", "k", "public points", "worst excess", "coins", "worst P(> 1/3 wrong)"]
    show("Students on thresholds, calibrated noise", head, rows)


def stability_table() -> None:
    """Print Steele's ratio, deviations of cell means, and the moves of SGD."""
    rows = []
    for size in (40, 400, 4000):
        ratios = [c.variance / (size / 2 * c.squared) for c in CELLS if c.size == size]
        spread = [c.variance / (size / 2 * c.squared) for c in CELLS if c.size == size and c.share < 1]
        rows.append([str(size), *(f"{min(values):.3f}-{max(values):.3f}" for values in (ratios, spread))])
    show("Var h / ((n / 2) mu^2) of a cell mean", ["n", "all cells", "mass < 1"], rows)
    rng, rows = np.random.default_rng(2), []
    for size in (40, 400, 4000):
        cell = CellStability(size, 0.25, 0.3)
        found = [1 - np.mean(cell.stays_near(two_stage, 400_000, rng)) for two_stage in (False, True)]
        rows.append([str(size), *(f"{value:.2g}" for value in found)])
    show("P(|h - E h| > t), bound 1/4", ["n", "t = sqrt(2n) mu", "t = 4 sqrt(2n) mu"], rows)


def soft_scores_table() -> None:
    """Print the runs of Theorem 5.14 and the example of two Gaussians."""
    rows = []
    for size in (1600, 6400, 102_400):
        run, rng = full_run(size), np.random.default_rng(size)
        scores = run.scores(20, rng)
        worst = np.nanmax(np.abs(scores - run.expected()))
        shifted = np.mean(np.round(scores[:, run.cells() == len(run.learners.means) - 1] * 2 * run.bins) % 2 == 0)
        counts = f"{size:,}", f"{run.teachers:,}", f"{run.widest:.3f}", str(np.isnan(scores).sum())
        rows.append([*counts, f"{worst:.3f}", f"{shifted:.0%}"])
    head = ["n'", "k", "4 t (tau = .1)", "silent of 20,000", "worst error", "border ones shifted"]
    show("Theorem 5.14: m = 1,000, T = 20, eps = 1, delta = 1e-6", head, rows)
    least = [least_examples(rule) for rule in (deviation, two_stage_deviation)]
    print(f"  4 t <= .1 from n' = {least[0]:,} in one stage, {least[1]:,} as printed: {least[1] / least[0]:.1f} x")
    values = [f"{unsure_probability(r):.3g}" for r in (1, 2, 3, 4)]
    show("P(p in (.1, .9)), two Gaussians", ["|v|/sigma", "1", "2", "3", "4"], [["found", *values]])


def least_examples(rule: Callable[[int, float], float]) -> int:
    """Return the least n', to a thousandth, from which 4 t is at most 1/10 in the cell with mean 0.3 of four."""

    def excess(log_size: float) -> float:
        size = round(math.exp(log_size))
        return 4 * rule(size, math.sqrt(CellStability(size, 0.25, 0.3).squared)) - 0.1

    return round(math.exp(brentq(excess, math.log(100), math.log(10**6), xtol=1e-4)))


TABLES: dict[str, Callable[[], None]] = {
    "service": service_table,
    "needed": needed_table,
    "counting": counting_table,
    "rates": rate_table,
    "cutoffs": consistent_table,
    "students": student_table,
    "stability": stability_table,
    "scores": soft_scores_table,
}
