"""Hostile learners: whatever they do, the verdict is INCONCLUSIVE with the cause, and nothing else is lost."""

import itertools
import os
import time

import numpy as np
import pytest

import audit
from audit import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    RateCheck,
    Verdict,
)

SIZES = (64, 128, 256, 512)
CALLS = itertools.count()


FAULTS = {  # what becomes of good losses, with the generator that drew them, and the reason
    "raises": (lambda good, rng: raised(ValueError("no data")), "raised ValueError: no data"),
    "exits": (lambda good, rng: raised(SystemExit(3)), "raised SystemExit: 3"),
    "nan": (lambda good, rng: np.r_[np.nan, good[1:]], "returned NaN"),
    "outside": (lambda good, rng: np.r_[good[1:], 1.7], "returned 1.7, outside its support [0, 1]"),
    "infinite": (lambda good, rng: np.r_[good[1:], np.inf], "returned inf, outside its support"),
    "short": (lambda good, rng: good[1:], "must return shape"),
    "matrix": (lambda good, rng: good[:, None], "must return shape"),
    "text": (lambda good, rng: ["a"] * len(good), "where numbers were due"),
    "nothing": (lambda good, rng: None, "where numbers were due"),
    "complex": (lambda good, rng: good + 1j, "where numbers were due"),
    "ragged": (lambda good, rng: [[1.0], [1.0, 2.0]], "ragged"),
    "own noise": (lambda good, rng: np.random.default_rng().random(len(good)), "other values under the same seed"),
    "state": (lambda good, rng: np.full(len(good), 1.0 / (1 + next(CALLS))), "other values under the same seed"),
    "shared noise": (lambda good, rng: np.full(len(good), rng.random()), "share noise within a call"),
}


def raised(error):
    raise error


def wrong(spoil):
    """Return losses of shape (replicates,) but for one fault; the leading argument is the size where there is one."""

    def losses(*arguments):
        *_, replicates, rng = arguments
        return spoil(rng.random(replicates), rng)

    return losses


def checks(losses):
    return [
        InequalityCheck(name="inequality", losses=losses, bound=0.9),
        ConsistencyCheck(name="consistency", losses=losses, sizes=SIZES, bayes_risk=0.4, tolerance=0.5),
        RateCheck(name="rate", losses=losses, sizes=SIZES, exponent=0.5),
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_cause_is_named(fault):
    spoil, says = FAULTS[fault]
    report = audit.run(checks(wrong(spoil)), budget=8_000, workers=0)
    for result in report.results:
        assert result.verdict is Verdict.INCONCLUSIVE
        assert says in result.reason, result.reason
        assert result.basis == "none"


def test_losses_without_a_fault_are_decided():
    report = audit.run(checks(wrong(lambda good, rng: good)), budget=8_000, workers=0, significance=1e-5)
    verdicts = {result.name: result.verdict for result in report.results}
    assert verdicts.pop("rate") is Verdict.INCONCLUSIVE  # the mean does not decay
    assert set(verdicts.values()) == {Verdict.PASS}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (lambda r, rng: np.full(r, 0.5), "must return True or False, got numbers"),
        (lambda r, rng: rng.random(r - 1) < 0.5, "must return shape"),
        (lambda r, rng: 1 / 0, "trials() raised ZeroDivisionError"),
        (lambda r, rng: None, "where numbers were due"),
        (lambda r, rng: np.full(r, np.nan), "must return True or False, got numbers"),
        (lambda r, rng: np.random.default_rng().random(r) < 0.5, "other values under the same seed"),
        (lambda r, rng: np.full(r, rng.random() < 0.5), "share noise within a call"),
    ],
)
def test_trials(values, says):
    result = audit.check_guarantee(values, 0.1, budget=10_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert says in result.reason


def test_what_was_observed_before_a_failure_is_kept():
    def losses(n, replicates, rng):
        if n > 200:
            raise MemoryError("too large")
        return rng.random(replicates)

    result = audit.check_rate(losses, SIZES, 0.5, budget=8_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "losses() at n = 256 raised MemoryError" in result.reason
    assert result.evidence.sizes == (64, 128)
    assert result.samples > 4_000


def hangs(n, replicates, rng):
    time.sleep(60)


def dies(n, replicates, rng):
    os._exit(1)


def test_hanging_and_dying_learners_do_not_take_the_run_along():
    good = RateCheck(name="good", evaluator=lambda n: n**-0.5, sizes=SIZES, exponent=0.5)
    hung = RateCheck(name="hung", losses=hangs, sizes=SIZES, exponent=0.5, timeout=0.5)
    dead = ConsistencyCheck(name="dead", losses=dies, sizes=SIZES, bayes_risk=0.0, tolerance=1.0)
    odd = GuaranteeCheck(name="odd", trials=lambda r, rng: (_ for _ in ()), beta=0.1)
    report = audit.run([hung, good, dead, odd], budget=8_000, workers=2)
    assert report["good"].verdict is Verdict.PASS
    assert report["good"].check is good
    assert "the learner and its audit took longer than 0.5 s" in report["hung"].reason
    assert "the learner killed its process" in report["dead"].reason
    assert {report[name].verdict for name in ("hung", "dead", "odd")} == {Verdict.INCONCLUSIVE}
