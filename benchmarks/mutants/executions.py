"""The lines that each test executes and its CPU seconds, measured by folder and stored in `.coverage_of_tests`."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import sqlite3
import subprocess
import sys

import coverage
import pytest

from benchmarks.mutants.changes import ROOT

STORED = ROOT / ".coverage_of_tests"
_STARTS_OTHERS = "test_enumerated_laws.py"  # runs the other files of its folder in new processes
_LONG = 2.0  # CPU seconds after which a test is given up, and comes after all others


class Recorder:
    """Plugin of pytest: each test is a context of the measurement."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured, self.seconds = measured, dict[str, float]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        self.measured.switch_context(item.nodeid)
        before = sum(os.times()[:4])
        done = yield
        spent = sum(os.times()[:4]) - before
        self.seconds[item.nodeid] = spent if spent < _LONG else 10 * spent
        self.measured.switch_context("")
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self):
        signal.setitimer(signal.ITIMER_PROF, _LONG, _LONG)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def measure(*tests: str) -> None:
    """Run tests in this process, and add what they execute to the stored lines."""
    os.environ["COVERAGE_FILE"] = str(STORED)  # tests that would fork stay in this process
    measured = coverage.Coverage(STORED, config_file=False, source=["audit", "mechanisms"])
    measured.set_option("run:relative_files", True)
    measured.load()
    signal.signal(signal.SIGPROF, lambda *_: pytest.fail("it takes long"))
    recorder = Recorder(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not weekly", *tests], [recorder])
    measured.stop()
    measured.save()
    with sqlite3.connect(STORED) as stored:
        stored.execute("create table if not exists seconds (test text primary key, cpu real)")
        stored.executemany("insert or replace into seconds values (?, ?)", recorder.seconds.items())


def measure_folders(*folders: str) -> None:
    """Measure folders of tests anew, each in a process of its own; all but `tests/e2e` if none is named."""
    if not folders:
        STORED.unlink(missing_ok=True)
        folders = ("tests/core", "tests/extensions", "tests/mechanisms", "tests/meta")
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("test_*.py"))
    for folder, paths in itertools.groupby(found, lambda path: str(path.parent.relative_to(ROOT))):
        _forget(f"{folder}/test_*.py::*")
        files = [f"{folder}/{path.name}" for path in paths if path.name != _STARTS_OTHERS]
        subprocess.run([sys.executable, "-m", "benchmarks.mutants.executions", *files], cwd=ROOT, check=True)


def _forget(tests: str) -> None:
    """Remove the tests whose names match a pattern."""
    if not STORED.exists():
        return
    with sqlite3.connect(STORED) as stored:
        contexts = "select id from context where context glob ?"
        stored.execute(f"delete from line_bits where context_id in ({contexts})", (tests,))
        stored.execute("delete from seconds where test glob ?", (tests,))


@functools.cache
def read_seconds() -> dict[str, float]:
    """Return the CPU seconds of each test."""
    with sqlite3.connect(STORED) as stored:
        return dict(stored.execute("select test, cpu from seconds"))


@functools.cache
def read_lines(file: str) -> dict[int, list[str]]:
    """Return the tests that execute each line of a file."""
    stored = coverage.CoverageData(str(STORED))
    stored.read()
    return stored.contexts_by_lineno(file)


if __name__ == "__main__":
    measure(*sys.argv[1:])
