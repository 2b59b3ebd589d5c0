"""A value that never varies: a cache leaks nothing by one release, a fixed seed and no noise do."""

import functools
import json
import threading

import numpy as np
import pytest

import audit
from audit import AddRemove, PrivacyCheck, PrivacyClaim, Verdict, check_privacy, per_call
from audit.certificate.verify import list_problems, replay
from audit.evidence import new_processes
from audit.evidence.new_processes import NewProcesses, processes_due
from audit.execution import sandbox

CLAIM = PrivacyClaim(1.0, relation=AddRemove())
PAIR = (np.zeros(2), np.zeros(3))
SOURCE = np.random.default_rng()


@pytest.fixture(autouse=True, scope="module")
def real_interpreters():
    """Start new interpreters, which `tests/conftest.py` forks for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_processes, "start", sandbox.start)
        yield


def of_a_function():
    @functools.lru_cache(maxsize=8)
    def noisy(number):
        return number + SOURCE.laplace()

    return per_call(lambda data: noisy(len(data)))


def of_bits(data, kept):
    """Randomized response to whether there are three records, which keeps each answer."""
    return kept.setdefault(len(data), bool((len(data) == 3) ^ (np.random.default_rng().random() > 0.73)))


class Keeping:
    """Answers of an object, with a part that varies beside the one that is kept."""

    def __init__(self):
        self.kept = {}

    def __call__(self, data, rng):
        if len(data) not in self.kept:
            self.kept[len(data)] = len(data) + rng.laplace()
        return {"count": self.kept[len(data)], "noise": rng.laplace()}


def fixed_seed(data):
    return len(data) + np.random.default_rng(42).laplace()


def audited(mechanism):
    return check_privacy(mechanism, CLAIM, [PAIR], budget=10_000, workers=0)


CACHES = {
    "of a function": of_a_function,
    "of an object, of a part": lambda: per_call(Keeping()),
    "of bits": lambda: per_call(functools.partial(of_bits, kept={})),
}


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.false_alarm(1e-09)
def test_a_cache_of_a_right_mechanism_is_named_and_refutes_nothing(cache):
    """One release keeps the claim: 1e-6 bounds any such mechanism; Laplace noise never comes again elsewhere."""
    result = audited(CACHES[cache]())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.epsilon_lower_bound == 0
    assert "a cache" in result.reason or "depend" in result.reason or "varied" in result.reason


def test_a_cache_that_was_filled_before_the_check_is_no_fixed_seed():
    mechanism = per_call(Keeping())
    first, result = audited(mechanism), audited(mechanism)
    assert first.verdict is not Verdict.PASS
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "before the check: make it anew" in result.reason


@pytest.mark.parametrize(
    "mechanism", [fixed_seed, lambda data, rng: {"count": len(data), "noise": rng.laplace()}], ids=["seed", "no noise"]
)
def test_a_fixed_seed_and_no_noise_are_refuted_with_the_cause(mechanism):
    result = audited(per_call(mechanism))
    assert result.verdict is Verdict.FAIL
    assert "never varied on either dataset, nor in 45 new processes: a fixed seed, or no noise" in result.reason


def test_what_cannot_be_sent_is_not_called_a_leak():
    lock = threading.Lock()
    result = audited(per_call(lambda data: len(data) if lock else 0))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "cannot be sent to a new process (TypeError" in result.reason


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1e-5), (3.0, 0.1)])
def test_as_many_processes_are_asked_as_a_fair_coin_needs(epsilon, delta):
    """By randomized response, which is right most often: theta = (e^epsilon + delta) / (1 + e^epsilon)."""
    theta = (np.exp(epsilon) + delta) / (1 + np.exp(epsilon))
    due = processes_due(PrivacyClaim(epsilon, delta))
    assert theta**due <= 1e-6 < theta ** (due - 1)


def test_the_verdict_follows_from_the_record():
    """In processes of their own, and after a certificate was read."""
    checks = [
        PrivacyCheck(name="cache", mechanism=of_a_function(), claim=CLAIM, pairs=[PAIR]),
        PrivacyCheck(name="seed", mechanism=per_call(fixed_seed), claim=CLAIM, pairs=[PAIR], expected=Verdict.FAIL),
    ]
    report = audit.run(checks, budget=10_000, workers=2)
    assert [str(result.verdict) for result in report.results] == ["INCONCLUSIVE", "FAIL"]
    document = json.loads(json.dumps(report.certificate))
    assert list_problems(document) == []
    (asked,) = [way for way in document["checks"][0]["evidence"]["ways"] if way["way"] == "new processes"]
    assert (asked["processes"], asked["alike"], asked["failure"]) == (1, 0, "")
    assert replay(document).differences == ()


def test_more_processes_than_can_be_asked_are_not_asked():
    found = check_privacy(per_call(len), PrivacyClaim(15.0, relation=AddRemove()), [([], [0])], budget=2_000)
    asked = found.evidence.by(NewProcesses)
    assert asked.processes == 0
    assert "new processes would be needed" in asked.failure
