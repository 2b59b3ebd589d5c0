"""A private number beside a part that nothing reads does not PASS: the place is named; a part that is read convicts.

Runs are seeded. Where a leak is convicted, the other side has more than 10 standard deviations of it in one number.
"""

import base64
import struct

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict, per_call

PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))


def private(rng):
    return float(rng.laplace(scale=4))


def hist(data, rng):
    bins = {f"bin {place}": noise for place, noise in enumerate(rng.laplace(scale=0.3, size=100).tolist())}
    return {"total": private(rng), "hist": {**bins, "bin 7": bins["bin 7"] + float(data.sum())}}


def unread(data, rng):
    """A number in a text of one length."""
    packed = struct.pack("<d", data.sum() + rng.laplace(scale=0.3))
    return {"total": private(rng), "log": base64.b64encode(packed).decode()}


def audited(mechanism, budget=8_000, tolerance=1.5, **settings):
    settings |= {"budget": budget, "tolerance": tolerance}
    return audit.check_privacy(per_call(mechanism), PrivacyClaim(1.0), [PAIR], **settings)


@pytest.mark.false_alarm(1e-9)
def test_many_numbers_beside_a_private_one_are_read():
    assert audited(hist).verdict is Verdict.FAIL


def test_the_place_that_nothing_reads_is_named():
    result = audited(unread, 20_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'output["log"]' in result.reason
    assert result.evidence.game.unread == ('output["log"]',)


def test_without_it_the_number_passes():
    assert audited(lambda data, rng: {"total": private(rng), "log": "done"}, 20_000).verdict is Verdict.PASS


def now_and_then(scale):
    """A private number, or one in twenty times a text that tells of it."""

    def mechanism(data, rng):
        said = f"about {data.sum() + rng.laplace(scale=scale):.3f}"
        return said if rng.random() < 0.05 else private(rng)

    return mechanism


def test_texts_beside_numbers_bar_the_pass():
    """What a text says in one of twenty outputs is planted nowhere: a leak of it must not pass."""
    result = audited(now_and_then(0.9), 20_000, method="fixed")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "no score reads output:" in result.reason


def test_a_text_that_repeats_beside_numbers_passes():
    result = audited(lambda data, rng: "none" if rng.random() < 0.05 else private(rng), 20_000)
    assert result.verdict is Verdict.PASS
