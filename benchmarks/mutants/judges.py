"""Mutations of the files that decide a verdict, judged anew on recorded evidence and then by the tests.

    python -m benchmarks.mutants.judges                     all mutations of all files
    python -m benchmarks.mutants.judges 400 0               400 of them by seed 0
    python -m benchmarks.mutants.judges 400 0 game/plants   of the files whose path contains a text

First the certificates of `reports/` are verified: their verdicts, reasons and numbers follow from their evidence, and a
test holds those of the reference. Then come the tests of the file, until one fails. What survives both is listed; so is
what takes four times as long as the unmutated file. The exit status is 1 if an unmutated file fails.
`report/checker.py` is left out: tests start it as a script, which reads its file.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
import time
from collections import Counter
from typing import Any

from benchmarks.mutants.changes import changes_nothing, mutation, places_of
from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.running import ROOT, Finder, told_apart

_GAME = "game/test_core_by_hand.py game/test_game.py"
_JUDGE = "report/test_judge.py checks/test_reasons.py report/test_curve_claims.py"
_RUNS = "training/runs/test_exact_levels.py training/runs/test_conformance.py"
TESTS = {  # of a file in `audit`: the fast ones first
    "game/guesses": f"{_GAME} game/test_resolution.py",
    "game/packing": "game/test_packing.py",
    "game/intervals": f"game/test_intervals.py {_GAME} game/test_confusion.py",
    "game/dependence": "game/test_calls_of_a_game.py checks/test_dependence.py",
    "game/means": "checks/utility checks/test_confirmation.py",
    "game/plants": "game/test_planted_violations.py report/test_judge.py",
    "game/resolution": "game/test_resolution.py game/test_core_by_hand.py",
    "checks/confirm": "checks/test_confirmation.py",
    "checks/privacy/early_look": "checks/test_early_looks.py",
    "checks/privacy/enumerated": "report/test_proofs.py",
    "checks/privacy/forked": "checks/interactive/test_forked_conversations.py",
    "checks/privacy/guess_game": f"{_JUDGE} game/test_calls_of_a_game.py checks/test_confirmation.py",
    "checks/privacy/judge": f"{_JUDGE} checks/test_early_looks.py",
    "checks/privacy/sequential_game": f"{_JUDGE} game/sequential",
    "checks/privacy/stated_law": f"checks/test_stated_losses.py {_JUDGE} laws/test_goodness_of_fit.py",
    "checks/privacy/told": "checks/interactive/test_check_interactive.py",
    "checks/privacy/way": f"{_JUDGE} checks/test_time_limits.py",
    "checks/utility/guarantee": "checks/utility",
    "checks/utility/rate_judge": "checks/utility/test_rate.py",
    "enumeration/absorbing_chain": "enumeration/test_absorbing_chain.py report/test_proofs.py",
    "training/canaries/judge": "training/test_canary_checks.py training/test_one_run.py",
    "training/canaries/one_run": "training/test_one_run.py training/test_canary_checks.py",
    "training/canaries/retrained": "training/test_retrained_canaries.py",
    "training/runs/judge": _RUNS,
    "training/runs/noise_tests": _RUNS,
}
_PATIENCE = 4  # times the seconds of the unmutated file
_RECORDS: list[Any] = []  # certificates, read before the processes are forked


def judged(mutant: Mutant, answer: Any) -> None:
    """Send what noticed one mutation, or that it survives."""
    sys.meta_path.insert(0, Finder(mutant, mutant.new, "audit"))
    os.chdir(ROOT)
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            from audit.report.verify import problems_of

            if any(problems_of(record) for record in _RECORDS):
                answer.send("killed by a recorded verdict")
                return
        except Exception:  # whatever a mutation raises is seen by who verifies a certificate
            answer.send("killed by an exception")
            return
        import pytest

        paths = [str(ROOT / "tests" / path) for path in mutant.notices.split()]
        status = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *paths])
    said = {0: "SURVIVED", 1: "killed by a test", 2: "killed by a test"}
    answer.send(said.get(int(status), f"invalid: status {status}"))


def main() -> None:
    """Judge each unmutated file, then the mutations that are drawn."""
    import hypothesis  # noqa: F401  imported once, before the processes are forked
    import pytest  # noqa: F401
    import scipy.special
    import scipy.stats  # noqa: F401

    numbers = [int(value) for value in sys.argv[1:3] if value.isdigit()]
    texts = [value for value in sys.argv[1:] if not value.isdigit()] or [""]
    files = [file for file in TESTS if any(text in file for text in texts)]
    _RECORDS.extend(json.loads(path.read_text()) for path in sorted((ROOT / "reports").rglob("certificate.json")))
    every = places_of("audit", files)
    count, seed = (*numbers, *(len(every), 0)[len(numbers) :])
    drawn = random.Random(seed).sample(every, min(count, len(every)))
    found: dict[str, Counter[str]] = {}
    for file in files:
        source = (ROOT / f"audit/{file}.py").read_text()
        mine = [mutation("audit", place, TESTS[file]) for place in sorted(drawn) if place[0] == file]
        mine = [each for each in mine if not changes_nothing(each)]
        started = time.monotonic()
        baseline = told_apart(judged, Mutant("unmutated", f"{file}.py", source, source, TESTS[file]))
        limit = _PATIENCE * (time.monotonic() - started)
        if baseline != "SURVIVED":
            print(f"{file}: unmutated: {baseline}")
            raise SystemExit(1)
        found[file] = Counter()
        for mutant in mine:
            said = told_apart(judged, mutant, limit)
            found[file][said.partition(":")[0]] += 1
            if not said.startswith("killed"):
                print(f"{said}: {mutant.name}", flush=True)
        noticed = sum(n for said, n in found[file].items() if said.startswith("killed"))
        print(f"{file}: {noticed} of {len(mine)} noticed; {dict(found[file])}; {limit / _PATIENCE:.1f} s", flush=True)
    noticed = sum(n for each in found.values() for said, n in each.items() if said.startswith("killed"))
    print(f"{noticed} of {sum(map(Counter.total, found.values()))} noticed, drawn from {len(every)} by seed {seed}")


if __name__ == "__main__":
    main()
