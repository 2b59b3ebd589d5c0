"""The subject: what it did to its dataset is written down, and only that."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import PrivacyClaim, Verdict, check_privacy, per_call
from audit.game.exchangeability import kruskal_pvalue
from audit.subjects import Block, Subject

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


@pytest.mark.parametrize("dataset", [np.full(4, 0.2)[::2], np.full(1, 0.2)[1:], np.arange(6.0).reshape(2, 3).T])
def test_a_view_that_nobody_touched_has_not_changed(dataset):
    """A strided or empty view hashes unlike its own copy; that is not a mutation."""
    subject = Subject(lambda data, size, rng: np.zeros(size) + data.sum())
    _, odd = subject.draw(Block(dataset, 3, np.random.SeedSequence(0)))
    assert not odd


def test_a_view_that_is_written_to_has_changed():
    def writes(data, size, rng):
        data += 1
        return np.zeros(size)

    _, odd = Subject(writes).draw(Block(np.full(4, 0.2)[::2], 3, np.random.SeedSequence(0)))
    assert odd["mutated its dataset"] == 1


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_the_test_for_dependence_is_that_of_scipy(digits):
    """With many ties, some and none; with equal laws and a shifted one."""
    rng = np.random.default_rng(digits)
    for shift in (0.0, 1.0):
        samples = [np.round(rng.normal(number * shift, 1, 5 + number), digits) for number in range(6)]
        assert kruskal_pvalue(samples) == pytest.approx(stats.kruskal(*samples).pvalue, rel=1e-9)
    assert math.isnan(kruskal_pvalue([np.array([np.nan, 1.0]), np.array([1.0, 2.0])]))


class Own(BaseException):
    """What only `except BaseException` catches."""


def raising(error):
    def mechanism(data, size, rng):
        raise error

    return mechanism


class Unreadable:
    """An output whose copy ends the interpreter, if it is let."""

    def __reduce_ex__(self, protocol):
        raise SystemExit("out")


@pytest.mark.parametrize("error", [Own("mine"), GeneratorExit(), SystemExit(3)])
def test_in_the_process_of_the_caller_an_exception_is_a_cause_as_well(error):
    found = check_privacy(raising(error), PrivacyClaim(1.0), [PAIR], budget=100, workers=0)
    assert (found.verdict, found.isolation) == (Verdict.INCONCLUSIVE, "caller")
    assert f"raised {type(error).__name__}" in found.reason


def test_an_output_that_cannot_be_read_is_a_cause():
    mechanism = lambda data, size, rng: [Unreadable() for _ in range(size)]  # noqa: E731
    found = check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=100, workers=0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "SystemExit" in found.reason


@pytest.mark.parametrize("error", [KeyboardInterrupt(), pytest.skip.Exception("not here")])
def test_what_the_user_or_pytest_raises_in_the_process_of_the_caller_goes_on(error):
    for mechanism in (raising(error), per_call(lambda data, rng: raising(error)(data, 1, rng))):
        with pytest.raises(type(error)):
            check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=100, workers=0)


def test_a_check_with_a_time_limit_has_a_process_of_its_own_and_its_witness_no_event():
    leak = lambda data, size, rng: data.sum() + rng.laplace(size=size)  # noqa: E731
    found = check_privacy(leak, PrivacyClaim(0.2), [PAIR], budget=20_000, timeout=60)
    here = check_privacy(leak, PrivacyClaim(0.2), [PAIR], budget=20_000, workers=0)
    assert (found.isolation, here.isolation) == ("process", "caller")
    assert found.record() == here.record()
    assert found.witness.event is None
    assert here.witness.event(np.zeros(3)).shape == (3,)
    assert found.to_dict()["isolation"] == "process"
