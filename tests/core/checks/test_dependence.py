"""Dependent runs, reused seeds and changes of behavior are named; independent mechanisms keep their verdicts.

Each search for dependence has a false-alarm probability of 1e-9 for independent outputs, so that no test here fails by
chance with probability above 1e-6 unless it says so. Seeds are fixed.
"""

import re
import sys

import numpy as np
import pytest

from audit import Local, PrivacyClaim, Verdict, check_privacy, per_call
from audit.execution import workers
from audit.execution.seeds import BLOCK
from tests.core.mechanisms import Copula, Shared, SharedResponse, laplace

CLAIM, PAIR = PrivacyClaim(1.0, relation=Local()), [(0.0, 1.0)]


def audited(mechanism, budget, seed=0, claim=CLAIM, **settings):
    return check_privacy(mechanism, claim, PAIR, budget=budget, seed=seed, workers=0, **settings)


def gaussian(data, size, rng):
    """1-private only for delta >= 0.13."""
    return data + rng.normal(size=size)


def few_seeds(data, size, rng):
    """A hundred seeds."""
    return data + np.random.default_rng(rng.integers(100)).laplace(size=size)


class Table:
    """Noise from a table that is read again and again."""

    def __init__(self):
        self.noise, self.place = np.random.default_rng(5).laplace(size=500), 0

    def __call__(self, data, size, rng):
        places = self.place + np.arange(size)
        self.place += size
        return data + self.noise[places % len(self.noise)]


class After:
    """Leaks after a number of outputs."""

    def __init__(self, count):
        self.count, self.made = count, 0

    def __call__(self, data, size, rng):
        self.made += size
        return 1000 + data + 1e-3 * rng.random(size) if self.made > self.count else laplace(data, size, rng)


SAME = "same outputs at the same place"
REUSED = {
    "same seed": (lambda data, size, rng: laplace(data, size, np.random.RandomState(42)), SAME),
    "own generator": (lambda data, size, rng: laplace(data, size, np.random.default_rng(0)), SAME),
    "few seeds": (few_seeds, "only a few seeds"),
    "table": (Table, "the outputs of successive calls repeat|the same seed gave different outputs"),
    "shared noise": (Shared(), "share noise within a call"),
    "half of the noise shared": (Shared(0.5), "share noise within a call"),
    "shared response": (SharedResponse(), "share noise within a call"),
}


@pytest.mark.parametrize(("name", "budget"), [*((name, 20_000) for name in REUSED), ("few seeds", 1_000)])
def test_reused_noise_is_named(name, budget):
    mechanism, cause = REUSED[name]
    result = audited(mechanism() if name == "table" else mechanism, budget)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert re.search(cause, result.reason)
    assert result.epsilon_lower_bound == 0.0 or name == "table"


def test_a_stated_law_looks_for_it_too():
    exact = audited(Stated(few_seeds), 20_000, method="exact")
    assert exact.verdict is Verdict.INCONCLUSIVE


class Stated:
    """Outputs with the law of Laplace noise."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def __call__(self, data, size, rng):
        return self.mechanism(data, size, rng)

    def law(self, data):
        from audit.laws import Laplace

        return Laplace(data, 1.0)


class InLargeCalls:
    """Leaks in calls of more than 13,000 outputs."""

    def __call__(self, data, size, rng):
        return 1000 + data + 1e-3 * rng.random(size) if size > 13_000 else laplace(data, size, rng)


LATE = {"after 80,000 outputs": (After(80_000), "later calls"), "in large calls": (InLargeCalls(), "a call of 16384")}


@pytest.mark.parametrize("name", LATE)
def test_a_leak_in_other_calls_is_named(name):
    mechanism, calls = LATE[name]
    result = audited(mechanism, 100_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert f"behaves otherwise in {calls}" in result.reason


def test_a_pass_says_how_many_outputs_its_calls_had():
    assert "in calls of 390 outputs" in audited(laplace, 100_000, method="fixed").scope[1]


class Watching:
    """Notes what a call shows: its size and its seed."""

    def __init__(self):
        self.seen = []

    def __call__(self, data, size, rng):
        sequence = rng.bit_generator.seed_seq
        self.seen.append((data, size, sequence.spawn_key, sequence.pool_size, len(bin(sequence.entropy)) > 80))
        return laplace(data, size, rng)


def test_a_call_does_not_show_its_stage():
    """All but the first call, which finds out the length of an output, and the long one at the end look alike."""
    watching = Watching()
    assert audited(watching, 100_000).verdict is Verdict.PASS
    first, *others, last = watching.seen
    assert (first[1], last[1]) == (2, BLOCK)
    assert last[2:] == others[0][2:]
    assert len(others) > 400
    for shown in zip(*[call[1:] for call in others], strict=True):
        assert all(one == shown[0] for one in shown)
    sides = np.array([call[0] for call in others])
    changes = np.mean(sides[1:] != sides[:-1])  # of a fair coin in every pair of calls: 3/4
    assert 0.6 < changes < 0.9


def leaks_where_certified(data, size, rng):
    """Leaks where the name of a caller tells the stage."""
    frame, names = sys._getframe(), set()
    while frame:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return laplace(data, size, rng) + 1000.0 * data * ("certify" in names)


def test_a_leak_by_the_name_of_a_caller_does_not_pass():
    """The calls that are set aside among those of training tell it."""
    assert audited(leaks_where_certified, 100_000).verdict is not Verdict.PASS


@pytest.mark.parametrize("mechanism", [gaussian, lambda data, size, rng: np.full(size, data)])
@pytest.mark.parametrize("budget", [1_000, 50_000])
@pytest.mark.false_alarm(1e-08)
def test_independent_violations_keep_their_fail(mechanism, budget):
    claim = PrivacyClaim(0.5, relation=Local())
    assert [audited(mechanism, budget, seed, claim).verdict for seed in range(3)] == [Verdict.FAIL] * 3


@pytest.mark.parametrize("mechanism", [Copula(3e-2), SharedResponse(0.5)])
@pytest.mark.false_alarm(1.2e-06, seeded=True)
def test_dependent_outputs_of_a_private_mechanism_do_not_fail(mechanism):
    """30 audits at significance 0.05: more than 9 FAILs have probability 1.2e-6."""
    verdicts = [audited(mechanism, 1_000, seed).verdict for seed in range(30)]
    assert verdicts.count(Verdict.FAIL) <= 9


class OwnGenerator:
    """A count with noise of its own generator, and a note of each call."""

    def __init__(self, notes):
        self.notes, self.rng = notes, np.random.default_rng(0)

    def count(self, data):
        self.notes.append(1)
        return float(np.sum(data) + self.rng.laplace())

    def rows(self, data, size, rng):
        return np.array([self.count(data) for _ in range(size)])


@pytest.mark.parametrize("mechanism", [lambda subject: per_call(subject.count), lambda subject: subject.rows])
def test_generator_of_the_mechanism_is_not_copied_to_other_processes(mechanism, monkeypatch):
    """Each of them would repeat its noise, and so would fresh outputs: a right count was refuted by that."""
    monkeypatch.setattr(workers, "_ALONE", 0.0)
    notes: list[int] = []
    subject = mechanism(OwnGenerator(notes))
    result = check_privacy(subject, PrivacyClaim(1.0), [([0, 0], [0, 1])], method="fixed", budget=3_000, workers=2)
    assert len(notes) == result.samples
