"""Independence of outputs: faults that must be convicted, and good mechanisms that must not.

The null is that all outputs are independent draws from one law; each of the eight comparisons is an exact sign test at
significance / 8, so that a good mechanism fails with probability at most `significance`. The seeds are fixed; a FAIL
needs a share of won comparisons that every fault here exceeds by many deviations.
"""

import json
import multiprocessing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import audit
from audit import RandomnessCheck, per_call
from audit.certificate.verify import judge_record
from audit.errors import InvalidArgument, InvalidCertificate
from audit.extensions.randomness.check import RandomnessEvidence, check_randomness
from audit.extensions.randomness.comparisons import KINDS, _serial, concordance, describe_comparison
from audit.outputs.encode import Outputs
from audit.statistics.independence import (
    SwapComparison,
    Values,
    _log_repeats,
    compare_calls,
    equality,
    group_concordance,
    group_equality,
)
from audit.verdict import Verdict

DATA = np.zeros(5)
STRICT = 1e-7  # significance for good mechanisms: the probability of each false alarm
TINY = 1_024
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


def moving_average(data, size, rng):
    noise = rng.normal(size=size + 1)
    return noise[1:] + 0.5 * noise[:-1]


def laplace(data, size, rng):
    return rng.laplace(size=size)


def bits(data, size, rng):
    return rng.integers(0, 2, size)


FAULTS = {
    "fixed seed": (fixed_seed, "same noise in every call"),
    "fixed seed, bits": (
        lambda data, size, rng: np.random.default_rng(1).integers(0, 2, size), "same noise in every call",
    ),
    "one fixed coordinate": (
        lambda data, size, rng: np.c_[rng.normal(size=size), np.random.default_rng(1).normal(size=size)],
        "same noise in every call",
    ),
    "cycle": (Cycle(), "short period"),
    "each noise twice": (
        lambda data, size, rng: np.repeat(rng.laplace(size=(size + 1) // 2), 2)[:size], "repeats within a call",
    ),
    "shared offset": (lambda data, size, rng: rng.normal() + rng.normal(size=size), "shared within a call"),
    "moving average": (moving_average, "serial correlation"),
}  # fmt: skip
GOOD = {
    "laplace": laplace,
    "bits": bits,
    "rounded": lambda data, size, rng: np.rint(rng.laplace(scale=2, size=size)),
    "independent vectors": lambda data, size, rng: rng.normal(size=(size, 3)),
    "one noise on both coordinates": lambda data, size, rng: np.repeat(rng.normal(size=(size, 1)), 2, axis=1),
    "text": lambda data, size, rng: rng.choice(["a", "b", "c"], size),
    "heavy tails": lambda data, size, rng: rng.standard_cauchy(size),
    "one output a call": per_call(lambda data, rng: rng.laplace()),
    "new seed in workers": ReseededInWorkers(discrete=False),
}


@pytest.mark.parametrize("name", FAULTS)
def test_reused_noise_fails(name):
    mechanism, kind = FAULTS[name]
    result = check_randomness(mechanism, DATA, budget=2_048)
    assert result.verdict is Verdict.FAIL
    assert f"p-value, {kind}" in {part.quantity for part in result.bounds}
    assert "error probability 0.05" in result.reason
    assert "error probability together 1e-06" in result.reason
    assert result.evidence.samples <= 2_048


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here")
@pytest.mark.parametrize("discrete", [False, True])
def test_noise_that_workers_share_fails(discrete):
    result = check_randomness(OwnGenerator(discrete), DATA, significance=STRICT)
    assert [part.quantity for part in result.bounds] == ["p-value, same noise in workers"]
    assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.false_alarm(1e-07)
def test_independent_outputs_pass(name):
    result = check_randomness(GOOD[name], DATA, significance=STRICT)
    assert result.verdict is Verdict.PASS, result.reason
    assert [part.kind for part in result.evidence.comparisons] == list(KINDS)


@pytest.mark.false_alarm(2e-06, seeded=True)
def test_false_alarms_stay_below_the_significance():
    """Null: independent bits, 40 audits at 0.05: more than 11 FAILs have probability below 2e-6."""
    found = [check_randomness(GOOD["bits"], DATA, budget=TINY, seed=seed).verdict for seed in range(40)]
    assert found.count(Verdict.FAIL) <= 11


@pytest.mark.parametrize(
    ("mechanism", "budget", "why"),
    [
        (lambda data, size, rng: np.zeros(size), TINY, "so much alike"),
        (lambda data, size, rng: 1 / 0, TINY, "ZeroDivisionError"),
        (per_call(lambda data: 1 / 0), TINY, "raised in every run"),
        (lambda data, size, rng: np.full(size, np.nan), TINY, "NaN"),
        (lambda data, size, rng: 1.0, TINY, "got float"),
        (lambda data, size, rng: rng.normal(size=size + 1), TINY, ", expected "),
        (laplace, 100, "raise the budget"),
    ],
)
def test_what_cannot_be_judged_is_inconclusive(mechanism, budget, why):
    result = check_randomness(mechanism, DATA, budget=budget)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert why in result.reason


class DiesInWorkers:
    """Raises in any process but the one that made it; within that one each call gives the same."""

    def __init__(self, fixed):
        self.home, self.fixed = multiprocessing.current_process().pid, fixed

    def __call__(self, data, size, rng):
        if multiprocessing.current_process().pid != self.home:
            raise OSError("no entropy here")
        return np.random.default_rng(1).normal(size=size) if self.fixed else rng.normal(size=size)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here")
@pytest.mark.parametrize(("fixed", "verdict"), [(True, Verdict.FAIL), (False, Verdict.INCONCLUSIVE)])
def test_a_worker_that_fails_bars_a_pass_and_no_fail(fixed, verdict):
    result = check_randomness(DiesInWorkers(fixed), DATA)
    assert result.verdict is verdict
    assert "no entropy here" in result.evidence.failure


FEW = st.lists(st.integers(0, 2), min_size=8, max_size=8)


@given(FEW)
def test_swapping_partners_turns_the_sign(numbers):
    """The reason why the tests are exact: equal outputs on either side cancel, whatever the law."""
    values = Values(np.array(numbers)[:, None], np.array(numbers, dtype=float))
    p, q, p2, q2 = np.array([0]), np.array([1]), np.array([2]), np.array([3])
    for score in (equality, concordance):
        assert score(values, p, q, p2, q2)[0] == -score(values, p, q2, p2, q)[0]
        assert np.sign(score(values, p, p, p2, p2)[0]) == np.sign(score(values, p, q, p2, q2)[1])
    for group, read in ((group_equality, values.codes), (group_concordance, values.ranks)):
        a, b, c, d = (read[None, 2 * k : 2 * k + 2] for k in range(4))
        assert group(a, b, c, d)[0] == -group(a, d, c, b)[0]
        assert np.sign(group(a, a, c, c)[0]) == np.sign(group(a, b, c, d)[1])


def test_scores_by_hand():
    values = Values(np.array([[5], [5], [7], [7]]), np.array([-2.0, -1.0, 1.0, 2.0]))
    rows = [np.array([k]) for k in range(4)]
    assert equality(values, *rows) == (2, 1)  # 5=5 and 7=7; P and P' differ
    assert concordance(values, *rows)[0] == (-2 - 1) * (-1 - 2)
    assert SwapComparison("short period", 10, 0, 3, 10).pvalue == 2.0**-10
    assert SwapComparison("short period", 0, 0, 3, 0).pvalue == 1.0


def test_a_repetition_that_one_of_many_calls_may_show_by_chance_is_none():
    """A call of 8 repeats a given one with probability 1 / 8!, and one of 60 with 1.5e-3: above all levels."""
    rng = np.random.default_rng(0)
    calls = np.array([rng.permutation(8) for _ in range(60)])
    assert _log_repeats(np.array([calls[0], calls[0]])) < 0
    assert _log_repeats(np.array([*calls, calls[0]])) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_noise_that_goes_on_or_turns_within_a_call_is_correlated(sign):
    first = np.random.default_rng(0).normal(size=(64, 16))
    calls = np.stack([first, sign * first + 0.1 * np.random.default_rng(1).normal(size=(64, 16))], axis=2).ravel()
    values = Values(np.arange(2048)[:, None], calls)
    assert _serial(values, np.arange(2048).reshape(64, 32), values).pvalue < 1e-9


def judged(*, significance=0.05, failure=None, workers=2, **changed):
    parts = [replace(SwapComparison(kind, 24, 24, 0, 48), **changed) for kind in KINDS]
    return RandomnessCheck.judge(None, RandomnessEvidence(4096, tuple(parts), workers, failure=failure), significance)


def test_the_shortest_calls_and_their_sequence_are_compared():
    """64 calls of the same two numbers, and 64 calls of eight in which seven numbers come round and round."""
    numbers = np.random.default_rng(0).random(7)
    for outputs, kind in (
        (np.tile(numbers[:2], (64, 1)), "same noise in every call"),
        (np.resize(numbers, (64, 8)), "short period"),
    ):
        assert kind in compare_calls([[Outputs(call, call) for call in outputs]], np.random.default_rng(1))


def test_the_judge():
    assert judged().verdict is Verdict.PASS
    assert judged(failure="stopped").reason == "stopped"
    assert judged(won=48, lost=0, failure="stopped").verdict is Verdict.FAIL
    assert judged(able=7).verdict is Verdict.INCONCLUSIVE  # 2^-7 = 0.0078 > 0.05 / 8
    assert judged(able=8).verdict is Verdict.PASS
    without = RandomnessEvidence(4096, tuple(SwapComparison(kind, 24, 24, 0, 48) for kind in list(KINDS)[:-1]))
    assert "not examined" in RandomnessCheck.judge(None, without, 0.05).reason
    assert RandomnessCheck.judge(None, without, 0.05).verdict is Verdict.PASS
    assert RandomnessCheck.judge(None, replace(without, workers=2), 0.05).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([SwapComparison("luck", 1, 1, 1, 1)], "not known"),
        ([SwapComparison("short period", 1, 1, 1, 1)] * 2, "occurs twice"),
        ([SwapComparison("short period", 1, 1, 1, 4)], "contradict"),
        ([SwapComparison("short period", -1, 1, 1, 0)], "contradict"),
        ([SwapComparison("shared within a call", 48, 27, 0, 48)], "48 pairs"),
        ([SwapComparison("same noise in workers", 1, 1, 1, 1)], "worker processes"),
    ],
)
def test_counts_that_cannot_be_are_refused(parts, says):
    with pytest.raises(InvalidCertificate, match=says):
        RandomnessCheck.judge(None, RandomnessEvidence(10, tuple(parts)), 0.05)


def check(name, mechanism, **more):
    return RandomnessCheck(name=name, mechanism=mechanism, dataset=DATA, budget=2_048, **more)


@pytest.fixture(scope="module")
def report():
    faulty = [check("fixed", fixed_seed, expected=Verdict.FAIL), check("bits", bits), check("broken", broken)]
    return audit.run(faulty, workers=0, significance=1e-4)


def broken(data, size, rng):
    raise ValueError("no noise today")


def test_a_replay_counts_anew(report):
    record = json.loads(json.dumps(report["fixed"].record()))
    assert judge_record(record)["verdict"] == "FAIL"
    for part in record["evidence"]["comparisons"]:
        part["won"], part["lost"] = min(part["won"], part["lost"]), max(part["won"], part["lost"])
    assert judge_record(record)["verdict"] != "FAIL"
    del record["evidence"]["comparisons"][0]["able"]
    with pytest.raises(InvalidCertificate):
        judge_record(record)


def test_workers_of_a_run_may_fork(report):
    """The check runs in a process of its own, which forks two more."""
    again = audit.run([check("bits", bits)], workers=1, significance=1e-4 / 3)
    assert again["bits"].evidence == report["bits"].evidence
    with pytest.raises(InvalidArgument, match="`mechanism`"):
        check("no function", 3)


def test_a_comparison_in_words_names_the_distance():
    said = describe_comparison(SwapComparison("serial correlation", 40, 2, 1, 43, lag=3))
    assert said.startswith(
        "outputs at a distance of 3 in a call are correlated (40 comparisons won, 2 lost, 1 tied; p = "
    )
