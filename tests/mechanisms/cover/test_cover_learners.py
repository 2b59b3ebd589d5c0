"""The learners: reference values of their laws, samplers, worst cases by enumeration, aggregate samplers."""

from __future__ import annotations

import functools
import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import stats

from audit import AuditError, Labeled
from audit.laws import FiniteLoss
from mechanisms.cover import learners, worst_case
from mechanisms.cover.aggregate import ThresholdProblem, draw_thresholds, interval_weights
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.learners import (
    LabelPrivateCoverLearner,
    RealizableReferenceCoverLearner,
    ReferenceCoverLearner,
    ThresholdERM,
)
from mechanisms.cover.privacy import first_threshold_pair, halves, listed_cases, middles
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.thresholds import ThresholdClass
from mechanisms.cover.worst_case import (
    enumerated_epsilon,
    example_mistakes,
    label_flip_epsilon,
    threshold_ratio,
    worst_epsilon,
    worst_flip,
)

LINE = ThresholdClass()

# alpha, J, m, exact epsilon, P(event | S), P(event | S'), total variation: computed independently, by another
# implementation
TABLE = [
    (1.0, 2, 1, 0.500000, 0.622, 0.378, 0.2449),
    (1.0, 5, 1, 0.796046, 0.292, 0.132, 0.1602),
    (1.0, 20, 1, 0.948209, 0.0799, 0.0309, 0.0489),
    (1.0, 5, 4, 0.945291, 0.0842, 0.0327, 0.0515),
    (1.0, 5, 8, 0.992199, 0.0123, 0.00456, 0.0077),
    (0.5, 20, 1, 0.474777, 0.0633, 0.0394, 0.0239),
]


@pytest.mark.parametrize(("alpha", "size", "m", "exact", "left", "right", "distance"), TABLE)
def test_the_worst_pair_has_the_closed_form(alpha, size, m, exact, left, right, distance):
    mechanism = learners.ExponentialMechanism(
        learners.Mistakes(LINE), tuple(LINE.packing_cover(1 / (2 * size)).tolist()), 1.0, alpha
    )
    pair = first_threshold_pair(size, m)
    laws = [mechanism.law(side) for side in pair]
    loss = laws[0].loss_against(laws[1])
    assert worst_epsilon(alpha, m, threshold_ratio(size)) == pytest.approx(exact, abs=1e-6)
    assert loss.epsilon(0.0) == pytest.approx(worst_epsilon(alpha, m, threshold_ratio(size)), abs=1e-12)
    assert loss.delta(0.0) == pytest.approx(distance, abs=6e-5)
    first = [law.pmf[1 / (2 * size)] for law in laws]
    assert max(first) == pytest.approx(left, rel=6e-3)
    assert min(first) == pytest.approx(right, rel=6e-3)


def test_every_listed_case_has_the_closed_form():
    for case, found, closed in listed_cases():
        assert abs(found - closed) <= 1e-12, case


@pytest.mark.parametrize(("alpha", "m", "k", "exact"), [(0.5, 50, 5, 2.5), (0.5, 50, 20, 9.996), (0.5, 50, 40, 15.48)])
def test_groups(alpha, m, k, exact):
    assert worst_epsilon(alpha, m, threshold_ratio(21), k) == pytest.approx(exact, abs=5e-3)


def test_breaking_the_exponent_breaks_the_closed_form():
    """The enumeration sees what the closed form does not allow: no 1/2, or a squared error."""
    kinds = example_mistakes(5)
    assert enumerated_epsilon(kinds, 4, lambda k: halves(k, 2.0)) == pytest.approx(1.9713, abs=1e-4)
    squared = enumerated_epsilon(kinds, 4, lambda k: -(k**2) / 8)
    assert squared > worst_epsilon(1.0, 4, threshold_ratio(5)) + 0.4


def largest_distinct_loss(points):
    """Largest loss over lists of four examples at these points, mistakes on distinct examples, four thresholds."""
    kinds = [(x, y) for x in points for y in (-1, 1)]
    grid = np.array([0.125, 0.375, 0.625, 0.875])

    @functools.cache
    def logs(chosen):
        kept = [kinds[i] for i in set(chosen)]
        wrong = LINE.mistakes(grid, Labeled([x for x, _ in kept], [y for _, y in kept]))
        return -wrong / 2 - math.log(np.exp(-wrong / 2).sum())

    rests = itertools.combinations_with_replacement(range(len(kinds)), 3)
    tables = (np.array([logs(tuple(sorted((*rest, last)))) for last in range(len(kinds))]) for rest in rests)
    return max(float(np.ptp(table, axis=0).max()) for table in tables)


def test_distinct_mistakes_keep_the_claim():
    # 0.839 with a point in each cell: computed independently, by another implementation
    assert largest_distinct_loss((0.05, 0.2, 0.5, 0.7, 0.95)) == pytest.approx(0.839, abs=5e-4)
    # points that share a cell are distinct: nothing is lost against the closed form
    crowded = largest_distinct_loss((0.2, 0.21, 0.22, 0.23))
    assert crowded == pytest.approx(worst_epsilon(1.0, 4, threshold_ratio(4)), abs=1e-12)


def test_the_fewest_mistakes_as_scale_keep_the_claim():
    """Decoy: at most alpha; 0.828 over lists of 40 of at most two distinct examples and the changed one."""

    def scaled(mistakes, m):
        return -mistakes * mistakes.min(axis=-1, keepdims=True) / (2 * m)

    listed = [enumerated_epsilon(example_mistakes(j), m, functools.partial(scaled, m=m)) for j, m in ((5, 4), (3, 6))]
    assert max(listed) < 1
    kinds, largest = example_mistakes(5), 0.0
    for first, second in itertools.combinations_with_replacement(kinds, 2):
        for share in range(40):
            logs = scaled(share * first + (39 - share) * second + kinds, 40)
            logs -= np.log(np.exp(logs - logs.max()).sum(axis=1, keepdims=True)) + logs.max()
            largest = max(largest, float(np.ptp(logs, axis=0).max()))
    assert largest == pytest.approx(0.828, abs=6e-4)


@pytest.mark.parametrize(("m", "accuracy", "alpha", "share"), [(4, 0.3, 1.0, 0.9050), (12, 0.1, 0.5, 0.9852)])
def test_label_flips_of_a3(m, accuracy, alpha, share):
    predicted = LINE.predict(LabelPrivateCoverLearner(alpha, accuracy).cover(middles(m)), middles(m))
    assert label_flip_epsilon(predicted, alpha) / alpha == pytest.approx(share, abs=5e-5)
    assert worst_flip(predicted, alpha)[0] == pytest.approx(label_flip_epsilon(predicted, alpha), abs=1e-12)


def test_kappa_hat_and_covers_grow_with_m():
    learner = ReferenceCoverLearner(0.5, 0.1, 0.1, smoothness_cap=2.0**60)
    # ln kappa_hat at m = 28045 (1, 2, 5) and J: computed independently, by another implementation
    logs = [math.log(learner.smoothness_hat(28045 * k)) for k in (1, 2, 5)]
    assert logs == pytest.approx([0.0, 8.8, 35.1], abs=0.06)
    assert [LINE.cover_size(learner.radius(m)) for m in (50_000, 50_001)] == [19086, 19092]
    assert [learner.utility_guarantee(m) for m in (28044, 28045)] == [False, True]
    assert learner.smoothness_hat(1) == 1.0
    assert ReferenceCoverLearner(0.5, 0.1, 0.1, smoothness_cap=8.0).smoothness_hat(10**9) == pytest.approx(8.0)
    with pytest.raises(AuditError, match="smoothness_cap"):
        learner.cover(np.zeros(10**6))


def test_substitution_moves_the_cover_of_a3():
    learner = LabelPrivateCoverLearner(1.0, 0.3)
    for place, to, delta in ((19, 0.01, 1.0), (9, 0.46, 0.6377)):
        X = middles(20)
        moved = X.copy()
        moved[place] = to
        y = np.where(X >= 0.5, 1, -1)
        loss = learner.law(Labeled(X, y)).loss_against(learner.law(Labeled(moved, y)))
        assert loss.epsilon(0.0) == math.inf
        assert loss.delta(20.0) == pytest.approx(delta, abs=5e-5)


@pytest.mark.parametrize("kind", [ReferenceCoverLearner, RealizableReferenceCoverLearner, LabelPrivateCoverLearner])
def test_learners_learn(kind):
    """Fixed seed. 400 clean examples, weights e^-10 per tenth of error at alpha = 1: errs by 0.1 less than 1e-3."""
    rng = np.random.default_rng(0)
    X = rng.random(400)
    y = np.where(X >= 0.4, 1, -1)
    learner = kind(epsilon=1.0, accuracy=0.1, random_state=0).fit(X, y)
    assert learner.score(X, y) > 0.85
    assert pickle.loads(pickle.dumps(learner)).hypothesis_ == learner.hypothesis_
    assert set(learner.get_params()) >= {"epsilon", "accuracy", "random_state"}
    assert learner.set_params(epsilon=2.0).epsilon == 2.0


def test_separators_learn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.where(X @ [0.0, 0.6, 0.8] >= 0, 1, -1)
    learner = ReferenceCoverLearner(1.0, 0.3, hypotheses=LinearSeparatorClass(3), random_state=0).fit(X, y)
    assert learner.score(X, y) > 0.8
    assert not learner.utility_guarantee_


def test_erm_is_the_midpoint():
    assert ThresholdERM().fit([0.2, 0.4, 0.9], [-1, 1, 1]).hypothesis_ == pytest.approx(0.3)
    assert ThresholdERM().fit([0.2], [-1]).hypothesis_ == pytest.approx(0.6)
    assert ThresholdERM().fit([0.2, 0.4], [-1, 1]).predict([0.1, 0.31]).tolist() == [-1, 1]


def test_the_aggregate_sampler_has_the_pmf_of_the_literal_one():
    rng = np.random.default_rng(5)
    for _ in range(200):
        m, size = int(rng.integers(1, 30)), int(rng.integers(2, 40))
        on_grid = (2 * rng.integers(0, size, m) + 1) / (2 * size)
        data = Labeled(np.where(rng.random(m) < 0.3, on_grid, rng.random(m)), rng.choice([-1, 1], m))
        chances, first, counts = interval_weights(data, size, 1.3)
        spread = np.concatenate([np.full(n, p / n) for p, n in zip(chances, counts, strict=True)])
        weights = np.exp(-0.65 * LINE.mistakes(LINE.packing_cover(1 / (2 * size)), data))
        np.testing.assert_allclose(spread, weights / weights.sum(), atol=1e-14)
        assert first.tolist() == (np.cumsum(counts) - counts).tolist()


def test_the_aggregate_sampler_reaches_covers_that_fill_no_memory():
    data = Labeled(np.linspace(0.01, 0.99, 99), np.where(np.linspace(0.01, 0.99, 99) >= 0.5, 1, -1))
    drawn = draw_thresholds(data, 2**40, 2.0, 1000, np.random.default_rng(0))
    assert 0 <= drawn.min() <= drawn.max() <= 1
    assert abs(np.median(drawn) - 0.5) < 0.03


@pytest.mark.parametrize(
    "problem",
    [
        ThresholdProblem(0.43, 0.2),
        ThresholdProblem.concentrated(ConcentratedThresholdFamily(0.1), 0.1),
    ],
)
@pytest.mark.false_alarm(1e-06)
def test_mistakes_over_data_have_one_law_literally_and_in_aggregate(problem):
    """Null: equal laws of the chosen threshold. 3,000 runs each, chi-squared on 8 cells, fixed seeds, p > 1e-6."""
    grid, rng = LINE.packing_cover(1 / 16), np.random.default_rng(7)
    wrong = problem.draw_mistakes(grid, 12, 3000, rng)
    literal = np.array([LINE.mistakes(grid, problem.draw(12, rng)) for _ in range(3000)])
    counts = []
    for mistakes in (wrong, literal):
        noisy = rng.gumbel(size=mistakes.shape) - mistakes / 2
        counts.append(np.bincount(np.argmax(noisy, axis=1), minlength=8))
    assert stats.chi2_contingency(np.array(counts)).pvalue > 1e-6
    np.testing.assert_allclose(wrong.mean(axis=0), literal.mean(axis=0), atol=0.35)


def test_failures_of_hand():
    # two thresholds 1/4, 3/4; target 1/4: 1/2 > accuracy for the wrong one
    problem = ThresholdProblem(0.25)
    failures = problem.failures(np.array([0.25, 0.75]), 1, 2.0, 0.1, 4000, np.random.default_rng(0))
    found = dict(zip(*np.unique(failures.round(6), return_counts=True), strict=True))
    # an example between the two (probability 1/2) tells them apart by a factor e
    assert set(found) == {0.5, round(1 / (1 + math.e), 6)}


def test_finite_loss_agrees_with_the_enumeration():
    kinds = example_mistakes(3)
    worst = 0.0
    for first in kinds:
        for second in kinds:
            p, q = (np.exp(-k / 2) / np.exp(-k / 2).sum() for k in (first, second))
            worst = max(worst, FiniteLoss(p, q).epsilon(0.0))
    assert enumerated_epsilon(kinds, 1, lambda k: halves(k, 1.0)) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ReferenceCoverLearner(0.0), "`epsilon`"),
        (lambda: ReferenceCoverLearner(1.0, 1.0), "`accuracy`"),
        (lambda: ReferenceCoverLearner(beta=0.0), "`beta`"),
        (lambda: ReferenceCoverLearner(smoothness_cap=0.5), "`smoothness_cap` must be at least 1"),
        (lambda: ReferenceCoverLearner().predict([0.5]), "`fit` must be called"),
        (lambda: ReferenceCoverLearner().fit([0.5], [0]), "`y` must hold labels"),
        (lambda: worst_epsilon(1.0, 2, 0.5, 3), "`steps` must be at most"),
        (lambda: worst_case.circle_ratio(5), "`size` must be even"),
        (lambda: label_flip_epsilon(np.ones((2, 17)), 1.0), "at most 16 points"),
        (lambda: ThresholdProblem(1.0), "`target`"),
        (lambda: ThresholdProblem(0.5, 0.5), "`noise` must be below 1/2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(AuditError, match=message):
        call()
