"""Executors, crews and groups of blocks, without a cluster: names, order, failures, and what is refused."""

import os
import sys
import threading
import time

import numpy as np
import pytest
from cluster_subjects import check, laplace

import audit
from audit.base.errors import InvalidArgument, MissingExtra
from audit.faces.command_line import main
from audit.runs import suite
from audit.runs.agreement import require_same_code
from audit.subjects import BLOCK, Side, Stream, map_blocks
from audit.subjects.blocks import group_size, groups_from, helped_by
from audit.subjects.workers import EXECUTORS, Executor, Unreachable, open_executor, require_executor
from audit.subjects.workers.crew import Crew
from audit.subjects.workers.worker import Worker


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("serial", "Serial"),
        ("processes", "Processes"),
        ("dask://node:8786", "Dask"),
        ("tcp://127.0.0.1:1", "Dask"),
        ("dask://[::1]:8786", "Dask"),
    ],
)
def test_a_name_or_an_address_means_one_executor(text, name):
    assert require_executor(text).__name__ == name
    assert sum(known.is_meant(text) for known in EXECUTORS) == 1


@pytest.mark.parametrize("text", ["", "threads", "dask", "dask://", "dask://node", "http://n:1", "tcp://n:x", 3, None])
def test_anything_else_is_refused_and_the_forms_are_named(text):
    with pytest.raises(InvalidArgument, match="`executor` must be one of 'serial', 'processes', 'dask://scheduler"):
        require_executor(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(executor="serial", workers=2), "`workers` is for the executor 'processes'"),
        (dict(executor="dask://node:8786", workers=4), "'dask://node:8786' has its own, got 4"),
        (dict(executor="dask://node:8786", workers=0), "'dask://node:8786' has its own, got 0"),
        (dict(executor="somewhere"), "`executor` must"),
        (dict(workers=-1), "`workers` must be an integer >= 0"),
        (dict(workers=1.5), "`workers` must"),
    ],
)
def test_settings_that_contradict_each_other_raise_before_anything_is_drawn(options, message):
    with pytest.raises(InvalidArgument, match=message):
        audit.run([check("never", laplace)], **options)


def test_places():
    assert suite.Settings().place == ("processes", None)
    assert suite.Settings(workers=0).place == suite.Settings(executor="serial").place == ("serial", None)
    assert suite.Settings(workers=3).place == ("processes", 3)


def test_a_missing_extra_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"`distributed` is not installed; type: pip install 'dp-audit\[dask\]'"):
        open_executor("dask://127.0.0.1:8786")
    with pytest.raises(SystemExit) as stop:
        main(["run", "mechanisms.laplace", "--executor", "dask://127.0.0.1:8786", "--out", str(tmp_path / "out")])
    assert stop.value.code == 64
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_cluster_has_workers_of_its_own(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "mechanisms", "--executor", "dask://n:1", "--workers", "4", "--out", str(tmp_path / "out")])
    assert stop.value.code == 64
    assert "has its own" in capsys.readouterr().err


def divide(a, b):
    return a / b


def end():
    os._exit(3)


@pytest.mark.parametrize("text", ["serial", "processes"])
def test_a_call_returns_or_raises_what_the_function_does(text):
    with open_executor(text) as executor:
        assert executor.call(divide, 6, 3, timeout=60) == 2
        with pytest.raises(ZeroDivisionError):
            executor.call(divide, 6, 0, timeout=60)
        assert executor.call(divide, 8, 2, timeout=None) == 4


def test_a_process_that_hangs_or_dies_is_replaced():
    worker = Worker()
    try:
        with pytest.raises(TimeoutError, match=r"took longer than 0\.5 s"):
            worker.call(time.sleep, 60, timeout=0.5)
        with pytest.raises(ChildProcessError, match="killed its process"):
            worker.call(end, timeout=60)
        before = worker.call(os.getpid, timeout=60)
        os.kill(before, 9)  # between two tasks: no fault of the next one
        time.sleep(0.2)
        assert worker.call(os.getpid, timeout=60) != before
        with pytest.raises(ChildProcessError, match="nobody waits"):
            worker.call(time.sleep, 60, timeout=None, is_wanted=lambda: False)
    finally:
        worker.close()


block_module = sys.modules["audit.subjects.blocks"]  # the package has a function of that name


class Threads(Executor):
    """Calls in the threads that ask, and remembers how many there were at a time."""

    forms = ("threads",)
    width = 3

    def __init__(self, address="threads", workers=None):
        self.now, self.most, self.calls, self.lock = 0, 0, 0, threading.Lock()

    def call(self, function, *arguments, timeout):
        with self.lock:
            self.now, self.calls = self.now + 1, self.calls + 1
            self.most = max(self.most, self.now)
        try:
            return function(*arguments)
        finally:
            with self.lock:
                self.now -= 1


def test_a_crew_keeps_the_order_and_takes_items_as_it_goes():
    threads, taken = Threads(), []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    def slow(number):
        time.sleep(0.002 * (number % 5))
        return number * number

    with Crew(lambda: threads) as crew:
        for number, found in enumerate(crew.map(slow, items())):
            assert found == number * number
            assert len(taken) <= number + 8 * threads.width + 1
    assert threads.most == threads.width


def test_the_first_item_in_order_that_fails_is_the_one_that_raises():
    def fails(number):
        time.sleep(0.05 if number == 3 else 0)
        if number in (3, 4):
            raise ValueError(str(number))

    threads = Threads()
    with Crew(lambda: threads) as crew, pytest.raises(ValueError, match="3"):
        list(crew.map(fails, range(1000)))
    assert threads.calls < 40


def numbers(group):
    """What identifies every block of a group."""
    return [(block.size, float(np.random.default_rng(block.seed).random())) for block in group]


SIDES = [Side("a", 100 * BLOCK + 7, Stream(1)), Side("b", 0, Stream(2)), Side("c", 41 * BLOCK, Stream(3))]


def test_a_crew_draws_the_blocks_that_would_be_drawn_here(monkeypatch):
    def drawn():
        return [(side, block) for side, group in map_blocks(numbers, SIDES) for block in group]

    here = drawn()
    assert len(here) == 101 + 41
    monkeypatch.setattr(block_module, "_ALONE", 0.0)
    for limit in (1e-9, 1.0):  # seconds a task: single blocks, and groups
        monkeypatch.setattr(block_module, "_TASK", limit)
        threads = Threads()
        with Crew(lambda: threads) as crew, helped_by(crew):  # noqa: B023
            assert drawn() == here
        assert threads.calls == 141 if limit < 1 else 40 < threads.calls < 100


def test_what_takes_a_moment_calls_nobody_up():
    with Crew(lambda: pytest.fail("called up")) as crew, helped_by(crew):
        assert sum(len(group) for _, group in map_blocks(numbers, SIDES)) == 142


@pytest.mark.parametrize("seconds", [5e-4, 1.0])
def test_groups_of_an_audit_of_1e11_outputs(seconds):
    """Every block once, in order; few enough tasks for any scheduler, and enough for every worker."""
    sides = [Side("a", 10**11, Stream(1)), Side("b", 10**11, Stream(2))]
    total = sum(map(len, sides))
    size = group_size(seconds, total - 1, width=50)
    tasks, expected = 0, [1, 0]
    for side, first, last in groups_from(sides, (0, 1, 2), size):
        assert first == expected[side] < last <= len(sides[side])
        expected[side] = last
        tasks += 1
    assert expected == [len(side) for side in sides]
    assert tasks >= 16 * 50
    assert size * seconds <= 300
    assert tasks < 50_000


def test_a_check_is_spread_when_it_takes_more_than_a_workers_share():
    def large(budgets, width):
        checks = [check(str(number), laplace, budget=budget) for number, budget in enumerate(budgets)]
        return suite._Crew(suite.Settings(), 0.05)._large(checks, width)

    assert large([10**6], 1) == set()
    assert large([10**6], 2) == {"0"}
    assert large([10**5], 2) == set()  # not worth it
    assert large([10**6] * 3, 2) == set()  # enough checks for all workers
    assert large([10**6] * 3, 4) == {"0", "1", "2"}
    assert large([10**9, *[10**6] * 20], 2) == {"0"}


def test_workers_with_other_code_are_named():
    class Elsewhere(Threads):
        def everywhere(self, function, *arguments):
            return {"tcp://b:1": {**function(*arguments), "numpy": "0.1", "cluster_subjects": "missing"}}

    checks = [check("a", laplace)]
    require_same_code(Threads(), checks, [], dict)
    message = r"the worker tcp://b:1 has other code: numpy \(2.0 here\), cluster_subjects \([0-9a-f]{12} here\)"
    with pytest.raises(InvalidArgument, match=message):
        require_same_code(Elsewhere(), checks, [], lambda: {"numpy": "2.0"})


def test_lost_workers_are_no_result_and_nothing_else_is_kept(tmp_path):
    """The lost check is INCONCLUSIVE, and left to be audited by whoever resumes; the other one is kept."""
    checks = [check("lost", laplace), check("good", laplace)]
    checkpoint = suite.checkpoint_for(checks, suite.Settings(), [], tmp_path)
    checkpoint.begin(resume=False)

    class Losing(Threads):
        width = 1

        def call(self, function, *arguments, timeout):
            if arguments[0].name == "lost":
                raise Unreachable("the cluster is gone")
            return super().call(function, *arguments, timeout=timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "open_executor", lambda executor, workers: Losing())
        report = suite.run(checks, budget=60_000, checkpoint=checkpoint)
    assert report["lost"].reason == "the cluster is gone"
    assert report.verdict is audit.Verdict.INCONCLUSIVE
    assert [checkpoint.recorded(one) is None for one in checks] == [True, False]
    assert suite.run(checks, budget=60_000, workers=0, checkpoint=checkpoint)["lost"].verdict is audit.Verdict.PASS
