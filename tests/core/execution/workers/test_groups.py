"""Work that is spread: the order of a pool, groups of blocks, shares of workers, and the code that they must have."""

import sys
import time

import numpy as np
import pytest
from cluster_subjects import check, laplace
from plain_calls import divide
from threads_pool import Threads

import audit
from audit import runner as suite
from audit.errors import InvalidArgument, OtherCode
from audit.execution.seeds import BLOCK, HERE, Calls, Place, Side, Stream
from audit.execution.workers import describe_code, group_size, groups_from, map_blocks, open_pool


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
    return [(block.size, float(np.random.default_rng(block.seed).random())) for block in group]


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
