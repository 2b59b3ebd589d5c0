"""False alarms: how often exactly tight mechanisms are judged FAIL, with an exact interval.

    python -m benchmarks.calibrate --out docs/calibration.md

Every audit chooses its events on training outputs and certifies at the edge of the claim, where a false alarm is
likeliest. The rate must not exceed the significance; the table gives its 99.9 % lower bound.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

from audit import PrivacyClaim, Verdict, check_privacy
from audit.empirical.intervals import proportion_lower_bound, proportion_upper_bound
from benchmarks import subjects

SIGNIFICANCE = 0.05
CONFIDENCE = 0.001  # one-sided, of each end of the interval
BUDGETS = (200, 5_000)


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    mechanism: Callable[..., Any]
    claim: PrivacyClaim


CASES = (
    Case("Laplace, epsilon 1", subjects.laplace, subjects.claim()),
    Case("randomised response, epsilon 1", subjects.randomized_response, subjects.claim()),
    Case("geometric, epsilon 1", subjects.geometric, subjects.claim()),
    Case("two-point, (1, 0.001)", subjects.TwoPoint(0.001), subjects.claim(0.001)),
    Case("two-point, (1, 0.1)", subjects.TwoPoint(0.1), subjects.claim(0.1)),
    Case("one-sided, (0, 0.1)", subjects.OneSided(0.1), subjects.claim(0.1, 0.0)),
)


def failed(case: Case, budget: int, seed: int) -> bool:
    """Whether one audit of a true claim ends in FAIL."""
    result = check_privacy(
        case.mechanism,
        case.claim,
        subjects.PAIR,
        budget=budget,
        significance=SIGNIFICANCE,
        seed=seed,
        method="fixed",
    )
    return result.verdict is Verdict.FAIL


def rows(cases: Iterable[Case], audits: int, workers: int) -> list[str]:
    """Markdown rows: mechanism, budget, audits, FAILs, rate, exact 99.9 % bounds, whether it holds."""
    lines = []
    with joblib.Parallel(n_jobs=workers, batch_size=50) as parallel:
        for case in cases:
            for budget in BUDGETS:
                count = sum(parallel(joblib.delayed(failed)(case, budget, seed) for seed in range(audits)))
                low = proportion_lower_bound(count, audits, CONFIDENCE)
                high = proportion_upper_bound(count, audits, CONFIDENCE)
                holds = "yes" if low <= SIGNIFICANCE else "NO"
                lines.append(
                    f"| {case.name} | {budget} | {audits} | {count} | {count / audits:.4f} | "
                    f"{low:.4f} | {high:.4f} | {holds} |"
                )
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=-1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table = rows(CASES, options.audits, options.workers)
    text = _PAGE.format(significance=SIGNIFICANCE, table="\n".join(table))
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


_PAGE = """# Calibration: false alarms at the edge of the claim

Made by `make calibrate`. Each row audits a mechanism whose privacy is exactly the claim, at significance
{significance}, with a seed of its own for every audit. The rate of FAIL must not exceed the significance; the
bounds are exact binomial ones (Clopper-Pearson), 99.9 % one-sided each, over the randomness of the audits.

| mechanism | budget a side | audits | FAIL | rate | lower bound | upper bound | lower bound <= {significance} |
| --- | --- | --- | --- | --- | --- | --- | --- |
{table}
"""


if __name__ == "__main__":
    main()
