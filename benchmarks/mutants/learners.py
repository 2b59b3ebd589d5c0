"""Mutations of `mechanisms/learners` drawn at random, the whole file unmutated first.

    python -m benchmarks.mutants.learners 150 0    150 mutations by seed 0; a survivor takes a minute
    python -m benchmarks.mutants.learners 150 0 estimators/ledger.py:70 learners/regressor    of these, those named

Tests of the learners' package and of `audit.check_estimator` run on each until one fails: that alone is a kill. A
mutation that takes three times as long as the unmutated files is listed as too slow. The exit status is 1 if the
unmutated files fail.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.mutants.changes import changes_nothing, mutation, places_of
from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.running import ROOT, load, told_apart

FILES = ("learners/base", "learners/classifiers", "learners/regressor", "learners/ledger")
PACKAGE, AUDIT = "tests/mechanisms/test_learner_package.py", "tests/extensions/estimators/test_check_estimator.py"
STAGES = (  # the fast ones first
    (PACKAGE, "-k", "not scikit_learn and not answer"),
    (PACKAGE, "-k", "scikit_learn or answer"),
    (AUDIT,),
)
_PATIENCE = 3  # times the seconds of the unmutated files


def judged(mutant: Mutant, answer: Any) -> None:
    """Send what became of one mutation: the stage that fails, or that it survives."""
    import pytest

    nowhere = io.StringIO()
    os.chdir(ROOT)
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            load(mutant, mutant.new)
        except Exception as error:
            answer.send(f"killed by {type(error).__name__}")
            return
        for path, *more in STAGES:
            status = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", str(ROOT / path), *more])
            if status != 0:
                answer.send(f"killed by {Path(path).name}" if status in (1, 2) else f"invalid: status {status}")
                return
    answer.send("SURVIVED")


def main() -> None:
    """Judge the unmutated files, then the mutations that are drawn."""
    import sklearn.utils.estimator_checks  # noqa: F401  imported once, before the processes are forked

    import mechanisms.papers.bassily2018.algorithm5  # noqa: F401

    count, seed = (int(value) for value in (*sys.argv[1:3], *("150", "0")[len(sys.argv[1:3]) :]))
    chosen = tuple(sys.argv[3:]) or ("",)
    source = (ROOT / "mechanisms/estimators/base.py").read_text()
    started = time.monotonic()
    baseline = told_apart(judged, Mutant("unmutated", "estimators/base.py", source, source, PACKAGE))
    print(f"unmutated: {baseline}", flush=True)
    if baseline != "SURVIVED":
        raise SystemExit(1)
    limit = _PATIENCE * (time.monotonic() - started)
    every = places_of("mechanisms", FILES)
    sample = random.Random(seed).sample(every, min(count, len(every)))
    drawn = [mutation("mechanisms", place, PACKAGE) for place in sample]
    drawn = [each for each in drawn if not changes_nothing(each) and each.name.startswith(chosen)]
    found: Counter[str] = Counter()
    for index, mutant in enumerate(drawn, 1):
        said = told_apart(judged, mutant, limit)
        found[said.split()[0]] += 1
        if index % 25 == 0:
            print(f"after {index}: {dict(found)}", flush=True)
        if not said.startswith("killed"):
            print(f"{said}: {mutant.name}", flush=True)
    print(f"{found['killed']} of {len(drawn)} killed, drawn from {len(every)} by seed {seed}: {dict(found)}")


if __name__ == "__main__":
    main()
