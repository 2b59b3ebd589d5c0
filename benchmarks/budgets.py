"""Count what sessions of tight tests say, what computed budgets cost, and how sure a conviction is.

    python -m benchmarks.budgets                   # the outputs that budgets compute
    python -m benchmarks.budgets --sessions 1x400 8x300 30x200 100x70 300x30   # verdicts of tight tests
    python -m benchmarks.budgets --power 100       # convictions of violations of 2 to 100 %

The mechanisms of the sessions are those of `benchmarks.subjects`, in turns. Each keeps its claim with equality.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

from audit import PrivacyClaim, Verdict, check_privacy
from audit.evidence.base import PrivacyTerms
from audit.evidence.session import needed
from audit.statistics.binomial import proportion_lower_bound, proportion_upper_bound
from benchmarks.subjects import PAIR, OneSided, TwoPoint, claim, geometric, laplace, randomized_response

EDGE = [(laplace, 0.0), (randomized_response, 0.0), (geometric, 0.0), (TwoPoint(0.1), 0.1), (OneSided(0.1), 0.1)]
PAIRS = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
SIGNIFICANCE, CONFIRMATION, CONFIDENCE = 0.05, 1e-6, 0.999
EPSILONS, TESTS, VIOLATIONS = (0.1, 0.5, 1.0, 2.0, 5.0), (1, 8, 30, 100, 300), (0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0)


def print_budgets() -> None:
    """Print the outputs per dataset that each suite computes for each of its checks."""
    print(
        "| epsilon | " + " | ".join(f"{tests} checks" for tests in TESTS) + " |\n" + "| --- " * (len(TESTS) + 1) + "|"
    )
    for epsilon in EPSILONS:
        terms = PrivacyTerms(PrivacyClaim(epsilon))
        budgets = [needed(terms, SIGNIFICANCE / tests, 1)[0] for tests in TESTS]
        print(f"| {epsilon} | " + " | ".join(f"{budget:,}" for budget in budgets) + " |")


def count_sessions(sessions: int, tests: int) -> Counter[str]:
    """Run sessions of tight tests; count verdicts, suspected tests, and sessions that are red or not green."""
    counted = Counter[str]()
    for session in range(sessions):
        verdicts = Counter[Verdict]()
        for test in range(tests):
            mechanism, delta = EDGE[(session + test) % len(EDGE)]
            seed = session * tests + test
            result = check_privacy(
                mechanism,
                claim(delta),
                PAIR,
                seed=seed,
                workers=0,
                significance=SIGNIFICANCE / tests,
                confirmation=CONFIRMATION / tests,
            )
            verdicts[result.verdict] += 1
            counted["suspected"] += result.evidence.confirmation is not None
        counted.update({verdict.value: count for verdict, count in verdicts.items()})
        counted.update(red=int(verdicts[Verdict.FAIL] > 0), other=int(verdicts[Verdict.PASS] < tests))
    return counted


def print_sessions(plan: list[tuple[int, int]]) -> None:
    """Print what sessions of each size say; a session is red if any of its tests is FAIL."""
    print("| tests | sessions | green | red | suspected tests | CPU per test |\n" + "| --- " * 6 + "|")
    total = Counter[str]()
    for tests, sessions in plan:
        started = time.process_time()
        counted = count_sessions(sessions, tests)
        each = (time.process_time() - started) / sessions / tests
        green = sessions - counted["other"]
        print(f"| {tests} | {sessions} | {green} | {counted['red']} | {counted['suspected']} | {each * 1e3:.0f} ms |")
        total.update(counted, sessions=sessions)
    ends = (1 - CONFIDENCE) / 2
    for said, count in (("red", total["red"]), ("not green", total["other"])):
        low, high = (
            bound(count, total["sessions"], ends) for bound in (proportion_lower_bound, proportion_upper_bound)
        )
        print(f"{count} of {total['sessions']} sessions {said}, in [{low:.2g}, {high:.2g}] at {CONFIDENCE:.1%}")


def noisy_sum(epsilon: float):  # type: ignore[no-untyped-def]
    """Return a mechanism that is exactly epsilon-DP on the pair."""
    return lambda data, size, rng: data.sum() + rng.laplace(scale=1 / epsilon, size=size)


def print_power(repeats: int) -> None:
    """Compare convictions by screening and confirmation with those of one test on as many outputs."""
    levels = (CONFIRMATION, SIGNIFICANCE)
    print(
        "| violation | FAIL | outputs per dataset | FAIL of one test at 1e-6 | FAIL of one test at 0.05 | suspected |"
    )
    print("| --- " * 6 + "|")
    claimed = PrivacyClaim(1.0)
    for violation in VIOLATIONS:
        mechanism, fails, outputs, screened = noisy_sum(1 + violation), 0, 0, 0
        single = dict.fromkeys(levels, 0)
        for seed in range(repeats):
            result = check_privacy(mechanism, claimed, PAIRS, seed=seed, workers=0)
            drawn = result.samples // 2
            fails, outputs = fails + (result.verdict is Verdict.FAIL), outputs + drawn
            screened += result.evidence.confirmation is not None
            for level in levels:
                again = check_privacy(
                    mechanism,
                    claimed,
                    PAIRS,
                    budget=drawn,
                    significance=level,
                    confirmation=None,
                    seed=seed,
                    workers=0,
                )
                single[level] += again.verdict is Verdict.FAIL
        shares = [f"{count / repeats:.2f}" for count in (fails, *single.values(), screened)]
        print(f"| {violation:.0%} | {shares[0]} | {outputs // repeats:,} | " + " | ".join(shares[1:]) + " |")


def sizes(text: str) -> tuple[int, int]:
    """Return the tests and the sessions of a word such as 8x300."""
    tests, sessions = text.split("x")
    return int(tests), int(sessions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=sizes, nargs="+", metavar="TESTSxSESSIONS")
    parser.add_argument("--power", type=int, default=0, metavar="REPEATS")
    options = parser.parse_args()
    if options.sessions:
        print_sessions(options.sessions)
    elif options.power:
        print_power(options.power)
    else:
        print_budgets()


if __name__ == "__main__":
    main()
