"""The zoo of leaks: each is called on both datasets, and one of every file is convicted."""

import contextlib

import numpy as np
import pytest

from audit import Verdict
from benchmarks.leaks.__main__ import LEAKS, QUICK, audited
from benchmarks.leaks.data import LEFT, RIGHT
from tests.offenders import for_each

CHEAP = (  # one of each file, of those that take a tenth of a second
    "noise/noise cut at three",
    "vectors/exact difference",
    "learning/exact margin of votes",
    "services/number of tries",
    "beside/count of what was clipped",
    "forms/order of bytes",
)


@for_each(LEAKS)
def test_every_leak_can_be_called_on_both_datasets(name):
    for data in (LEFT, RIGHT):
        with contextlib.suppress(ZeroDivisionError, OverflowError):  # what it raises is its leak
            LEAKS[name](list(data), np.random.default_rng(0))


@pytest.mark.parametrize("name", CHEAP)
def test_a_leak_is_convicted(name):
    assert audited(LEAKS[name], **QUICK).verdict is Verdict.FAIL
