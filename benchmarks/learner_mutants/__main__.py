"""Mutations of the fit, predict and release bodies of the five papers' learners, each with what must notice it.

    python -m benchmarks.learner_mutants            all of them; about fifteen minutes of one core
    python -m benchmarks.learner_mutants AG KT      those whose name begins with AG or KT

A mutation replaces a text that occurs once in a file. It is noticed by a check of `mechanisms.fitted` or of a paper,
which then gets another verdict than PASS at a budget of 1,000 fits, or by a test, which fails. Every mutation runs in a
process of its own, forked before anything of `mechanisms` is imported. The exit status is 1 if a mutation survives, or
if its text is not found.
"""

from __future__ import annotations

import contextlib
import fnmatch
import io
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.learner_mutants import bassily2018, consistency, constants, cover, labels, local
from benchmarks.mutants.mutant import TESTS, Mutant
from benchmarks.mutants.running import ROOT, load, told_apart

BUDGET, SIGNIFICANCE = 1_000, 1e-3
MUTANTS: list[Mutant] = [
    *consistency.MUTANTS,
    *labels.MUTANTS,
    *local.MUTANTS,
    *cover.MUTANTS,
    *bassily2018.MUTANTS,
    *constants.MUTANTS,
]
EQUIVALENT = {
    "halves of LocalVoteClassifier by position": "the order of the users does not depend on their records",
    "VectorTargetMLP.fit": "it inherits fit and release from VectorTargetKNN; what follows sees released targets alone",
}


def checks_fail(pattern: str) -> bool:
    """Return whether a check gets another verdict than PASS."""
    import audit
    from mechanisms import PAPERS, fitted, gather

    every = [*fitted.CHECKS, *gather([], "mechanisms.papers", topics=PAPERS)]
    chosen = [check for check in every if fnmatch.fnmatch(check.name, pattern)]
    if not chosen:
        raise SystemExit(f"no check matches {pattern!r}")
    results = audit.run(chosen, workers=0, significance=SIGNIFICANCE, budget=BUDGET).results
    return any(result.verdict is not audit.Verdict.PASS for result in results)


def tests_fail(selection: str) -> bool:
    """Return whether a test fails."""
    import pytest

    path, _, expression = selection.partition(" -k ")
    arguments = ["-q", "-x", "-p", "no:cacheprovider", str(ROOT / path), *(["-k", expression] if expression else [])]
    status = pytest.main(arguments)
    if status not in (0, 1):
        raise SystemExit(f"pytest ended with {status} for {selection!r}")
    return bool(status == 1)


def survives(mutant: Mutant, answer: Any) -> None:
    """Send whether a mutation goes unnoticed, or what went wrong."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            text = (ROOT / "mechanisms" / mutant.file).read_text()
            if text.count(mutant.old) != 1:
                raise SystemExit(f"its text occurs {text.count(mutant.old)} times")
            load(mutant, text.replace(mutant.old, mutant.new))
            judge: Callable[[str], bool] = tests_fail if mutant.notices.startswith(TESTS) else checks_fail
            answer.send("killed" if judge(mutant.notices) else "SURVIVED")
        except SystemExit as problem:
            answer.send(f"INVALID: {problem}")
        except Exception as error:
            answer.send(f"killed by {type(error).__name__}")


def main() -> None:
    """Run the mutations whose names begin with an argument, or all, and print the table."""
    import dp_accounting  # noqa: F401  imported once, before the processes are forked
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401

    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or mutant.name.startswith(tuple(sys.argv[1:]))]
    said = {}
    for mutant in chosen:
        said[mutant.name] = told_apart(survives, mutant)
        print(f"{mutant.name:5} {mutant.file:32} {said[mutant.name]:24} {mutant.notices}", flush=True)
    left = [name for name, word in said.items() if not word.startswith("killed")]
    unnoticed = f"; not: {', '.join(left)}" if left else ""
    print(f"{len(said) - len(left)} of {len(said)} mutations are noticed{unnoticed}")
    raise SystemExit(bool(left))


if __name__ == "__main__":
    main()
