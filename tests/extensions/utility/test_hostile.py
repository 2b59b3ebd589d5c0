"""Hostile learners: whatever they do, the verdict is INCONCLUSIVE with the cause, and nothing else is lost."""

import os
import time

import numpy as np
import pytest

import audit
from audit import ConsistencyCheck, GuaranteeCheck, RateCheck, Verdict

SIZES = (64, 128, 256, 512)

FAULTS = {  # what becomes of good losses, with the generator that drew them, and the reason
    "raises": (lambda good, rng: raised(ValueError("no data")), "raised ValueError: no data"),
    "exits": (lambda good, rng: raised(SystemExit(3)), "raised SystemExit: 3"),
    "nan": (lambda good, rng: np.r_[np.nan, good[1:]], "returned NaN"),
    "outside": (lambda good, rng: np.r_[good[1:], 1.7], "returned 1.7, outside its support [0, 1]"),
    "short": (lambda good, rng: good[1:], "must return shape"),
    "text": (lambda good, rng: ["a"] * len(good), "where numbers were due"),
    "complex": (lambda good, rng: good + 1j, "where numbers were due"),
    "ragged": (lambda good, rng: [[1.0], [1.0, 2.0]], "ragged"),
    "own noise": (lambda good, rng: np.random.default_rng().random(len(good)), "other values under the same seed"),
    "shared noise": (lambda good, rng: np.full(len(good), rng.random()), "share noise within a call"),
}


def raised(error):
    raise error


@pytest.mark.parametrize("fault", FAULTS)
def test_the_cause_is_named(fault):
    spoil, says = FAULTS[fault]
    result = audit.check_inequality(losses=lambda r, rng: spoil(rng.random(r), rng), bound=0.9, budget=8_000)
    assert (result.verdict, result.basis) == (Verdict.INCONCLUSIVE, "none")
    assert says in result.reason, result.reason


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (lambda r, rng: np.full(r, 0.5), "must return True or False, got numbers"),
        (lambda r, rng: 1 / 0, "trials() raised ZeroDivisionError"),
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
