"""The catalogue of faults: each says what it really gives, and the stated numbers are right.

Conviction by the audit is the business of `dp-audit run mechanisms.faults`; here the catalogue itself is checked.
"""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pytest
from scipy import stats

import mechanisms
from audit import PrivacyCheck, Verdict
from mechanisms import faults
from mechanisms.exponential import complementary_epsilon
from mechanisms.faults import textbook
from mechanisms.gaussian import analytic_deviation, classical_deviation, gaussian_delta
from mechanisms.noisy_max import GumbelNoisyMax, LaplaceNoisyMax, opposite_moves
from mechanisms.parts.sparse_vector import Noise, transcript_law
from mechanisms.queries import column_sums
from tests.offenders import for_each

OF_ALL = [check for check in faults.BASIC if type(check) is PrivacyCheck]
CHECKS = [check for check in OF_ALL if check.parameters is None]
SEARCHED = [check for check in OF_ALL if check.parameters is not None]
TRUTHS = {each.check.name: each.truth for each in textbook.FAULTS}


def fault(name):
    (check,) = [check for check in CHECKS if check.name.startswith(f"fault/{name}")]
    return check


def test_names_are_unique_and_apart_from_the_reference_checks():
    names = [check.name for check in faults.BASIC]
    assert len(set(names)) == len(names)
    assert all(name.startswith("fault/") for name in names)
    assert not set(names) & {check.name for check in mechanisms.BASIC}


def test_every_mechanism_has_at_least_three_faults():
    checked = {check.name.split("/")[0] for check in mechanisms.BASIC if isinstance(check, PrivacyCheck)} - {"decoy"}
    for mechanism in checked:
        assert sum(check.name.startswith(f"fault/{mechanism} ") for check in CHECKS) >= 3, mechanism


@for_each(CHECKS)
def test_a_fault_expects_conviction_and_states_its_true_privacy(check):
    assert check.expected is Verdict.FAIL
    assert check.budget <= 200_000
    truth = TRUTHS.get(check.name) or inspect.getdoc(check.mechanism)
    assert re.search(r"True privacy:|\(.*\)|delta|none|grows", truth)


@for_each(SEARCHED)
def test_a_fault_at_some_parameters_states_its_true_privacy(check):
    """Conviction is tested beside the search; here each has a docstring, and draws outputs at its simplest setting."""
    assert check.expected is Verdict.FAIL
    assert re.search(r"[Tt]rue( |:)", inspect.getdoc(check.mechanism))
    bound = check.example
    assert len(bound.mechanism(bound.pairs[0][0], 3, np.random.default_rng(0))) == 3


@for_each(CHECKS)
def test_a_fault_states_a_law_only_to_lie(check):
    assert hasattr(check.mechanism, "law") == ("right law" in check.name)


@for_each(CHECKS)
def test_a_fault_draws_outputs_from_the_generator_alone(check):
    for dataset in check.pairs[0]:
        first, second = (check.mechanism(dataset, 50, np.random.default_rng(9)) for _ in range(2))
        assert len(first) == 50
        np.testing.assert_array_equal(first, second)


def shifted(epsilon, deviation):
    return gaussian_delta(epsilon, 1 / deviation)


def noisy_max_loss(kind, scale):
    left, right = (rows.sum(axis=0) / scale for rows in opposite_moves(2))
    mechanism = kind(column_sums, 1.0)
    p, q = (mechanism._probabilities(answers - answers.max()) for answers in (left, right))
    return float(np.max(np.abs(np.log(p / q))))


def cutoff_off_loss():
    levels = np.tile([0.5, -0.5], 5)
    left, right = (dict(transcript_law(Noise(1.0, 0.0, 10), sign * levels).pmf) for sign in (1, -1))
    return max(abs(math.log(left[t] / right[t])) for t in left)


def redraw_loss(epsilon, n):
    r = math.exp(-epsilon)
    zero, one = ((1 + r - r ** (c + 1) - r ** (n - c + 1)) / (1 - r) for c in (0, 1))
    return epsilon + math.log(one / zero)


LOG20 = math.log(20)
STATED = [
    ("gaussian classical beyond one", "0.794", shifted(5.5, classical_deviation(5.5, 0.6))),
    ("gaussian variance as deviation", "0.578", shifted(4, analytic_deviation(4.0, 0.05) ** 2)),
    ("gaussian deviation as variance", "0.122", shifted(0.5, analytic_deviation(0.5, 0.05) ** 0.5)),
    ("gaussian sensitivity of one coordinate", "0.321", shifted(1, analytic_deviation(1.0, 0.05) / 2)),
    ("gaussian one bin moves", "0.149", shifted(1, analytic_deviation(1.0, 0.05) / math.sqrt(2))),
    ("geometric redraws outside", "1.2009", redraw_loss(1.0, 4)),
    ("geometric clamps to the data", "0.269", math.exp(-1) / (1 + math.exp(-1))),
    ("randomized response keeps, then", "1.531", math.log(1 + 4 * math.e / 3)),
    ("randomized response keep probability", "2.099", 1 + math.log(3)),
    ("randomized response last label", "0.825", 1 - 1 / (math.e + 3)),
    ("randomized response right law", "2.133", math.log(3 * (2 * math.e + 3) / 3)),
    ("exponential full epsilon", "0.970", complementary_epsilon(1.0, 8)),
    ("exponential margin score", "1.891", complementary_epsilon(2.0, 4)),
    ("exponential candidates", "0.339", 1 / (1 + 2 * math.exp(-0.5) + 2 * math.exp(-1))),
    ("exponential worst", "0.378", 1 / (1 + math.exp(0.5))),
    ("noisy max half laplace", "1.934", noisy_max_loss(LaplaceNoisyMax, 1.0)),
    ("noisy max half gumbel", "1.856", noisy_max_loss(GumbelNoisyMax, 1.0)),
    ("noisy max releases the value, exp", "0.061", (1 - math.exp(-0.5)) ** 3),
    ("sparse vector no query noise lam", "0.316", stats.laplace.cdf(1) - 0.5),
    ("sparse vector one query noise", "0.157", 0.5 - (4 * math.exp(-0.5) - math.exp(-1)) / 6),
    ("sparse vector no query noise and", "0.316", stats.laplace.cdf(1) - 0.5),
    ("sparse vector cutoff off", "3.946", cutoff_off_loss()),
]


@for_each(STATED)
def test_stated_numbers_follow_from_the_parameters(name, stated, computed):
    assert stated in TRUTHS[fault(name).name]
    digits = len(stated.split(".")[1])
    assert float(stated) == pytest.approx(computed, abs=0.6 * 10**-digits)


LEAKS = [
    ("geometric one-sided", 1 - math.exp(-0.5), lambda z: z == 0),
    ("laplace clamps after", 0.5, lambda z: z == 0),
    ("noisy max releases the value eps", 2**-6, lambda z: z < 0),
    ("sparse vector query noise too small", 0.0730, lambda z: (z[:, -1] == 0) & np.all(z[:, :-1] == 1, axis=1)),
]


@pytest.mark.parametrize(("name", "probability", "event"), LEAKS, ids=[name for name, *_ in LEAKS])
@pytest.mark.false_alarm(1e-08)
def test_leaking_events_have_the_stated_probability(name, probability, event):
    """Null: the stated probability. n = 20,000, exact binomial test, false alarm 1e-8 each."""
    check = fault(name)
    outputs = check.mechanism(check.pairs[0][0], 20_000, np.random.default_rng(11))
    assert stats.binomtest(int(np.sum(event(outputs))), 20_000, probability).pvalue > 1e-8
