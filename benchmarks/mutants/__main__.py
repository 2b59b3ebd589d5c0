"""Judge changes of `audit` and `mechanisms`: is each noticed by a test, or by a check of the catalog?

    python -m benchmarks.mutants drawn 300 --seed 0      changes drawn evenly over all places of all files
    python -m benchmarks.mutants drawn 20 --only claims  of the files whose path contains a text
    python -m benchmarks.mutants drawn 300 --skip 25     without the first of them
    python -m benchmarks.mutants hand-made [NAME ...]    those of `hand_made.toml`, or the named ones
    python -m benchmarks.mutants map [FOLDER ...]        store the lines that each test of `make test` executes, or
                                                         measure those of some folders anew

Each change is made in a copy of the repository. A drawn one is judged by the tests of `make test` that execute its
line by the stored map, the fastest first, or where none does by those that name the most of what its file defines, and
by the checks that the file lists; a hand-made one names its tests, or checks by "checks MODULE PATTERN". A test that
fails there counts if it passes in the untouched copy, written in the same way; a check counts if it ends with FAIL in
place of PASS, or with PASS in place of FAIL. INCONCLUSIVE never counts, nor does a change by which tests never end: it
is counted apart, as one that nothing notices for a reason in `reasons.toml`. The exit status is 1 if another survives.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import ctypes
import fnmatch
import functools
import importlib.util
import itertools
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis.extra.numpy  # noqa: F401, what most tests import is imported once, and forked
import pytest
import scipy.stats  # noqa: F401

from benchmarks.mutants import executions
from benchmarks.mutants.changes import ROOT, Mutant, count_places, mutate

ENDLESS = "its tests never end"
_FILES = 6  # of tests for a drawn change
_MOST = 150  # CPU seconds of one process
_PATIENCE = 900.0  # seconds of one process
_MEMORY = 12 << 30  # bytes of one process
_CHOSEN = 60.0  # CPU seconds of the tests that are run for one drawn change
_FIRST = 40  # of these tests are run before the others are imported
_ALONE = "tests/extensions/enumeration/"  # these tests need a process in which no others have run


class Copy:
    """A copy of the repository in which files are changed and changed back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def run(self, text: str, mutant: Mutant, work: Callable[[], object]) -> tuple[int | None, str]:
        """Return the status of work in a fork with this text of a file, and what it prints; None if it never ends."""
        original = self.replace(mutant.file, text)
        with tempfile.TemporaryFile("w+") as printed:
            started = os.fork()
            if not started:
                _begin(self.folder, printed.fileno())
                os._exit(_finish(work))
            status = _wait(started)
            printed.seek(0)
            said = printed.read()
        self.replace(mutant.file, original)
        return status, said

    def replace(self, file: str, text: str) -> str:
        """Write a text into a file, and return its text before; texts of one size and second share no compiled code."""
        place = self.folder / file
        Path(importlib.util.cache_from_source(str(place))).unlink(missing_ok=True)
        before = place.read_text()
        place.write_text(text)
        return before

    def run_checks(self, text: str, mutant: Mutant, *names: str) -> set[tuple[str, str]]:
        """Return the verdicts and names of the checks that pass or fail."""
        return set(
            re.findall(r"^VERDICT (PASS|FAIL) (.*)$", self.run(text, mutant, lambda: print_verdicts(*names))[1], re.M)
        )

    def run_tests(self, text: str, mutant: Mutant, *selection: str) -> tuple[int | None, list[str]]:
        """Return the status of pytest, and the tests that fail."""
        options = ("-qx", "-p", "no:xdist", "-p", "no:cacheprovider", "-rfE")
        status, said = self.run(text, mutant, lambda: pytest.main([*options, *selection]))
        return status, re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.M)

    def judge(self, mutant: Mutant, selection: tuple[str, ...]) -> str | None:
        """Return the test or check of a selection that notices a change, `ENDLESS`, or None."""
        if selection[0] == "checks":
            before = self.run_checks(mutant.before, mutant, *selection[1:])
            after = self.run_checks(mutant.text, mutant, *selection[1:])
            return next((name for _, name in after - before if name in {name for _, name in before}), None)
        failing: list[str] = []  # in the untouched copy, too
        while True:
            left = (*selection, *(f"--deselect={name}" for name in failing))
            status, failed = self.run_tests(mutant.text, mutant, *left)
            if status is None:
                return ENDLESS if self.run_tests(mutant.before, mutant, *left)[0] is not None else None
            if mutant.tests and not failing and status == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise SystemExit(f"{mutant.name}: {' '.join(selection)} selects no test")
            if status == pytest.ExitCode.INTERNAL_ERROR and self.run_tests(mutant.before, mutant, *left)[0] == 0:
                return "pytest itself"
            if not failed or failed[0] in failing:
                return None
            alone = (failed[0], *["--collect-only"] * ("::" not in failed[0]))  # a file that cannot be imported
            if self.run_tests(mutant.before, mutant, *alone)[0] == 0:
                return failed[0]
            failing.append(failed[0])

    def find_killer(self, mutant: Mutant) -> str | None:
        """Return the first test or check that notices a change, `ENDLESS`, or None."""
        selections = mutant.tests or choose_tests(mutant)
        return next(filter(None, (self.judge(mutant, selection) for selection in selections)), None)


def print_verdicts(module: str, pattern: str) -> None:
    """Print the verdicts of the checks of a module whose name fits a pattern."""
    audit = importlib.import_module("audit")
    listed = [each for each in importlib.import_module(module).CHECKS if fnmatch.fnmatch(each.name, pattern)]
    for result in audit.run(listed, workers=0, significance=1e-3, budget=1_000).results:
        print("VERDICT", result.verdict.value, result.name)


def _begin(folder: Path, printed: int) -> None:
    """Make a fork a process that works in a folder, prints to a file, and has limits."""
    os.setsid()
    os.chdir(folder)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)  # what tests start imports the copy, too
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST, _MOST + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _finish(work: Callable[[], object]) -> int:
    """Return the status of work that was done or that raised."""
    try:
        return int(work() or 0)
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()


def _wait(process: int) -> int | None:
    """Return the status of a process, None if it exceeds its CPU time or our patience."""
    end = time.monotonic() + _PATIENCE
    while not (ended := os.waitpid(process, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    if not ended[0]:
        os.waitpid(process, 0)
    _end_orphans()
    if not ended[0]:
        return None
    status = os.waitstatus_to_exitcode(ended[1])
    return None if status == -signal.SIGXCPU else status


def _end_orphans() -> None:
    """End the processes that came to this one when their parents ended, such as have a session of their own."""
    while left := [process for process in map(int, filter(str.isdigit, os.listdir("/proc"))) if _is_child(process)]:
        for process in left:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _is_child(process: int) -> bool:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
    return False


@functools.cache
def read_tests() -> dict[str, set[str]]:
    """Return the words of each file of tests."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {str(file.relative_to(ROOT)): set(re.findall(r"\w+", file.read_text())) for file in files}


def choose_by_name(file: str) -> tuple[str, ...]:
    """Return the files of tests that name the most of what a file defines, those of its own folder first."""
    tree = ast.parse((ROOT / file).read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name for node in ast.walk(tree) if isinstance(node, kinds) and not node.name.startswith("__")}
    defined.add(Path(file).stem)
    folders = set(Path(file).parts[1:-1])

    def rank(test: str) -> tuple[int, int]:
        return -len(folders & set(Path(test).parts)), -len(defined & read_tests()[test])

    return tuple(sorted((test for test, words in read_tests().items() if defined & words), key=rank)[:_FILES])


def choose_executing(mutant: Mutant) -> list[str]:
    """Return tests that execute the lines of a change: a case of each function before others, the fastest first."""
    executed = executions.read_lines(mutant.file)
    seconds = executions.read_seconds()
    tests = {test for line in mutant.lines for test in executed.get(line, ()) if test in seconds}
    cases: Counter[str] = Counter()
    ranked = []
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        ranked.append((cases[function], seconds[test], test))
        cases[function] += 1
    spent = itertools.accumulate(cpu for _, cpu, _ in sorted(ranked))
    return [test for (_, _, test), until in zip(sorted(ranked), spent, strict=True) if until <= _CHOSEN]


def choose_tests(mutant: Mutant) -> Iterator[tuple[str, ...]]:
    """Yield the tests and checks that should notice a drawn change, those that cost least first."""
    executing = choose_executing(mutant) if executions.STORED.exists() else []
    for some in (executing[:_FIRST], executing[_FIRST:]):
        for alone in (False, True):
            yield from _in_order_of_files([name for name in some if name.startswith(_ALONE) == alone])
    if not executing:
        yield from ((file, "-m", "not weekly") for file in choose_by_name(mutant.file))
    if re.search(r"^CHECKS\b", (ROOT / mutant.file).read_text(), re.MULTILINE):
        yield "checks", ".".join(Path(mutant.file).with_suffix("").parts), "*"


def _in_order_of_files(tests: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield tests, if there are any, so that those of one file are together."""
    files = [name.partition("::")[0] for name in tests]
    if tests:
        yield tuple(sorted(tests, key=lambda name: files.index(name.partition("::")[0])))


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
        if more := row.keys() - {"file", "old", "new", "tests"}:
            raise SystemExit(
                f"{name}: {sorted(more)} belongs to no change: put rows without a head above the first table"
            )
        if names and name not in names:
            continue
        text = (ROOT / row["file"]).read_text()
        if text.count(row["old"]) != 1:
            raise SystemExit(f"{name}: its text occurs {text.count(row['old'])} times in {row['file']}")
        tests = tuple(_split(each) for each in row["tests"])
        yield Mutant(name, row["file"], text.replace(row["old"], row["new"]), text, tests)


@functools.cache
def read_reasons() -> dict[tuple[str, str, str], str]:
    """Return why drawn changes go unnoticed, by file and line before and after."""
    rows = tomllib.loads((Path(__file__).parent / "reasons.toml").read_text())["change"]
    return {(row["file"], row["before"], row["after"]): row["reason"] for row in rows}


def _split(selection: str) -> tuple[str, ...]:
    """Return the arguments for pytest, or "checks", a module and a pattern."""
    if selection.startswith("checks "):
        return tuple(selection.split(" ", 2))
    path, option, expression = selection.partition(" -k ")
    return (path, "-k", expression) if option else (path,)


def main() -> None:
    """Judge the changes, and print those that survive."""
    reader = argparse.ArgumentParser(description="Judge changes of the code.")
    kinds = reader.add_subparsers(dest="kind", required=True)
    drawn = kinds.add_parser("drawn")
    drawn.add_argument("count", type=int)
    drawn.add_argument("--seed", type=int, default=0)
    drawn.add_argument("--skip", type=int, default=0)
    drawn.add_argument("--only", default="")
    kinds.add_parser("hand-made").add_argument("names", nargs="*")
    kinds.add_parser("map").add_argument("folders", nargs="*")
    given = reader.parse_args()
    if given.kind == "map":
        return executions.measure_folders(*given.folders)
    made = draw(given.count, given.seed, given.only) if given.kind == "drawn" else read_hand_made(given.names)
    mutants, ends = list(made)[getattr(given, "skip", 0) :], Counter[str]()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # Linux: adopt orphans below this process
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for mutant in mutants:
            started, killer = time.monotonic(), copy.find_killer(mutant)
            reason = None if killer else read_reasons().get(mutant.place)
            end = "EXPECTED" if reason else {None: "SURVIVED", ENDLESS: "ENDLESS "}.get(killer, "noticed ")
            print(f"{end} {mutant.name}: {killer or reason or ''} ({time.monotonic() - started:.0f} s)", flush=True)
            ends[end.strip()] += 1
    print(*(f"{count} of {len(mutants)} {end}" for end, count in ends.items()), sep=", ")
    raise SystemExit(bool(ends["SURVIVED"]))


if __name__ == "__main__":
    main()
