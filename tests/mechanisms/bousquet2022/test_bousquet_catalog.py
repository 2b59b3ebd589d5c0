"""The verdicts of its catalog: every claim holds, every fault is convicted, no decoy is.

Significance 1e-9 a check for what should hold, 0.001 for what must be convicted: with a fixed seed, and a truth far
above the claim.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from audit import EstimatorCheck, InequalityCheck, PrivacyCheck, Verdict, run
from mechanisms.papers import bousquet2022
from mechanisms.papers.bousquet2022 import faults, long_runs
from mechanisms.papers.bousquet2022.algorithm1 import new_label_probability
from mechanisms.papers.bousquet2022.theorem4_11 import DrawnParts
from tests.mechanisms.conviction import by_game
from tests.offenders import for_each

CHECKS = bousquet2022.CHECKS
EVERY = [*CHECKS, *faults.CHECKS, *long_runs.CHECKS]
SLOW = (  # `dp-audit run` does them
    "theorem 1.7",
    "remark 1.8 cauchy",
    "theorem 4.3",
    "other learners",
    "as called",
    "regression on 50",
    "exact targets",
)
LAWS = [check for check in CHECKS if isinstance(check, PrivacyCheck) and hasattr(check.mechanism, "law")]


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


@for_each(EVERY)
def test_a_check_can_be_sent_to_a_worker(check):
    assert pickle.loads(pickle.dumps(check)).name == check.name


def is_quick(check):
    return not any(part in check.name for part in SLOW)


def verdict_of(check, significance, budget=None):
    return run([check], workers=0, significance=significance, seed=1, **({} if budget is None else {"budget": budget}))


@pytest.mark.parametrize("check", by_name(c for c in CHECKS if is_quick(c) and c.expected is Verdict.FAIL))
def test_what_is_false_is_convicted(check):
    result = verdict_of(check, 1e-3, 60_000).results[0]
    assert result.verdict is Verdict.FAIL, result.reason


@pytest.mark.parametrize(
    "check", by_name(c for c in CHECKS if isinstance(c, InequalityCheck) and is_quick(c) and c.values)
)
def test_a_computed_statement_gets_the_verdict_that_it_expects(check):
    assert verdict_of(check, 1e-3).results[0].verdict is check.expected


@pytest.mark.false_alarm(7e-8)
@pytest.mark.parametrize("check", by_name(c for c in LAWS if is_quick(c) and c.expected is Verdict.PASS))
def test_a_stated_law_decides_and_the_sampler_follows_it(check):
    """Null: 10,000 outputs a dataset are i.i.d. from the law; 1e-9 each, about 60."""
    result = verdict_of(replace(check, method="exact"), 1e-9, 10_000).results[0]
    assert result.verdict is Verdict.PASS, result.reason
    assert result.basis == "law"


@pytest.mark.parametrize("check", by_name(c for c in faults.CHECKS if is_quick(c)))
def test_a_fault_is_convicted(check):
    result = verdict_of(by_game(check), 0.001).results[0]
    assert result.verdict is Verdict.FAIL, result.reason
    truth = next((fault.truth for fault in faults.FAULTS if fault.check is check), math.inf)
    assert getattr(result, "epsilon_lower_bound", 0.0) <= truth  # with probability 0.999 each, and a fixed seed


def test_a_law_knows_the_truth_of_reused_records():
    fault = next(each for each in faults.FAULTS if "reused" in each.check.name)
    twins = []
    for side in fault.check.pairs[0]:
        doubled = type(side)(np.r_[side.X, side.X], np.r_[side.y, np.full(len(side), -1)])
        twins.append(DrawnParts(2.0, 0.004).law(doubled))
    assert twins[0].loss_against(twins[1]).epsilon(0.004) == pytest.approx(fault.truth, abs=0.02)


LEAKS = [  # an event that has no probability on one side, and its probability on the other, epsilon = 1
    ("cubes one noise for all", lambda z: (z[:, 0] == 0) & (z[:, -1] == 1), 1 - math.exp(-0.5)),
    ("cubes empty ones vote zero", lambda z: z[:, 3] == 1, 1 - math.exp(-0.5) / 2),
    ("centers from the data", lambda z: z[:, 1] != z[:, 2], 0.624),
    ("histogram no logarithm", lambda z: z[:, 1] > 0, math.exp(-1) / 2),
    ("histogram threshold zero", lambda z: z[:, 1] > 0, 1 - math.exp(-0.5) / 2),
    ("semi-private candidates", lambda z: z == 0.4, 1 / (2 + math.exp(0.5))),
]


@pytest.mark.false_alarm(4e-9)
@pytest.mark.parametrize(("name", "event", "probability"), LEAKS, ids=[name for name, *_ in LEAKS])
def test_leaks_have_the_stated_mass(name, event, probability):
    """Null: the stated probability, to 0.001; 20,000 outputs, six standard deviations."""
    (check,) = [each.check for each in faults.FAULTS if name in each.check.name]
    left, right = (check.mechanism(data, 20_000, np.random.default_rng(3)) for data in check.pairs[0])
    assert not event(left).any()
    assert abs(event(right).mean() - probability) < 6 * 0.5 / math.sqrt(20_000)


WRONG_LEVELS = [  # what a threshold of Algorithm 1 gives for delta at epsilon = 1
    ("decimal logarithm", 1e-6, 2 * math.log10(2e6) + 1, 9.2e-4),
    ("half threshold", 1e-6, math.log(2e6) + 1, 3.5e-4),
    ("no logarithm", 1e-6, 3.0, math.exp(-1) / 2),
    ("without + 1", 1e-2, 2 * math.log(200), math.exp(0.5) * 0.01 / 4),
    ("log(1/delta)", 1e-2, 2 * math.log(100) + 1, 0.005),
]


@pytest.mark.parametrize(("name", "delta", "level", "stated"), WRONG_LEVELS)
def test_thresholds_give_the_stated_delta(name, delta, level, stated):
    assert new_label_probability(1.0, level) == pytest.approx(stated, rel=0.03)
    assert (stated <= delta) == (name in ("without + 1", "log(1/delta)"))


def test_the_test_of_fit_rejects_a_neighbor():
    """A flip in a cube moves one bit from 0.30 to 0.50 at epsilon = 0.5: rejected at any level in sight."""
    check = next(check for check in CHECKS if check.name == "bousquet2022/theorem 3.1 votes eps=0.5")
    left, right = check.pairs[0]
    outputs = check.mechanism(left, 20_000, np.random.default_rng(1))
    assert check.mechanism.law(right).fit_pvalue(outputs, np.random.default_rng(2)) < 1e-9


CALLED = [check for check in CHECKS if "as called" in check.name]


def test_every_class_with_fit_is_audited_as_called():
    names = " ".join(check.name for check in CALLED)
    for kind in (
        "CubeDensity", "CubeMeanRegressor", "PairHistogramClassifier", "SemiPrivateLearner", "SemiSupervisedLearner",
        "StableVoronoiClassifier", "VoronoiClassifier", "3.1 as called, defaults",
    ):  # fmt: skip
        assert kind in names
    assert all(check.budget for check in CALLED)


@pytest.mark.false_alarm(1.2e-8)
@pytest.mark.parametrize("check", by_name(check for check in CALLED if not isinstance(check, EstimatorCheck)))
def test_fits_follow_the_stated_law(check):
    """Null: 200 fits are i.i.d. from the law; 1e-9 each, 10 of them. At least three pairs, in two orders."""
    assert len(check.pairs) >= 2
    dataset = check.pairs[0][1]
    outputs = check.mechanism(dataset, 200, np.random.default_rng(7))
    assert not any(isinstance(output, dict) for output in outputs), "a fitted object carries more than its release"
    assert check.mechanism.law(dataset).fit_pvalue(np.array(outputs), np.random.default_rng(8)) > 1e-9
