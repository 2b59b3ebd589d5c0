"""Audit all leaks: a PASS beyond what its scope names is wrong.

    python -m benchmarks.leaks                       # verdicts at 20,000 outputs and a tolerance of 1.5
    python -m benchmarks.leaks --defaults --seed 1   # as `check_privacy` is called without settings
    python -m benchmarks.leaks noise/"uniform noise" vectors

Every mechanism is audited at epsilon = 1 under add/remove of one record, which it breaks by far; a name is a file, or a
leak of it. The table ends with the counts of verdicts, and with the reasons of those that PASS.
"""

from __future__ import annotations

import argparse
import collections
import time
from collections.abc import Mapping
from typing import Any

from audit import AddRemove, PrivacyClaim, PrivacyResult, check_privacy, per_call
from benchmarks.leaks import beside, forms, learning, noise, services, vectors
from benchmarks.leaks.data import LEFT, RIGHT, Leak

FILES = (noise, vectors, learning, services, beside, forms)
LEAKS: Mapping[str, Leak] = {
    f"{file.__name__.rpartition('.')[2]}/{name}": leak for file in FILES for name, leak in file.LEAKS.items()
}
CLAIM = PrivacyClaim(1.0, 0.0, AddRemove())
QUICK = {"budget": 20_000, "tolerance": 1.5}


def audited(leak: Leak, **settings: Any) -> PrivacyResult:
    """Return the result for one leak."""
    mechanism = per_call(lambda data, rng: leak(data, rng))
    return check_privacy(mechanism, CLAIM, [(LEFT, RIGHT)], workers=0, **settings)


def main() -> None:
    """Print the verdict about each leak, the counts, and what each PASS says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="files or leaks; all by default")
    parser.add_argument("--defaults", action="store_true", help="no settings: what a user gets who gives none")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chosen = arguments.names or sorted({name.partition("/")[0] for name in LEAKS})
    counts, passed = collections.Counter[str](), dict[str, str]()
    for name in (name for name in LEAKS if {name, name.partition("/")[0]} & set(chosen)):
        began = time.process_time()
        result = audited(LEAKS[name], seed=arguments.seed, **({} if arguments.defaults else QUICK))
        counts[result.verdict.value] += 1
        if result.verdict.value == "PASS":
            passed[name] = result.reason
        print(
            f"{name:52} {result.verdict.value:13} {time.process_time() - began:6.2f} s  {result.reason[:90]}",
            flush=True,
        )
    print(f"{counts.total()} leaks:", ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    for name, reason in passed.items():
        print(f"PASS {name}: {reason}")


if __name__ == "__main__":
    main()
