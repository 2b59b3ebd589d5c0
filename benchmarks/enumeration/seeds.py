"""Find the laws of the enumerated subjects anew under five hash seeds, each in a process of its own, and compare them.

`python -m benchmarks.enumeration.seeds [word ...]` prints a row for each law of the catalog and of the samplers from
papers; words select them by name. A law is the same where no bracket of a probability excludes another one. The exit
status is 1 when a law differs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from itertools import chain
from typing import Any

import audit
from audit.enumeration.enumerated_law import Table, contradicted
from benchmarks.enumeration import subjects

SEEDS = ("0", "1", "20", "333", "4000")
COARSE = 2.0**-24
ONE = "--one"


def print_laws(words: list[str]) -> None:
    """Print both laws of each subject as one line of JSON."""
    warnings.simplefilter("ignore")
    for name, mechanism, _, _, left, right in chain(subjects.catalog(), subjects.own_samplers()):
        if words and not any(word in name for word in words):
            continue
        for side, data in (("left", left), ("right", right)):
            law = audit.enumerate_law(mechanism, data, residual=COARSE)
            texts = {text: str(probability) for text, probability in law.texts.items()}
            said = {"name": f"{name}, {side}", "texts": texts, "left": str(law.residual), "behind": law.behind}
            print(json.dumps(said), flush=True)


def laws_under(seed: str, words: list[str]) -> list[dict[str, Any]]:
    """Return the laws that a process with a hash seed finds."""
    command = [sys.executable, "-m", "benchmarks.enumeration.seeds", ONE, *words]
    variables = {**os.environ, "PYTHONHASHSEED": seed}
    made = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in made.stdout.splitlines()]


def table_of(law: dict[str, Any]) -> Table:
    """Return a law as exact numbers."""
    return Table({text: Fraction(value) for text, value in law["texts"].items()}, Fraction(law["left"]))


def main(words: list[str]) -> int:
    """Print a row for each law; return 1 if one differs."""
    found = [laws_under(seed, words) for seed in SEEDS]
    differing = 0
    print("| law | outputs | under five hash seeds |\n| --- | --- | --- |")
    for laws in zip(*found, strict=True):
        first, *others = map(table_of, laws)
        if any(law["behind"] for law in laws):
            said = "; ".join(sorted({name for law in laws for name in law["behind"]}))
        elif any(any(contradicted(first, other)) for other in others):
            said, differing = "differs", differing + 1
        else:
            said = "identical" if all(other == first for other in others) else "the same within its brackets"
        print(f"| {laws[0]['name']} | {len(first.texts)} | {said} |")
    print(f"\n{differing} of {len(found[0])} laws differ.")
    return int(differing > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == [ONE]:
        print_laws(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
