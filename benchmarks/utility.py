"""The utility checks at the edge of their claims: how often they judge wrongly, and how tight the mean bounds are.

    python -m benchmarks.utility --audits 2000     all tables
    python -m benchmarks.utility --binary 30       the last three alone; about three minutes

First table: audits of claims that hold with nothing to spare (wrong FAIL) or that are broken by exactly what a PASS may
leave unexcluded (wrong PASS), at significance 0.05, each with its exact 99 % interval. Second table: width of the
two-sided 95 % interval of a mean, over the width of the normal approximation, average over 200 samples. Third table:
true rates of `mechanisms.papers.berrett2019.theorems` on random grids in n = 100 ... 10,000, which begin too early.
Fourth table: audits of "exponent 0.5 within 0.05" on 100,000 losses of 0 and 1 of mean n^-a, significance 0.05, by
grid. Fifth table: true claims of the exponents on the grid. Sixth table: means that decay like n^-0.5 up to
logarithms, or later than the grid, where FAIL would be a mistake.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from audit import ConsistencyCheck, GuaranteeCheck, InequalityCheck, RateCheck, Verdict
from audit.checks.base import StatedCheck, run_check
from audit.evidence.base import Allowance
from audit.execution.seeds import Stream
from audit.statistics.bounds import proportion_lower_bound, proportion_upper_bound, summarize
from mechanisms.papers.berrett2019.theorems import MARGIN, SETTINGS, ExcessOf

SIGNIFICANCE = 0.05
Wrong = tuple[Verdict, ...]
FAIL, PASS, DECIDED = (Verdict.FAIL,), (Verdict.PASS,), (Verdict.FAIL, Verdict.PASS)
SIZES = (16, 32, 64, 128, 256)
Law = Callable[[int, np.random.Generator], np.ndarray]


def bernoulli(p: float) -> Law:
    """Zeros and ones of mean p."""
    return lambda replicates, rng: (rng.random(replicates) < p).astype(float)


def rare_losses(mean: float) -> Law:
    """Beta variables with a heavy upper tail, of the given mean."""
    return lambda replicates, rng: rng.beta(0.2, 0.2 * (1 - mean) / mean, size=replicates)


LAWS: dict[str, tuple[Law, float]] = {
    "Bernoulli(0.5)": (bernoulli(0.5), 0.5),
    "Bernoulli(0.02)": (bernoulli(0.02), 0.02),
    "uniform": (lambda replicates, rng: rng.random(replicates), 0.5),
    "beta, mean 0.05": (rare_losses(0.05), 0.05),
}


def curve(law: Law, mean: float, shape: Callable[[int], float]) -> Callable[..., np.ndarray]:
    """Losses at size n: draws of the law, scaled to the mean shape(n)."""
    return lambda n, replicates, rng: law(replicates, rng) * shape(n) / mean


def edges() -> Iterator[tuple[str, Wrong, int, StatedCheck]]:
    """Yield cases at the edge: their title, the wrong verdicts, the budget, and the check."""
    for name, (law, mean) in LAWS.items():
        where, few = f", {name}", 500
        for sense in ("<=", ">=", "=="):
            tolerance = 0.0 if sense == "==" else None
            check = InequalityCheck(name="i", losses=law, bound=mean, sense=sense, tolerance=tolerance)  # type: ignore[arg-type]
            yield f"inequality: mean {sense} its value{where}", FAIL, few, check
    for beta in (0.02, 0.3):
        trials = _holding(beta)
        yield (
            f"guarantee: failing with beta = {beta}",
            FAIL,
            3000,
            GuaranteeCheck(name="g", trials=trials, beta=beta, slack=1e-6),
        )
        yield (
            f"guarantee: failing with beta + slack = {beta}",
            PASS,
            3000,
            GuaranteeCheck(name="g", trials=trials, beta=0.5 * beta, slack=0.5 * beta),
        )
    yield from _curve_edges()


def _curve_edges() -> Iterator[tuple[str, Wrong, int, StatedCheck]]:
    law, mean = LAWS["Bernoulli(0.5)"]

    def flat(n: int) -> float:
        return 0.25

    def decaying(n: int) -> float:
        return 0.5 * n**-0.5

    risk = {"name": "c", "losses": curve(law, mean, flat), "sizes": SIZES, "bayes_risk": 0.2}
    root: dict[str, Any] = {"name": "r", "losses": curve(law, mean, decaying), "sizes": SIZES}
    root["support"] = lambda n: (0.0, 2 * decaying(n))
    bounded = {"tolerance": 0.05, "finite_bounds": flat}
    for title, wrong, check in (
        ("constant risk at goal and bounds", FAIL, ConsistencyCheck(**risk, **bounded)),  # type: ignore[arg-type]
        ("risk just above the tolerance", PASS, ConsistencyCheck(**risk, tolerance=0.05 - 1e-9)),  # type: ignore[arg-type]
    ):
        yield f"consistency: {title}", wrong, 2500, check
    for sense, exponent in itertools.product(("equivalent", "throughout"), (0.4, 0.6)):
        rate = RateCheck(**root, exponent=exponent, margin=0.1, sense=sense)
        title = f"rate: exponent 0.5, claimed {exponent} +- 0.1" + (" throughout" if sense == "throughout" else "")
        yield title, DECIDED, 20_000, rate
    constant = RateCheck(**root, exponent=0.5, margin=0.2, constant=0.5 / 1.2, constant_margin=0.2)
    yield "rate: constant at the edge of its margin", FAIL, 20_000, constant


def _holding(failing: float) -> Callable[..., Any]:
    return lambda replicates, rng: rng.random(replicates) >= failing


def wrong_verdicts(check: StatedCheck, wrong: Wrong, budget: int, audits: int) -> int:
    """Return how many of the audits end with a wrong verdict."""
    allowances = [Allowance(budget, SIGNIFICANCE, Stream(seed)) for seed in range(audits)]
    return sum(run_check(check, allowance).verdict in wrong for allowance in allowances)


def widths(law: Law, count: int, samples: int = 200) -> list[float]:
    """Average width over the normal one: betting, Hoeffding, empirical Bernstein, Clopper-Pearson where it applies."""
    side = SIGNIFICANCE / 2
    ratios = []
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        losses = law(count, rng)
        pilot, rest = losses[: count // 10], losses[count // 10 :]
        normal = 2 * stats.norm.isf(side) * losses.std() / math.sqrt(count)
        if normal == 0:
            continue
        sample = summarize(pilot, rest, (0.0, 1.0), side)
        betting = sample.upper_bound(side) - sample.lower_bound(side)
        hoeffding = 2 * math.sqrt(math.log(1 / side) / (2 * count))
        log = math.log(2 / side)
        bernstein = 2 * (math.sqrt(2 * losses.var(ddof=1) * log / count) + 7 * log / (3 * (count - 1)))
        ratios.append([betting / normal, hoeffding / normal, bernstein / normal, _binomial(losses, side) / normal])
    return [float(value) for value in np.mean(ratios, axis=0)]


def _binomial(losses: np.ndarray, side: float) -> float:
    if not np.isin(losses, (0, 1)).all():
        return math.nan
    ones = int(losses.sum())
    return proportion_upper_bound(ones, len(losses), side) - proportion_lower_bound(ones, len(losses), side)


BINARY_GRIDS = ((4, 32, 256), (4, 16, 64, 256), (8, 64, 512), (16, 128, 1024), (16, 64, 256, 1024), SIZES)
LATE: dict[str, Callable[[int], float]] = {
    "0.2 ln(n) n^-0.5": lambda n: 0.2 * math.log(n) * n**-0.5,
    "min(1, 3 n^-0.5 / ln n)": lambda n: min(1.0, 3 * n**-0.5 / math.log(n)),
    "(1 + n / 300)^-0.5": lambda n: (1 + n / 300) ** -0.5,
}


def binary_verdicts(
    mean: Callable[[int], float], sizes: tuple[int, ...], budget: int, audits: int, **more: Any
) -> Counter[str]:
    """Verdicts on "exponent 0.5 within 0.05" from losses of 0 and 1."""

    def losses(n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(replicates) < mean(n)).astype(float)

    check = RateCheck(name="r", losses=losses, sizes=sizes, exponent=0.5, **more)
    return Counter(
        run_check(check, Allowance(budget, SIGNIFICANCE, Stream(seed))).verdict.value for seed in range(audits)
    )


def print_binary(audits: int) -> None:
    """Print the tables of losses of 0 and 1."""
    print(f"\n| sizes | sense | true exponent 0.3: FAIL of {audits} | 0.5: PASS | 0.7: FAIL |")
    print("| --- | --- | --- | --- | --- |")
    for sense, sizes in itertools.product(("equivalent", "throughout"), BINARY_GRIDS):
        row = []
        for truth, right in ((0.3, "FAIL"), (0.5, "PASS"), (0.7, "FAIL")):
            found = binary_verdicts(lambda n, a=truth: float(n**-a), sizes, 100_000, audits, sense=sense)  # type: ignore[misc]
            row.append(str(found[right]) + (" and wrong ones" if set(found) - {right, "INCONCLUSIVE"} else ""))
        print(f"| {', '.join(map(str, sizes))} | {sense} | {' | '.join(row)} |", flush=True)
    print(f"\n| mean, claimed throughout | margin | sizes | FAIL of {audits} | PASS |\n| --- | --- | --- | --- | --- |")
    for (name, mean), sizes in itertools.product(LATE.items(), BINARY_GRIDS[3:5]):
        local = [math.log(mean(a) / mean(b)) / math.log(b / a) for a, b in itertools.pairwise(sizes)]
        margin = max(abs(value - 0.5) for value in local)  # the least for which it is true
        found = binary_verdicts(mean, sizes, 100_000, audits, sense="throughout", margin=margin)
        listed = ", ".join(map(str, sizes))
        print(f"| {name} | {margin:.3f} | {listed} | {found['FAIL']} | {found['PASS']} |", flush=True)
    print(f"\n| mean | sizes | losses | FAIL of {audits} | PASS |\n| --- | --- | --- | --- | --- |")
    for name, mean in LATE.items():
        for sizes in ((16, 64, 256, 1024), (64, 512, 4096)):
            for budget in (100_000, 500_000):
                found = binary_verdicts(mean, sizes, budget, audits)
                listed = ", ".join(map(str, sizes))
                print(f"| {name} | {listed} | {budget} | {found['FAIL']} | {found['PASS']} |", flush=True)


def early_grid(rng: np.random.Generator) -> list[int]:
    """100, 10,000, and four to seven sizes between them."""
    between = np.round(10 ** rng.uniform(2, 4, rng.integers(4, 8))).astype(int)
    return sorted({100, 10_000, *between.tolist()})


def early_verdicts(name: str, grids: int, declared: bool) -> Counter[str]:
    """Verdicts on a true rate by its evaluator; `declared` forbids the look beyond the grid."""
    setting, rng = SETTINGS[name], np.random.default_rng((7, *name.encode()))
    found: Counter[str] = Counter()
    for _ in range(grids):
        check = RateCheck(
            name=name,
            evaluator=ExcessOf(setting),
            sizes=early_grid(rng),
            exponent=setting.exponent,
            margin=MARGIN,
            horizon=1 if declared else None,
        )
        found[run_check(check, Allowance(2, SIGNIFICANCE, Stream(0))).verdict.value] += 1
    return found


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=2000, help="audits of each row")
    parser.add_argument("--grids", type=int, default=200, help="random grids of each setting")
    parser.add_argument("--select", default="*", metavar="GLOB", help="only these rows, e.g. 'rate*'")
    parser.add_argument("--binary", type=int, metavar="AUDITS", help="only the last three tables")
    options = parser.parse_args()
    audits = options.audits
    if options.binary:
        print_binary(options.binary)
        return
    print(f"| at the edge | wrong verdict | losses | rate of {audits} audits | 99 % interval |")
    print("| --- | --- | --- | --- | --- |")
    for name, wrong, budget, check in edges():
        if not fnmatch.fnmatchcase(name, options.select):
            continue
        found = wrong_verdicts(check, wrong, budget, audits)
        low, high = (bound(found, audits, 0.005) for bound in (proportion_lower_bound, proportion_upper_bound))
        print(
            f"| {name} | {' or '.join(map(str, wrong))} | {budget} | {found / audits:.4f} | {low:.4f}–{high:.4f} |",
            flush=True,
        )
    print("\n| losses | count | betting | Hoeffding | empirical Bernstein | Clopper-Pearson |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (law, _) in LAWS.items():
        for count in (200, 2000, 20_000):
            shown = (f"{value:.2f}" if math.isfinite(value) else "–" for value in widths(law, count))
            print(f"| {name} | {count} | {' | '.join(shown)} |", flush=True)
    print("\n| setting | grids | FAIL by the grid alone | FAIL | PASS |")
    print("| --- | --- | --- | --- | --- |")
    for name in SETTINGS:
        alone, found = (early_verdicts(name, options.grids, declared) for declared in (True, False))
        print(f"| {name} | {options.grids} | {alone['FAIL']} | {found['FAIL']} | {found['PASS']} |", flush=True)
    print_binary(30)


if __name__ == "__main__":
    main()
