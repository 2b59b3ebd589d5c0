"""Calls in other processes, without a cluster: what hangs, dies, prints or cannot travel harms no other call.

Work that is spread: the order of a pool, groups of blocks, shares of workers, and the code that they must have.
"""

import concurrent.futures
import itertools
import os
import pickle
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cluster_subjects import Marking, check, dies, judged, laplace, marks
from plain_calls import divide, end, print_and_call, raise_what_cannot_travel, write_own_number

import audit
from audit import runner as suite
from audit.errors import InvalidArgument, OtherCode, Unreachable
from audit.execution import sandbox, workers
from audit.execution.seeds import BLOCK, HERE, Calls, Place, Side, Stream
from audit.execution.workers import Pool, describe_code, group_size, groups_from, map_blocks, open_pool
from audit.runner import count_finished_checks
from tests.processes import is_alive


@pytest.mark.parametrize("text", ["serial", "processes"])
def test_a_call_returns_or_raises_what_the_function_does(text):
    with open_pool(Place(text)) as pool:
        assert pool.call(divide, 6, 3, timeout=60) == 2
        with pytest.raises(ZeroDivisionError):
            pool.call(divide, 6, 0, timeout=60)
        assert pool.call(divide, 8, 2) == 4


def test_a_class_of_the_script_is_pickled_in_a_worker_as_well(monkeypatch):
    """A worker gets the class by its code: without its name in `__main__`, objects of it cannot be pickled there."""
    monkeypatch.setattr(sys.modules["__main__"], "OfScript", None, raising=False)
    monkeypatch.delattr(sys.modules["__main__"], "OfScript")
    nested = type("Nested", (), {"__module__": "__main__", "__qualname__": "Outer.Nested"})
    of_script = type("OfScript", (), {"__module__": "__main__"})()
    of_script.part = nested
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(type(of_script))
    sent = pickle.loads(workers.pack(of_script))
    assert pickle.loads(pickle.dumps(type(sent))) is type(sent)
    assert not hasattr(sys.modules["__main__"], "Nested")


@pytest.fixture(params=["processes", "threads of ours", "processes of ours"])
def pool(request):
    """A pool of one worker on every kind of local executor."""
    kinds = {
        "threads of ours": concurrent.futures.ThreadPoolExecutor,
        "processes of ours": concurrent.futures.ProcessPoolExecutor,
    }
    executor = kinds[request.param](1) if request.param in kinds else "processes"
    with open_pool(Place(executor, 1)) as opened:
        yield opened
    if executor != "processes":
        assert executor.submit(divide, 6, 3).result(60) == 2  # its owner may go on with it
        begun = time.monotonic()
        executor.shutdown()
        assert time.monotonic() - begun < 0.8 * sandbox._IDLE  # no wait for idle processes


def test_a_call_that_hangs_or_dies_is_told_and_harms_no_other(pool):
    with pytest.raises(TimeoutError, match=r"took longer than 0\.5 s"):
        pool.call(time.sleep, 1e6, timeout=0.5)
    with pytest.raises(ChildProcessError, match=r"^killed its process$"):
        pool.call(end, timeout=60)
    with pytest.raises(RuntimeError, match="CannotTravel: here"):
        pool.call(raise_what_cannot_travel, timeout=60)
    before, supervisor = pool.call(numbers_of_process, timeout=60)
    assert before != os.getpid()
    os.kill(supervisor, 9)  # between two calls: no fault of the next one
    time.sleep(0.2)
    assert pool.call(os.getpid, timeout=60) != before


def test_what_a_call_prints_is_heard_whatever_becomes_of_it(pool):
    heard = []
    assert pool.call(print_and_call, divide, 6, 3, timeout=60, hear=heard.append) == 2
    ends = {ZeroDivisionError: (divide, 6, 0), ChildProcessError: (end,), TimeoutError: (time.sleep, 1e6)}
    for error, call in ends.items():
        with pytest.raises(error):
            pool.call(print_and_call, *call, timeout=5 if error is TimeoutError else 60, hear=heard.append)
    assert heard == ["said\n"] * 4


def test_closing_a_pool_ends_the_calls_under_way(tmp_path):
    pool = open_pool(Place(workers=1))
    answer = pool.submit(write_own_number, tmp_path / "number")
    while not (tmp_path / "number").exists():
        time.sleep(0.05)
    pool.close()
    with pytest.raises(Unreachable, match=r"closed|no more work"):
        answer.result(0)
    with pytest.raises(Unreachable, match=r"closed|no more work"):
        pool.call(os.getpid)
    number = int((tmp_path / "number").read_text())
    deadline = time.monotonic() + 60
    while is_alive(number):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def numbers_of_process():
    return os.getpid(), os.getppid()


def test_a_call_that_comes_after_the_end_of_its_session_is_refused(tmp_path):
    """An executor that does not know of the end brings a killed call again, which would hang with nobody to end it."""
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        pool = open_pool(Place(threads, 1))
        assert pool.call(divide, 6, 3, timeout=60) == 2
        pool.close()
        with pytest.raises(Unreachable, match="the session of this call has ended"):
            pool.call(divide, 6, 3, timeout=60)


def test_a_call_whose_supervisor_dies_under_it_is_tried_again_and_then_to_blame(tmp_path):
    with open_pool(Place(workers=1)) as pool:
        with pytest.raises(ChildProcessError, match="killed its process, and the one that watches it"):
            pool.call(kill_supervisor, tmp_path / "always", 9, timeout=60)
        assert pool.call(kill_supervisor, tmp_path / "twice", 2, timeout=60) == "at last"


def kill_supervisor(path, times):
    with path.open("a") as marks:
        marks.write("x")
    if len(path.read_text()) <= times:
        os.kill(os.getppid(), 9)
        time.sleep(60)
    return "at last"


def test_a_forked_process_has_what_nothing_could_send_to_it():
    lock, seen = threading.Lock(), []
    objects = [lambda value: seen.append(value) or (value, lock.locked())]
    with open_pool(Place(workers=2), objects) as pool:
        assert [pool.call(apply, objects[0], value) for value in "ab"] == [["a", False], ["b", False]]
    assert not seen  # it was a copy


def apply(function, value):
    return function(value)


def test_a_library_whose_threads_have_run_before_the_fork_runs_after_it(tmp_path):
    """Scikit-learn with GNU's OpenMP: a forked process that starts its threads again hangs for good."""
    ensemble, threads = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("threadpoolctl")
    features = np.random.default_rng(0).normal(size=(5000, 20))
    model = ensemble.HistGradientBoostingClassifier(max_iter=3)
    with threads.threadpool_limits(2):
        model.fit(features, features[:, 0] > 0)
        with open_pool(Place(workers=1), [model]) as pool:
            assert pool.call(fit_again, model, features, timeout=30) == [5000]


def fit_again(model, features):
    return model.fit(features, features[:, 0] > 0).predict(features).shape


@pytest.mark.false_alarm(1e-14)
def test_global_generators_differ_between_processes():
    """Forked copies of one state would give the same outputs; two of eight draws agree with probability 1e-14."""
    with open_pool(Place(workers=2)) as pool:
        drawn = [pool.call(draw_globally) for _ in range(8)]
    assert len({first for first, _ in drawn}) == len({second for _, second in drawn}) == 8


def draw_globally():
    import random

    return random.random(), float(np.random.random())  # noqa: NPY002


def test_nothing_of_a_call_is_unpickled_here(tmp_path):
    """Neither a value nor an exception, each of which would leave a file where it is unpickled."""
    with open_pool(Place(workers=1)) as pool:
        with pytest.raises(TypeError, match="not JSON serializable"):
            pool.call(Leaving, tmp_path / "value")
        with pytest.raises(RuntimeError, match="Leaving: "):
            pool.call(raise_leaving, tmp_path / "error")
    assert not list(tmp_path.iterdir())


class Leaving(Exception):
    """Leaves a file where it is unpickled."""

    def __reduce__(self):
        return self.args[0].touch, ()


def raise_leaving(path):
    raise Leaving(path)


def test_a_worker_that_cannot_load_a_check_is_lost_and_not_the_check(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def function(): return 1")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with open_pool(Place(concurrent.futures.ThreadPoolExecutor(1))) as pool:
        (tmp_path / "only_here.py").unlink()
        with pytest.raises(Unreachable, match=r"cannot load a check: ModuleNotFoundError: .*only_here"):
            pool.call(only_here.function, timeout=60)


def test_any_executor_may_run_checks(tmp_path):
    """The evidence is that of this process; what hangs or dies is one INCONCLUSIVE among others."""
    checks = [check("good", laplace), check("closure", lambda data, size, rng: data.sum() + rng.laplace(size=size))]
    bad = [check("dies", dies), check("hangs", Marking(str(tmp_path), hangs_away=True), timeout=2)]
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        report = audit.run([*bad, *checks], budget=80_000, significance=0.04, executor=executor, workers=2)
        assert executor.submit(divide, 6, 3).result() == 2
    here = audit.run(checks, budget=80_000, significance=0.02, confirmation=5e-7, executor="serial")  # the same shares
    assert judged(report.certificate)["checks"][2:] == judged(here.certificate)["checks"]
    assert [str(result.verdict) for result in report.results] == ["INCONCLUSIVE"] * 2 + ["PASS"] * 2
    assert report["dies"].reason == "the mechanism killed its process"
    assert " took longer than 2 s" in report["hangs"].reason  # with its audit, where the machine is busy
    assert not any(is_alive(process) for _, process in marks(tmp_path))


class Threads(Pool):
    """Calls in threads of this process, without isolation; remembers how many there were at a time."""

    def __init__(self, place=HERE, objects=(), shares=True):
        super().__init__(concurrent.futures.ThreadPoolExecutor(3), 3, run=self.here, shares=shares)
        self.now, self.most, self.calls, self.lock = 0, 0, 0, threading.Lock()

    def here(self, function, arguments, session, timeout):
        with self.lock:
            self.now, self.calls = self.now + 1, self.calls + 1
            self.most = max(self.most, self.now)
        try:
            kind, _, content = workers.run_pickle(function, arguments).partition(b" ")
            return sandbox.Outcome(kind.decode(), content)
        finally:
            with self.lock:
                self.now -= 1


def test_lost_workers_are_no_result_and_nothing_else_is_kept(tmp_path, monkeypatch):
    """The lost check is INCONCLUSIVE, and left to be audited by whoever resumes; the other one is kept."""
    checks = [check("lost", laplace), check("good", laplace)]

    class Losing(Threads):
        def submit(self, function, *arguments, **options):
            if arguments[0].name == "lost":
                raise Unreachable("the cluster is gone")
            return super().submit(function, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(suite, "open_pool", partial(Losing, shares=False))
        report = audit.run(checks, budget=60_000, directory=tmp_path)
    assert report["lost"].reason == "the cluster is gone"
    assert report.verdict is audit.Verdict.INCONCLUSIVE
    assert count_finished_checks(tmp_path) == 1
    begun = []
    again = audit.run(
        checks,
        budget=60_000,
        workers=0,
        directory=tmp_path,
        resume=True,
        announce=lambda check: begun.append(check.name),
    )
    assert begun == ["lost"]
    assert again["lost"].verdict is audit.Verdict.PASS
    assert not list(itertools.chain(tmp_path.glob("unfinished"), tmp_path.glob(".unfinished*")))


def test_a_pool_keeps_the_order_and_takes_items_as_it_goes():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    def slow(number):
        time.sleep(0.002 * (number % 5))
        return number * number

    with Threads() as threads:
        for number, found in enumerate(threads.map(slow, items())):
            assert found == number * number
            assert len(taken) <= number + 8 * threads.width + 1
        assert threads.most == threads.width
        assert not threads._under_way


def numbers(group):
    """What identifies every block of a group."""
    return [(block[1], float(np.random.default_rng(block[2]).random())) for block in group]


SIDES = [Side("a", 100 * BLOCK + 7, Stream(1)), Side("b", 0, Stream(2)), Side("c", 41 * BLOCK, Stream(3))]
block_module = sys.modules["audit.execution.workers"]  # the package has a function of that name


def test_a_pool_draws_the_blocks_that_would_be_drawn_here(monkeypatch):
    def drawn(place=HERE):
        return [block for group in map_blocks(numbers, Calls(SIDES, 1), place) for block in group]

    here = drawn()
    assert len(here) == 101 + 41
    monkeypatch.setattr(block_module, "_ALONE", 0.0)
    for limit in (1e-9, 1.0):  # seconds a call: single blocks, and groups
        monkeypatch.setattr(block_module, "_TASK", limit)
        threads = Threads()
        monkeypatch.setattr(block_module, "open_pool", lambda place, shares: threads)  # noqa: B023
        assert drawn(Place(workers=3)) == here
        assert threads.calls == 141 if limit < 1 else 40 < threads.calls < 100


def test_no_pool_is_opened_for_what_is_soon_done(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(block_module, "_ALONE", 1.0)
    monkeypatch.setattr(block_module, "time", SimpleNamespace(perf_counter=lambda: 0.4 * next(ticks)))
    monkeypatch.setattr(block_module, "open_pool", None)
    three = Calls([Side("a", 3 * BLOCK, Stream(1))], 1)  # after 1.2 seconds one is left
    assert len(list(map_blocks(numbers, three, Place(workers=3)))) == 3


@pytest.mark.parametrize("seconds", [5e-4, 1.0])
def test_groups_of_an_audit_of_1e11_outputs(seconds):
    """Every block once, in order; few enough calls for any scheduler, and enough for every worker."""
    total = len(Calls([Side("a", 10**11, Stream(1)), Side("b", 10**11, Stream(2))]))
    size = group_size(seconds, total - 1, width=50)
    calls, expected = 0, 1
    for first, last in groups_from(total, 1, size):
        assert first == expected < last
        expected = last
        calls += 1
    assert expected == total
    assert calls >= 16 * 50
    assert size * seconds <= 300
    assert calls < 50_000


def test_workers_with_other_code_are_refused_with_the_differences():
    code = describe_code(["Python", "package numpy", "code cluster_subjects"])
    with open_pool(Place(workers=1, code=code)) as pool:
        assert pool.call(divide, 6, 3) == 2
    other = code | {"package numpy": "0.1", "code cluster_subjects": "0123456789ab", "code gone": "ab"}
    message = r"a worker on .* has other code: package numpy \(0\.1 expected\), code cluster_subjects \(0123456789ab"
    with open_pool(Place(workers=1, code=other)) as pool, pytest.raises(OtherCode, match=message):
        pool.call(divide, 6, 3)


@pytest.mark.parametrize("budget", [60_000, suite.LEAST_SPREAD])  # one call, and blocks that are spread
def test_a_run_ends_when_a_worker_has_other_code(monkeypatch, budget):
    monkeypatch.setattr(suite, "describe_code", lambda names: {"package numpy": "0.1"})
    with pytest.raises(InvalidArgument, match=r"has other code: package numpy \(0\.1 expected\)"):
        audit.run([check("a", laplace)], budget=budget, workers=2)


def test_blocks_go_to_an_equal_share_of_workers_with_the_same_code():
    place = Place(workers=5, code={"Python": "4"})
    assert place.share(2, width=5) == Place(workers=2, code={"Python": "4"})
    assert place.share(3, width=5) is None
    assert HERE.share(1, width=1) is None
    assert Place("dask://node:8786").share(3, width=2) == Place("dask://node:8786")
