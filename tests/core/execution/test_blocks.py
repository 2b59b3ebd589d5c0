"""Seeds belong to blocks, not to workers; memory does not grow with the budget."""

import tracemalloc

import numpy as np
import pytest
from scipy import special, stats

from audit import Local, PrivacyCheck, PrivacyClaim, check_privacy
from audit.execution.seeds import BLOCK, Calls, Side, Stream
from tests.core.mechanisms import PAIR, laplace


def first(block):
    return float(np.random.default_rng(block[2]).random())


def test_blocks_cover_the_total_with_distinct_seeds():
    jobs = list(Side(None, 3 * BLOCK + 5, Stream(7, (1,))).blocks())
    assert [size for _, size, _ in jobs] == [BLOCK] * 3 + [5]
    assert len({first(job) for job in jobs}) == 4


def test_seeds_name_neither_their_stream_nor_its_parent():
    seeds = [Stream(entropy, key).digest() for entropy in (0, 7, 2**32) for key in ((), (1,), (2,), (1, 2), (12,))]
    assert {seed.spawn_key for seed in seeds} == {()}
    assert len({seed.entropy for seed in seeds}) == len(seeds)
    assert Stream(7, (1, 2)).digest().entropy == Stream(7).child(1, 2).digest().entropy


@pytest.mark.false_alarm(1e-06)
def test_calls_are_mixed_and_each_is_made_once():
    """Every round has one call of each side that is not done, in a random order; which order says nothing."""
    sides = [Side(None, total, Stream(1), 10) for total in (10_000, 0, 4_000, 10_000)]
    calls = Calls(sides, 5)
    located = [calls.locate(call) for call in range(len(calls))]
    assert sorted(located) == [(side, number) for side in (0, 2, 3) for number in range(len(sides[side]))]
    assert all(abs(number - call // 3) <= 1 for call, (_, number) in enumerate(located[:1200]))
    first = np.array([side for side, _ in located[0:1200:3]])
    assert stats.chisquare([np.sum(first == side) for side in (0, 2, 3)]).pvalue > 1e-6
    assert np.any(first[:100] != first[256:356])  # of two parts of 256 rounds
    assert located != [Calls(sides, 6).locate(call) for call in range(len(calls))]


def test_each_check_has_a_stream_of_its_own():
    checks = [PrivacyCheck(name=name, mechanism=laplace, claim=PrivacyClaim(1.0), pairs=[PAIR]) for name in "ab"]
    assert len({Stream.of(seed, check.name) for check in checks for seed in (0, 1)}) == 4


def shown_now_and_then(data, size, rng):
    """(1, 0.1)-DP: shows the bit with probability 0.1, else randomized response."""
    answer = np.where(rng.random(size) < special.expit(1.0), data, 1 - data)
    return np.where(rng.random(size) < 0.1, 2 + data, answer)


def test_evidence_is_the_same_for_any_number_of_workers():
    arguments = dict(claim=PrivacyClaim(1.0, 0.1, Local()), pairs=[(0, 1)], budget=60_000, seed=5)
    one = check_privacy(shown_now_and_then, **arguments)
    many = check_privacy(shown_now_and_then, **arguments, workers=2)
    assert one.evidence == many.evidence
    assert one.record() == many.record()


def test_memory_does_not_grow_with_the_budget():
    """Beyond the training cap the peak is that of one block: four times the budget, less than 1.2 times the memory."""
    peaks = []
    for budget in (3_000_000, 12_000_000):
        tracemalloc.start()
        result = check_privacy(flat, PrivacyClaim(1.0, 0.0, Local()), [(0, 1)], budget=budget, method="fixed")
        assert 0 <= 2 * budget - result.samples < 4 * BLOCK  # the last calls of either side are whole
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def flat(data, size, rng):
    """Cheap: one byte of randomness an output."""
    return rng.integers(0, 4, size, dtype=np.uint8)
