"""Seeds belong to blocks, not to workers; memory does not grow with the budget."""

import sys
import tracemalloc
import types

import numpy as np
import pytest

from audit import PrivacyClaim, check_privacy
from audit.subjects import BLOCK, Side, Stream, map_blocks
from audit.subjects.pool import Place
from benchmarks import subjects


def first(block):
    return float(np.random.default_rng(block.seed).random())


def all_firsts(group):
    return [first(block) for block in group]


def test_blocks_cover_the_total_with_distinct_seeds():
    jobs = list(Side(None, 3 * BLOCK + 5, Stream(7, (1,))).blocks())
    assert [job.size for job in jobs] == [BLOCK] * 3 + [5]
    assert len({first(job) for job in jobs}) == 4


def test_seeds_are_those_of_spawn():
    spawned = np.random.SeedSequence(7, spawn_key=(1,)).spawn(2)
    jobs = list(Side(None, 2 * BLOCK, Stream(7, (1,))).blocks())
    assert [first(job) for job in jobs] == [float(np.random.default_rng(s).random()) for s in spawned]


def test_workers_change_nothing():
    sides = [Side(None, 5 * BLOCK, Stream(3)), Side(None, 0, Stream(4)), Side(None, 3 * BLOCK + 1, Stream(5))]
    expected = [(number, first(block)) for number, side in enumerate(sides) for block in side.blocks()]
    for workers in (0, 1, 2, 3):
        drawn = [(side, one) for side, group in map_blocks(all_firsts, sides, Place(workers=workers)) for one in group]
        assert drawn == expected


@pytest.mark.parametrize("workers", [2, 3])
def test_evidence_is_the_same_for_any_number_of_workers(workers):
    arguments = dict(claim=subjects.claim(0.1), pairs=subjects.PAIR, budget=60_000, seed=5)
    one = check_privacy(subjects.TwoPoint(0.1), **arguments)
    many = check_privacy(subjects.TwoPoint(0.1), **arguments, workers=workers)
    assert one.evidence == many.evidence
    assert one.record() == many.record()


def test_another_seed_gives_other_evidence():
    arguments = dict(claim=PrivacyClaim(1.0), pairs=[([0.0], [1.0])], budget=5_000)

    def mechanism(data, size, rng):
        return data[0] + rng.laplace(size=size)

    assert (
        check_privacy(mechanism, **arguments, seed=1).evidence != check_privacy(mechanism, **arguments, seed=2).evidence
    )


def test_memory_does_not_grow_with_the_budget():
    """Beyond the training cap the peak is that of one block: five times the budget, less than 1.2 times the memory."""
    peaks = []
    for budget in (4_000_000, 20_000_000):
        tracemalloc.start()
        check_privacy(flat, subjects.claim(), subjects.PAIR, budget=budget, method="fixed")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def flat(data, size, rng):
    """Cheap: one byte of randomness an output."""
    return rng.integers(0, 4, size, dtype=np.uint8)


def test_a_mechanism_that_workers_cannot_import_is_drawn_here(monkeypatch):
    """A module that only this process knows: an audit with the default number of workers gives the same evidence."""
    module = types.ModuleType("known_here_only")
    exec("import time\ndef slow(data, size, rng):\n    time.sleep(0.02)\n    return rng.random(size)", module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys.modules["audit.subjects.blocks"], "_ALONE", 0.05)
    arguments = dict(claim=PrivacyClaim(1.0), pairs=[([0.0], [1.0])], budget=100_000)
    here, anywhere = (check_privacy(module.slow, **arguments, workers=workers) for workers in (0, None))
    assert here.evidence == anywhere.evidence
