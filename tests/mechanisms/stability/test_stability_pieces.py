"""Teachers on pieces have the law of training on drawn examples; the catalog of pieces and phases says what it expects.

Significance 1e-8 for what should hold, 1e-3 for what must be convicted, with fixed seeds.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from audit import Verdict
from audit.checks.allowance import Allowance
from audit.checks.run import run_check
from audit.errors import InvalidArgument
from audit.execution.seeds import Stream
from mechanisms.faults.stability import phases
from mechanisms.stability import pieces, two_phases
from mechanisms.stability.pieces import PieceTask, least_places
from mechanisms.stability.thresholds import ThresholdTask

CHECKS = [*pieces.CHECKS, *two_phases.CHECKS, *phases.CHECKS]


@pytest.mark.parametrize("check", [pytest.param(check, id=check.name) for check in CHECKS])
@pytest.mark.false_alarm(1e-08)
def test_a_check_gets_the_verdict_that_it_expects(check):
    share = 1e-3 if check.expected is Verdict.FAIL else 1e-8
    result = run_check(check, Allowance(20_000, share, Stream(20180305)))
    assert result.verdict is check.expected, result.reason


@pytest.mark.parametrize("flip", [0.02, 0.1])
@pytest.mark.false_alarm(1e-08)
def test_a_walk_has_the_law_of_training(flip):
    """Null: 4,000 thresholds by the walk and 4,000 by training on 600 examples have one law; Kolmogorov and Smirnov."""
    walked = PieceTask(1, flip).teachers(4_000, 600, np.random.default_rng(1))[:, 0]
    trained = ThresholdTask(0.5, flip).trained(np.full(4_000, 600), np.random.default_rng(2))
    assert ks_2samp(walked, trained).pvalue > 1e-8
    assert ks_2samp(walked + 0.002, trained).pvalue < 1e-8


def test_the_place_of_the_least_error_has_the_law_of_all_walks():
    """By hand: every pair of walks of three steps, with its probability."""
    flip, window, due = 0.2, 3, np.zeros(7)
    for steps in itertools.product((1, -1), repeat=2 * window):
        left, right = np.cumsum(steps[:window]), np.cumsum(steps[window:])
        due[np.argmin([*left[::-1], 0, *right])] += math.prod(flip if step < 0 else 1 - flip for step in steps)
    assert least_places(flip, window) == pytest.approx(due, abs=1e-15)
    assert least_places(0.1, 59).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("examples", [3, 8, 60])
@pytest.mark.false_alarm(3e-08)
def test_teachers_on_two_pieces_have_the_law_of_training(examples):
    """Null: sums, differences and first thresholds of 20,000 teachers have the law of training on split examples.

    The pieces depend on each other through the split, which a few examples show.
    """
    rng = np.random.default_rng(3)
    drawn = PieceTask(2).teachers(20_000, examples, rng)
    splits = rng.binomial(examples, 0.5, size=20_000)

    def trained(sizes):
        found = np.empty(sizes.size)
        for size in np.unique(sizes):
            found[sizes == size] = ThresholdTask().trained(sizes[sizes == size], rng) if size else 0.5
        return found

    due = np.column_stack([trained(splits), trained(examples - splits)])
    alone = np.column_stack([due[:, 0], rng.permutation(due[:, 1])])
    for weights in ([1, 0], [1, 1], [1, -1]):
        assert ks_2samp(drawn @ weights, due @ weights).pvalue > 1e-8
    if examples == 3:
        assert [int((pair == 0.5).all(axis=1).sum()) for pair in (drawn, due)] == [0, 0]  # no example in either piece
        assert (alone == 0.5).all(axis=1).sum() > 100


def test_examples_must_fill_the_window():
    with pytest.raises(InvalidArgument, match="`examples` must be at least 3 for 2 pieces, got 2"):
        PieceTask(2).teachers(3, 2, np.random.default_rng(0))
    with pytest.raises(InvalidArgument, match="`examples` must leave 354 examples to each piece, got 100"):
        PieceTask(1, 0.1).teachers(3, 100, np.random.default_rng(0))
