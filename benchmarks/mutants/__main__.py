"""Judge changes of `audit` and `mechanisms`: is each noticed by a test, or by a check of the catalog?

    python -m benchmarks.mutants drawn 300 --seed 0      changes drawn evenly over all places of all files
    python -m benchmarks.mutants drawn 20 --only claims  of the files whose path contains a text
    python -m benchmarks.mutants hand-made [NAME ...]    those of `hand_made.toml`, or the named ones

Each change is made in a copy of the repository. A drawn one is judged by the tests of `make test` that name the most of
what its file defines, and by the checks that the file lists; a hand-made one names its tests, or checks by "checks
MODULE PATTERN". A test that fails there counts if it passes in the untouched copy; a check counts if it ends with FAIL
in place of PASS, or with PASS in place of FAIL. INCONCLUSIVE never counts. The exit status is 1 if a change survives.
"""

from __future__ import annotations

import argparse
import ast
import functools
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutants.changes import ROOT, Mutant, count_places, mutate

_FILES = 6  # of tests for a drawn change
_MOST = 120  # CPU seconds of one process
_CHECKS = """
import fnmatch, importlib, sys, audit
listed = [each for each in importlib.import_module(sys.argv[1]).CHECKS if fnmatch.fnmatch(each.name, sys.argv[2])]
for result in audit.run(listed, workers=0, significance=1e-3, budget=1_000).results:
    print("VERDICT", result.verdict.value, result.name)
"""


class Copy:
    """A copy of the repository in which files are changed and changed back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def run(self, *arguments: str) -> str:
        """Return what Python prints, with a limit of CPU time for each process."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (_MOST, _MOST)),
        )  # fmt: skip
        return done.stdout

    def list_failures(self, selection: str, *options: str) -> set[str]:
        """Return the tests that fail, or the verdicts of checks."""
        if selection.startswith("checks "):
            said = self.run("-c", _CHECKS, *selection.split(" ", 2)[1:])
            return set(re.findall(r"^VERDICT (PASS .*|FAIL .*)$", said, re.M))
        path, _, expression = selection.partition(" -k ")
        chosen = [*options, *(["-k", expression] if expression else [])]
        said = self.run("-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-rfE", path, *chosen)
        return set(re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.M))

    @functools.cached_property
    def untouched(self) -> dict[str, set[str]]:
        """The answers of the untouched copy, by selection."""
        return {}

    def find_killer(self, mutant: Mutant) -> str | None:
        """Return the test or check that notices a change, or None."""
        place = self.folder / mutant.file
        original, options = place.read_text(), () if mutant.tests else ("-m", "not weekly")
        for selection in mutant.tests or choose_tests(mutant.file):
            if selection.startswith("checks ") and selection not in self.untouched:
                self.untouched[selection] = self.list_failures(selection)
            place.write_text(mutant.text)
            found = self.list_failures(selection, *options)
            place.write_text(original)
            if selection.startswith("checks "):
                kept = {line.split(" ", 1)[1] for line in self.untouched[selection]}
                killers = [line for line in found - self.untouched[selection] if line.split(" ", 1)[1] in kept]
            else:
                killers = [name for name in found if not self.list_failures(name.partition(" - ")[0])]
            if killers:
                return killers[0]
        return None


@functools.cache
def read_tests() -> dict[str, set[str]]:
    """Return the words of each file of tests."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {str(file.relative_to(ROOT)): set(re.findall(r"\w+", file.read_text())) for file in files}


@functools.cache
def choose_tests(file: str) -> tuple[str, ...]:
    """Return the tests that name the most of what a file defines, those of its own folder first, and its checks."""
    text = (ROOT / file).read_text()
    tree = ast.parse(text)
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name for node in ast.walk(tree) if isinstance(node, kinds) and not node.name.startswith("__")}
    defined.add(Path(file).stem)
    folders = set(Path(file).parts[1:-1])

    def rank(test: str) -> tuple[int, int]:
        return -len(folders & set(Path(test).parts)), -len(defined & read_tests()[test])

    files = sorted((test for test, words in read_tests().items() if defined & words), key=rank)[:_FILES]
    module = ".".join(Path(file).with_suffix("").parts)
    return (*files, *([f"checks {module} *"] if re.search(r"^CHECKS\b", text, re.MULTILINE) else []))


def draw(count: int, seed: int, only: str) -> Iterator[Mutant]:
    """Yield changes drawn without replacement from all places of the files whose path contains `only`."""
    paths = sorted(path for part in ("audit", "mechanisms") for path in (ROOT / part).rglob("*.py"))
    files = [file for file in (str(path.relative_to(ROOT)) for path in paths) if only in file]
    places = [(file, number) for file in files for number in range(count_places(file))]
    random.Random(seed).shuffle(places)
    made = (mutate(*place) for place in places)
    yield from [mutant for mutant, _ in zip(filter(None, made), range(count), strict=False)]


def read_hand_made(names: list[str]) -> Iterator[Mutant]:
    """Yield the changes of `hand_made.toml`, or those of some names."""
    for name, row in tomllib.loads((Path(__file__).parent / "hand_made.toml").read_text()).items():
        if names and name not in names:
            continue
        text = (ROOT / row["file"]).read_text()
        if text.count(row["old"]) != 1:
            raise SystemExit(f"{name}: its text occurs {text.count(row['old'])} times in {row['file']}")
        yield Mutant(name, row["file"], text.replace(row["old"], row["new"]), tuple(row["tests"]))


def main() -> None:
    """Judge the changes, and print those that survive."""
    reader = argparse.ArgumentParser(description="Judge changes of the code.")
    kinds = reader.add_subparsers(dest="kind", required=True)
    drawn = kinds.add_parser("drawn")
    drawn.add_argument("count", type=int)
    drawn.add_argument("--seed", type=int, default=0)
    drawn.add_argument("--only", default="")
    kinds.add_parser("hand-made").add_argument("names", nargs="*")
    given = reader.parse_args()
    made = draw(given.count, given.seed, given.only) if given.kind == "drawn" else read_hand_made(given.names)
    mutants, survivors = list(made), []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for mutant in mutants:
            killer = copy.find_killer(mutant)
            print(f"{'SURVIVED' if killer is None else 'noticed '} {mutant.name}: {killer or ''}", flush=True)
            survivors += [mutant.name] * (killer is None)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} noticed")
    raise SystemExit(bool(survivors))


if __name__ == "__main__":
    main()
