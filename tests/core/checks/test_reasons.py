"""A reason points: at the place in the output, at the call, at what to type."""

import itertools

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict, per_call
from audit.errors import InvalidArgument

PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))


def audited(mechanism, pair=PAIR, budget=8_000):
    return audit.check_privacy(mechanism, PrivacyClaim(1.0), [pair], budget=budget, tolerance=1.5, workers=0)


def private(rng):
    return float(rng.laplace(scale=4))


def test_a_counter_is_named():
    numbers = itertools.count()
    result = audited(per_call(lambda data, rng: {"n": next(numbers), "x": private(rng)}))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'output["n"] counts the calls' in result.reason


def test_outputs_that_are_filled_anew_are_read_at_once():
    held = {}

    def refill(data, size, rng):
        buffer = held.setdefault(size, np.zeros(size))
        buffer[:] = data.sum() + rng.laplace(size=size)
        return buffer

    one = per_call(lambda data, rng: refill(data, 1, rng))
    assert len({float(value[0]) for value in one(PAIR[0], 5, np.random.default_rng(0))}) == 5
    assert [audited(each, budget=20_000).verdict for each in (one, refill)] == [Verdict.PASS] * 2


class Remote:
    async def __call__(self, data):
        return 1.0


async def remote_batch(data, size, rng):
    return np.zeros(size)


def test_coroutines_of_every_kind_are_refused_with_what_to_type(recwarn):
    with pytest.raises(InvalidArgument, match=r"asyncio.run"):
        per_call(Remote())
    with pytest.raises(InvalidArgument, match=r"asyncio.run\(remote_batch\(data\)\)"):
        audited(remote_batch)
    assert "await it" in audited(per_call(lambda data: Remote()(data)), budget=100).reason
    assert not [each for each in recwarn.list if issubclass(each.category, RuntimeWarning)]  # never awaited
