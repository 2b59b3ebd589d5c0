"""Find the laws of the enumerated subjects anew under five hash seeds, each in a process of its own, and compare them.

`python -m benchmarks.enumeration.seeds [--python PATH] [word ...]` prints a row for each law of the mechanisms and
samplers that are held to their claims by enumeration (both datasets), and of every privacy check of the catalog with
listed pairs (the first dataset); words select them by name. A law is the same where no bracket of a probability
excludes another one.
What has no law under the first seed, such as a continuous output, is counted and not asked again. `--python` names
another interpreter with the package, such as one of another version, which finds the laws once more; it may be
repeated. As many processes run at once as there are processors. The exit status is 1 when a law differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import chain
from typing import Any

import audit
from audit.extensions.enumeration.enumerated_law import Table, contradicted
from benchmarks.enumeration import catalog, subjects

SEEDS = ("0", "1", "20", "333", "4000")
COARSE = 2.0**-24
ONE, NOTHING = "--one", "-"


def laws() -> Iterator[tuple[str, Any, Any, float]]:
    """Yield names, mechanisms, datasets and limits in seconds."""
    for name, mechanism, _, _, left, right in chain(subjects.catalog(), subjects.own_samplers()):
        yield f"{name}, left", mechanism, left, 60.0
        yield f"{name}, right", mechanism, right, 60.0
    for _, check in catalog.privacy_checks():
        yield f"check: {check.name}", check.mechanism, check.pairs[0][0], 1.0


def print_laws(words: list[str], names: set[str]) -> None:
    """Print laws as lines of JSON: those of exactly these names or, without names, those that the words select."""
    warnings.simplefilter("ignore")
    for name, mechanism, data, limit in laws():
        is_wanted = name in names if names else not words or any(word in name for word in words)
        if not is_wanted:
            continue
        law = audit.enumerate_law(mechanism, data, residual=COARSE, time_limit=limit)
        texts = {text: str(probability) for text, probability in law.texts.items()}
        said = {"name": name, "texts": texts, "left": str(law.residual), "behind": law.behind}
        print(json.dumps(said), flush=True)


def laws_under(seed: str, words: list[str], names: list[str], python: str = sys.executable) -> list[dict[str, Any]]:
    """Return the laws that a process with a hash seed finds; the names are its standard input."""
    command = [python, "-m", "benchmarks.enumeration.seeds", ONE, *words]
    variables = {**os.environ, "PYTHONHASHSEED": seed}
    made = subprocess.run(command, env=variables, input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in made.stdout.splitlines()]


def table_of(law: dict[str, Any]) -> Table:
    """Return a law as exact numbers."""
    return Table({text: Fraction(value) for text, value in law["texts"].items()}, Fraction(law["left"]))


def main(arguments: list[str]) -> int:
    """Print a row for each law; return 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", default=[], help="another interpreter with the package")
    parser.add_argument("words", nargs="*", help="parts of names; all laws unless given")
    given = parser.parse_args(arguments)
    for python in given.python:
        laws_under(SEEDS[0], [], [NOTHING], python)  # one that cannot import the catalog says so before hours of work
    every = laws_under(SEEDS[0], given.words, [])
    first = [law for law in every if law["texts"]]
    names = [law["name"] for law in first]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(laws_under, seed, [], names) for seed in SEEDS[1:]]
        runs += [pool.submit(laws_under, SEEDS[0], [], names, python) for python in given.python]
    found = [first, *(run.result() for run in runs)]
    differing = 0
    more = f" and {len(given.python)} other interpreters" if given.python else ""
    print(f"| law | outputs | under five hash seeds{more} |\n| --- | --- | --- |")
    for same in zip(*found, strict=True):
        law, *others = map(table_of, same)
        if any(any(contradicted(law, other)) for other in others):
            said, differing = "differs", differing + 1
        else:
            said = "identical" if all(other == law for other in others) else "the same within its brackets"
        if barred := sorted({name for one in same for name in one["behind"]}):
            said += f"; no verdict: {'; '.join(barred)}"
        print(f"| {same[0]['name']} | {len(law.texts)} | {said} |")
    without = len(every) - len(first)
    print(f"\n{differing} of {len(first)} laws differ; {without} more have no law that can be enumerated.")
    return int(differing > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == [ONE]:
        print_laws(sys.argv[2:], set(sys.stdin.read().splitlines()))
    else:
        sys.exit(main(sys.argv[1:]))
