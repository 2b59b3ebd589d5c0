"""Count what sessions of tight tests say, what computed budgets cost, and how sure a conviction is.

    python -m benchmarks.budgets                                   # the outputs that budgets compute
    python -m benchmarks.budgets --sessions 1000 --tests 1         # verdicts of whole sessions of exact mechanisms
    python -m benchmarks.budgets --power 100                       # convictions of violations of 10 to 100 %

Every mechanism of the sessions is Laplace noise of exactly the claimed epsilon, so that its claim is true and tight.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

from audit import PrivacyClaim, Verdict, check_privacy
from audit.checks.privacy.judge import PrivacyTerms
from audit.checks.privacy.plan import needed
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound

PAIRS = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
SIGNIFICANCE, CONFIRMATION, CONFIDENCE = 0.05, 1e-6, 0.999
EPSILONS, TESTS, VIOLATIONS = (0.1, 0.5, 1.0, 2.0, 5.0), (1, 8, 30, 100, 300), (0.1, 0.25, 0.5, 1.0)


def laplace(epsilon: float):  # type: ignore[no-untyped-def]
    """Return a mechanism that is exactly epsilon-DP on the pair."""
    return lambda data, size, rng: data.sum() + rng.laplace(scale=1 / epsilon, size=size)


def print_budgets() -> None:
    """Print the outputs per dataset that each suite computes for each of its checks."""
    print(
        "| epsilon | " + " | ".join(f"{tests} checks" for tests in TESTS) + " |\n" + "| --- " * (len(TESTS) + 1) + "|"
    )
    for epsilon in EPSILONS:
        terms = PrivacyTerms(PrivacyClaim(epsilon))
        budgets = [needed(terms, SIGNIFICANCE / tests, 1)[0] for tests in TESTS]
        print(f"| {epsilon} | " + " | ".join(f"{budget:,}" for budget in budgets) + " |")


def print_sessions(sessions: int, tests: int, epsilon: float) -> None:
    """Run sessions of tight tests; a session is red if any of them is not PASS."""
    shares = {"significance": SIGNIFICANCE / tests, "confirmation": CONFIRMATION / tests}
    verdicts, suspected, red, started = Counter[str](), 0, 0, time.process_time()
    for session in range(sessions):
        seeds = range(session * tests, (session + 1) * tests)
        claim = PrivacyClaim(epsilon)
        found = [check_privacy(laplace(epsilon), claim, PAIRS, seed=seed, workers=0, **shares) for seed in seeds]
        verdicts.update(result.verdict.value for result in found)
        suspected += sum(result.evidence.confirmation is not None for result in found)
        red += any(result.verdict is not Verdict.PASS for result in found)
    ends = (1 - CONFIDENCE) / 2
    interval = proportion_lower_bound(red, sessions, ends), proportion_upper_bound(red, sessions, ends)
    print(
        f"{sessions} sessions of {tests} tight tests at epsilon = {epsilon}: {dict(verdicts)}, {suspected} suspected, "
        f"{red} sessions not green, in [{interval[0]:.2g}, {interval[1]:.2g}] at {CONFIDENCE:.1%}; "
        f"{(time.process_time() - started) / sessions / tests * 1e3:.0f} ms of CPU a test"
    )


def print_power(repeats: int) -> None:
    """Compare convictions by screening and confirmation with those of one test at 1e-6 on as many outputs."""
    print("| violation | FAIL | outputs per dataset | FAIL of one test at 1e-6 | suspected |")
    print("| --- | --- | --- | --- | --- |")
    claim = PrivacyClaim(1.0)
    for violation in VIOLATIONS:
        mechanism, fails, outputs, single, screened = laplace(1 + violation), 0, 0, 0, 0
        for seed in range(repeats):
            result = check_privacy(mechanism, claim, PAIRS, seed=seed, workers=0)
            drawn = result.samples // 2
            fails, outputs = fails + (result.verdict is Verdict.FAIL), outputs + drawn
            screened += result.evidence.confirmation is not None
            settings = {"budget": drawn, "significance": CONFIRMATION, "confirmation": None}
            again = check_privacy(mechanism, claim, PAIRS, seed=seed, workers=0, **settings)
            single += again.verdict is Verdict.FAIL
        shares = (f"{count / repeats:.2f}" for count in (fails, single, screened))
        first, second, third = shares
        print(f"| {violation:.0%} | {first} | {outputs // repeats:,} | {second} | {third} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--tests", type=int, default=1)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--power", type=int, default=0, metavar="REPEATS")
    options = parser.parse_args()
    if options.sessions:
        print_sessions(options.sessions, options.tests, options.epsilon)
    elif options.power:
        print_power(options.power)
    else:
        print_budgets()


if __name__ == "__main__":
    main()
