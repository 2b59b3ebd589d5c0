"""Independence of outputs: faults that must be convicted, and good mechanisms that must not.

The null is that all outputs are independent draws from one law; each of the six tests is an exact permutation test at
significance / 6, so that a good mechanism fails with probability at most `significance`. The seeds are fixed; a FAIL
needs the statistic to exceed all but a few of 999 permutations, and every fault here exceeds them by many deviations.
"""

import multiprocessing

import numpy as np
import pytest

from audit import per_call
from audit.errors import InvalidArgument
from audit.randomness import CALLS, TEXTS, check_randomness, equal_pairs
from audit.verdict import Verdict

DATA = np.zeros(5)
STRICT = 0.01  # significance for good mechanisms, whose seeds are fixed: the false alarms were drawn once
TABLE = np.random.default_rng(7).laplace(size=300)


class Cycle:
    """Noise from a table of 300 that starts again at its end."""

    def __init__(self):
        self.at = 0

    def __call__(self, data, size, rng):
        drawn = np.take(TABLE, range(self.at, self.at + size), mode="wrap")
        self.at += size
        return drawn


class OwnGenerator:
    """A generator of its own: independent within one process, the same in every forked one."""

    def __init__(self, discrete):
        self.rng = np.random.default_rng(5)
        self.discrete = discrete

    def __call__(self, data, size, rng):
        return self.rng.integers(0, 2, size) if self.discrete else self.rng.laplace(size=size)


class ReseededInWorkers(OwnGenerator):
    """The remedy: a new seed from the generator of the call."""

    def __call__(self, data, size, rng):
        self.rng = np.random.default_rng(rng.integers(2**63))
        return super().__call__(data, size, rng)


def fixed_seed(data, size, rng):
    return np.random.default_rng(1).laplace(size=size)


def fixed_seed_bits(data, size, rng):
    return np.random.default_rng(1).integers(0, 2, size)


def one_fixed_coordinate(data, size, rng):
    return np.c_[rng.normal(size=size), np.random.default_rng(1).normal(size=size)]


def each_noise_twice(data, size, rng):
    return np.repeat(rng.laplace(size=(size + 1) // 2), 2)[:size]


def shared_offset(data, size, rng):
    return rng.normal() + rng.normal(size=size)


def moving_average(data, size, rng):
    noise = rng.normal(size=size + 1)
    return noise[1:] + 0.5 * noise[:-1]


def laplace(data, size, rng):
    return rng.laplace(size=size)


FAULTS = [
    (fixed_seed, "same noise in every call"),
    (fixed_seed_bits, "same noise in every call"),
    (one_fixed_coordinate, "same noise in every call"),
    (Cycle(), "short period"),
    (each_noise_twice, "repeats within a call"),
    (shared_offset, "shared within a call"),
    (moving_average, "serial correlation"),
]
GOOD = {
    "laplace": laplace,
    "bits": lambda data, size, rng: rng.integers(0, 2, size),
    "rounded": lambda data, size, rng: np.rint(rng.laplace(scale=2, size=size)),
    "independent vectors": lambda data, size, rng: rng.normal(size=(size, 3)),
    "one noise on both coordinates": lambda data, size, rng: np.repeat(rng.normal(size=(size, 1)), 2, axis=1),
    "text": lambda data, size, rng: rng.choice(["a", "b", "c"], size),
    "heavy tails": lambda data, size, rng: rng.standard_cauchy(size),
    "one output a call": per_call(lambda data, rng: rng.laplace()),
    "new seed in workers": ReseededInWorkers(discrete=False),
}


@pytest.mark.parametrize(("mechanism", "kind"), FAULTS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_reused_noise_fails(mechanism, kind):
    result = check_randomness(mechanism, DATA, budget=1024)
    assert result.verdict is Verdict.FAIL
    assert kind in {finding.kind for finding in result.findings}
    assert result.samples == 1024


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here")
@pytest.mark.parametrize("discrete", [False, True])
def test_noise_that_forked_workers_share_fails(discrete):
    result = check_randomness(OwnGenerator(discrete), DATA, budget=1024, significance=STRICT)
    assert [finding.kind for finding in result.findings] == ["same noise in forked workers"]
    assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize("name", GOOD)
def test_independent_outputs_pass(name):
    result = check_randomness(GOOD[name], DATA, budget=704, significance=STRICT)
    assert result.verdict is Verdict.PASS, result.reason


def test_false_alarms_stay_below_the_significance():
    """Null: independent bits, 6 audits at 0.05: more than 3 FAILs have probability 9e-5; the seeds are fixed."""
    verdicts = [check_randomness(GOOD["bits"], DATA, budget=704, seed=seed).verdict for seed in range(6)]
    assert verdicts.count(Verdict.FAIL) <= 3


@pytest.mark.parametrize(
    ("mechanism", "budget", "why"),
    [
        (lambda data, size, rng: np.zeros(size), 704, "so much alike"),
        (lambda data, size, rng: 1 / 0, 704, "ZeroDivisionError"),
        (per_call(lambda data: 1 / 0), 704, "raised in every run"),
        (lambda data, size, rng: np.full(size, np.nan), 704, "NaN"),
        (lambda data, size, rng: 1.0, 704, "returned float"),
        (lambda data, size, rng: rng.normal(size=size + 1), 704, "were asked for"),
        (laplace, 100, "raise the budget"),
    ],
)
def test_what_cannot_be_judged_is_inconclusive(mechanism, budget, why):
    result = check_randomness(mechanism, DATA, budget=budget)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert why in result.reason


def test_a_significance_beyond_the_permutations_is_inconclusive():
    result = check_randomness(fixed_seed, DATA, significance=1e-6, budget=704)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "permutations" in result.reason


def test_the_same_seed_gives_the_same_tests():
    first, again, other = (check_randomness(laplace, DATA, budget=704, seed=seed) for seed in (3, 3, 4))
    assert first.tests == again.tests
    assert first.tests != other.tests
    assert [test.kind for test in first.tests] == list(TEXTS)
    assert first.to_dict()["verdict"] == first.verdict.value


def test_equal_pairs_by_hand():
    groups, codes = np.array([0, 0, 0, 1, 1, 1]), np.array([2, 2, 2, 2, -1, -1])
    assert equal_pairs(groups, codes) == 3  # three pairs of 2 in group 0; -1 equals nothing
    assert equal_pairs(np.zeros(4, dtype=int), np.full(4, -1)) == 0
    assert equal_pairs(np.zeros(CALLS, dtype=int), np.zeros(CALLS, dtype=int)) == CALLS * (CALLS - 1) / 2


@pytest.mark.parametrize(
    ("argument", "value"), [("budget", 1), ("significance", 0.0), ("significance", 1), ("seed", -1), ("mechanism", 3)]
)
def test_impossible_arguments_raise(argument, value):
    arguments = {"mechanism": laplace, argument: value}
    with pytest.raises(InvalidArgument, match=f"`{argument}`"):
        check_randomness(arguments.pop("mechanism"), DATA, **arguments)
