"""The constants and what is proved of them, the accuracy theorems, runs of full size, stable learners and soft scores.

Drawn shortcuts are held to their definitions and plain sums. Reference values were computed independently, by another
implementation, before this package existed, and are kept to its digits.
"""

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import ks_2samp

from audit import AuditError
from audit.errors import InvalidArgument
from benchmarks.stability_learning.privacy import best_attack, needed_margin
from mechanisms.papers.bassily2018 import section4
from mechanisms.papers.bassily2018.accuracy import printed_failure, printed_k, sparse_alpha, sure_failure
from mechanisms.papers.bassily2018.noise import (
    composed_delta,
    composed_epsilon,
    optimal,
    printed,
    printed_soft,
    proved_epsilon,
    pure,
)
from mechanisms.papers.bassily2018.section4 import (
    PieceService,
    PieceTask,
    ServiceSize,
    SpreadMistakes,
    measured_cases,
    most_bad_points,
    teacher_examples,
    transfer_records,
)
from mechanisms.papers.bassily2018.section5 import FEW, full_run, soft_teachers, stable_alpha
from mechanisms.papers.bassily2018.stable_learners import STEPS, CellMeans, CellStability, OnePassSGD, SmallSGD
from mechanisms.parts.sparse_vector import Noise
from mechanisms.parts.thresholds import best_thresholds
from tests.offenders import refused


def trained(flip, examples, count, rng):
    """Draw examples on one piece and train: the law of teachers by definition."""
    features = rng.random((count, examples))
    return best_thresholds(features, (features >= 0.5) ^ (rng.random(features.shape) < flip))


def test_examples_of_a_teacher_by_hand():
    """(2 ln 2 + ln(3 * 1000 / 0.05)) / (1 / 2), and twice that where no rule is right; beta is 1 / 20."""
    assert teacher_examples(0.5, 2.0, 1000, True) == pytest.approx(2 * (2 * math.log(2) + math.log(60_000)))
    assert teacher_examples(0.5, 2.0, 1000, False) == pytest.approx(4 * (2 * math.log(2) + math.log(60_000)))


@pytest.mark.parametrize(("flip", "examples"), [(0.0, 1), (0.0, 7), (0.0, 200), (0.02, 600), (0.1, 600)])
@pytest.mark.false_alarm(1e-08)
def test_teachers_have_the_law_of_training(flip, examples):
    """Null: 4,000 thresholds by the shortcut and 4,000 by training have one law; Kolmogorov and Smirnov."""
    drawn = PieceTask(1, flip).teachers(4_000, examples, np.random.default_rng(1))[:, 0]
    due = trained(flip, examples, 4_000, np.random.default_rng(2))
    assert ks_2samp(drawn, due).pvalue > 1e-8
    if examples > 100:
        assert ks_2samp(drawn + 1 / examples, due).pvalue < 1e-8


@pytest.mark.parametrize("examples", [3, 60])
@pytest.mark.false_alarm(3e-08)
def test_teachers_on_two_pieces_have_the_law_of_training(examples):
    """Null: sums, differences and first thresholds of 20,000 teachers have the law of training on split examples.

    The pieces depend on each other through the split, which a few examples show.
    """
    rng = np.random.default_rng(3)
    drawn = PieceTask(2).teachers(20_000, examples, rng)
    splits = rng.binomial(examples, 0.5, size=20_000)

    def of_sizes(sizes):
        found = np.full(sizes.size, 0.5)
        for size in np.unique(sizes[sizes > 0]):
            found[sizes == size] = trained(0.0, size, np.sum(sizes == size), rng)
        return found

    due = np.column_stack([of_sizes(splits), of_sizes(examples - splits)])
    for weights in ([1, 0], [1, 1], [1, -1]):
        assert ks_2samp(drawn @ weights, due @ weights).pvalue > 1e-8


def test_examples_must_fill_the_window():
    with pytest.raises(InvalidArgument, match="`examples` must leave 354 examples to each piece, got 100"):
        PieceTask(1, 0.1).teachers(3, 100, np.random.default_rng(0))


def test_a_service_counts_its_votes():
    """Winners, distances and wrong answers of one run against the thresholds that it drew."""
    service = PieceService(PieceTask(2, 0.1), 101, 800, Noise(0.01, 20.0, 5), 400)
    thresholds = service.task.teachers(101, 800, np.random.default_rng(4))
    piece, place, winners, distances = service.poll(np.random.default_rng(4))
    ones = (place >= thresholds[:, piece.astype(int)]).sum(axis=0)
    assert np.array_equal(winners, ones > 50)
    assert np.array_equal(distances, (np.abs(101 - 2 * ones) + 1) // 2 - 1)
    assert 0.09 < service.task.error(thresholds[0]) < 0.12
    wrong = [service.wrong(np.random.default_rng(seed)) for seed in (4, 4, 5)]
    assert wrong[0] == wrong[1] != wrong[2]


@pytest.mark.parametrize(
    ("records", "queries", "teachers", "cutoff"), [(1e10, 1e6, 3.5e6, 29_325), (1e9, 1e4, 5.6e5, 1_174)]
)
def test_sizes_of_a_service(records, queries, teachers, cutoff):
    size = ServiceSize(records, queries)
    assert math.ceil(size.cutoff()) == cutoff
    k = size.teachers(size.cutoff())
    assert k == pytest.approx(teachers, rel=0.01)
    assert 3 * size.mistakes(k, size.error(k)) == pytest.approx(size.cutoff(), rel=1e-9)


@pytest.mark.parametrize(("records", "cutoff"), [(1e8, 688), (3e8, 77)])
def test_self_consistent_cutoffs(records, cutoff):
    assert ServiceSize(records, 1e6).stable_cutoff() == pytest.approx(cutoff, rel=0.01)


def slope(evaluator, size):
    low, high = (math.log(evaluator(size * factor)) for factor in (0.99, 1.01))
    return (high - low) / math.log(1.01 / 0.99)


@pytest.mark.parametrize(
    ("evaluator", "size", "exponent"),
    [
        (lambda n: ServiceSize(n, 1e8).rate(), 1e10, -2.17),
        (lambda m: ServiceSize(1e10, m).rate(), 1e8, 1.22),
        (lambda n: ServiceSize(n, 1e24).rate(), 1e20, -2.09),
        (lambda m: ServiceSize(1e20, m).rate(), 1e24, 1.11),
        (lambda n: ServiceSize(n, n ** (4 / 3)).rate(), 1e20, -0.622),
        (lambda n: ServiceSize(n, n**0.8, realizable=False).rate(), 1e10, -0.379),
        (lambda n: ServiceSize(n, n**0.8, realizable=False).rate(), 1e40, -0.391),
        (lambda size: transfer_records(1 / size, 1.0, True), 1e1, 1.76),
        (lambda size: transfer_records(1 / size, 1.0, True), 1e16, 1.55),
        (lambda size: transfer_records(1 / size, 1.0, False), 1e1, 2.76),
        (lambda size: transfer_records(1 / size, 1.0, False), 1e16, 2.55),
    ],
)
def test_exponents_against_reference_values(evaluator, size, exponent):
    assert slope(evaluator, size) == pytest.approx(exponent, abs=0.008)


@pytest.mark.parametrize(("teachers", "mistakes", "points"), [(3, 2, 4), (4, 1, 5), (3, 3, 4), (2, 2, 4)])
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2)])
def test_the_extremum_is_that_of_all_layouts(teachers, mistakes, points, share):
    """Each teacher errs on any set of at most B points: all of them, tried."""
    rows = [row for row in product((0, 1), repeat=points) if sum(row) <= mistakes]
    most = max(
        sum(count > share * teachers for count in np.sum(table, axis=0).tolist())
        for table in product(rows, repeat=teachers)
    )
    assert most == most_bad_points(teachers, mistakes, share, points)
    assert most < mistakes / share


def test_teachers_that_ignore_most_of_their_examples_break_the_rate(monkeypatch):
    monkeypatch.setattr(section4, "RUNS", 2)
    teachers = PieceTask.teachers
    monkeypatch.setattr(PieceTask, "teachers", lambda task, k, n, rng: teachers(task, k, min(n, 100), rng))
    (_, exponent, due), *_ = measured_cases("n")
    assert abs(exponent - due) > 2 * section4.CLOSE


def test_a_corrupted_theorem_is_refuted():
    """The trials can fail: half of T, and a bound on the scores of a hundredth."""
    assert not SpreadMistakes(10, 15, 2000, 200_001)(20, np.random.default_rng(0)).any()
    assert not FEW.near(0.01, 2, np.random.default_rng(0)).any()
    assert not FEW.strong(0.01, 2, np.random.default_rng(0)).any()


@pytest.mark.false_alarm(6e-07)
def test_cell_means_from_counts_have_the_moments_of_training():
    """Null: equal means and mean squares in each of 3 cells; 4,000 trained and 100,000 drawn, 5.6 errors: 1e-7."""
    means, size, rng = np.array([0.1, 0.5, 0.9]), 9, np.random.default_rng(2)
    cells = rng.integers(3, size=(4000, size))
    ones = rng.random(cells.shape) < means[cells]
    counts = (cells[..., None] == np.arange(3)).sum(axis=1)
    totals = ((cells[..., None] == np.arange(3)) & ones[..., None]).sum(axis=1)
    literal = np.where(counts > 0, totals / np.maximum(counts, 1), 0.5)
    drawn = CellMeans(tuple(means), size).draw(100_000, rng)
    for power in (1, 2):
        left, right = literal**power, drawn**power
        error = np.sqrt(left.var(axis=0) / len(left) + right.var(axis=0) / len(right))
        assert np.all(np.abs(left.mean(axis=0) - right.mean(axis=0)) <= 5.6 * error)


@pytest.mark.parametrize(
    "cell", [CellStability(40, 0.1, 0.3), CellStability(7, 0.25, 0.5), CellStability(5, 1.0, 0.02)]
)
@pytest.mark.false_alarm(3e-07)
def test_exact_stability_against_replaced_records(cell):
    """Null: mean, variance and mu^2 are the computed ones; 200,000 draws, 5.6 standard errors: 1e-7 each."""
    rng, size = np.random.default_rng(3), 200_000
    inside = rng.random((size, cell.size)) < cell.share
    ones = inside & (rng.random((size, cell.size)) < cell.mean)
    again = rng.random(size) < cell.share
    count, total = inside.sum(axis=1), ones.sum(axis=1)
    other = count - inside[:, 0] + again, total - ones[:, 0] + (again & (rng.random(size) < cell.mean))
    first, second = (np.where(c > 0, t / np.maximum(c, 1), 0.5) for c, t in ((count, total), other))
    centered = (first - cell.expected) ** 2
    for drawn, exact in ((first, cell.expected), (centered, cell.variance), ((first - second) ** 2, cell.squared)):
        assert abs(drawn.mean() - exact) <= 5.6 * drawn.std() / math.sqrt(size) + 1e-12


@pytest.mark.parametrize("steps", STEPS)
def test_one_pass_against_a_loop(steps):
    learner, y = OnePassSGD(steps, 0.1), np.random.default_rng(4).integers(2, size=12)
    theta = 0.5
    for t, step in enumerate(
        {"decreasing": 10 / np.arange(11.0, 23.0), "root": [12**-0.5] * 12}.get(steps, [0.5] * 12)
    ):
        theta -= step * (1 / (1 + math.exp(-theta)) - y[t] + 0.1 * theta)
    assert learner.train(y[None], 0.5)[0] == pytest.approx(theta, rel=1e-12)


def test_stability_of_two_records_by_hand():
    small = SmallSGD(OnePassSGD(penalty=0.0), 2, 0.5, is_shuffled=False)
    scores = small.scores()[0]  # of the labels 00, 01, 10, 11
    first = ((scores[0] - scores[2]) ** 2 + (scores[1] - scores[3]) ** 2) / 2  # the first record's label changes
    second = ((scores[0] - scores[1]) ** 2 + (scores[2] - scores[3]) ** 2) / 2
    assert small.stability() ** 2 == pytest.approx((first + second) / 4)  # it changes half of the time


def test_the_full_run_of_soft_labels():
    """One run of 86,795 teachers: all of 1,000 queries answered, the 20 on the border by the shifted partition."""
    assert soft_teachers(1.0, 1e-6, 1000, 20, 0.05) == 86_795
    assert soft_teachers(1e6, 1e-6, 1000, 20, 0.05) == math.ceil(72 * math.log(20_000))
    assert 4 * stable_alpha(1.0, 1e-6, 1000, 20, 0.05) == pytest.approx(86_795, abs=1)
    run = full_run(6400)
    scores = run.scores(1, np.random.default_rng(1))[0]
    doubtful = run.cells() == 3
    assert doubtful.sum() == 20
    assert np.abs(scores - run.expected()).max() == pytest.approx(0.03, abs=1e-6)
    assert np.all(np.abs(scores[doubtful] - 0.3) < 1e-9)
    assert full_run(1600).widest > 0.1 > run.widest


DELTA = 1e-6


@pytest.mark.parametrize(("step", "copies"), [(0.09, 2), (0.03, 11), (0.5, 40)])
def test_epsilon_inverts_delta_on_the_safe_side(step, copies):
    epsilon = composed_epsilon(DELTA, step, copies)
    assert composed_delta(epsilon, step, copies) <= DELTA * (1 + 1e-6)
    assert composed_delta(0.999 * epsilon, step, copies) > DELTA
    assert epsilon <= step * copies == composed_epsilon(0.0, step, copies)


TABLE_A = {  # cutoff: lam, upper and attack for an admissible distance, the same for the literal gap
    1: (21.55, 0.1856, 0.169, 0.371, 0.347),
    2: (30.47, 0.197, 0.131, 0.394, 0.264),
    5: (48.18, 0.249, 0.110, 0.498, 0.230),
    10: (68.14, 0.321, None, 0.644, None),
    20: (96.36, 0.349, None, 0.726, None),
    50: (152.36, 0.361, None, 0.755, None),
}


@pytest.mark.parametrize("cutoff", TABLE_A)
def test_what_is_proved_and_shown_of_the_printed_noise(cutoff):
    lam, safe, attack, gap, gap_attack = TABLE_A[cutoff]
    run = printed(1.0, DELTA, cutoff, 1000)
    assert run.lam == pytest.approx(lam, abs=6e-3)
    proved = proved_epsilon(run, DELTA, 1000)
    assert proved == pytest.approx(safe, abs=6e-4)
    assert proved_epsilon(run, DELTA, 1000, lipschitz=2, largest=2) == pytest.approx(gap, abs=6e-4)
    if attack is not None:
        assert attack <= best_attack(run, DELTA) <= proved
        assert best_attack(run, DELTA, lipschitz=2.0) >= gap_attack


@pytest.mark.parametrize(
    ("cutoff", "stated"), [(1, 0.263), (2, 0.278), (5, 0.350), (10, 0.368), (20, 0.374), (50, 0.373)]
)
def test_soft_labels(cutoff, stated):
    """The reference rounds the composition of many epochs up: at T = 20 by 2.4 %."""
    found = proved_epsilon(printed_soft(1.0, DELTA, cutoff, 1000), DELTA)
    assert stated * 0.97 <= found <= stated + 5e-4


def test_failures_of_the_printed_number_of_teachers():
    assert printed_k(100.0) == 34
    assert printed_failure(100.0, "gap") == pytest.approx(0.34, abs=5e-3)
    assert printed_failure(100.0) == pytest.approx(0.95, abs=8e-3)
    assert printed_failure(50.0, "gap") == pytest.approx(0.010, abs=5e-4)
    assert printed_failure(50.0) == pytest.approx(0.17, abs=5e-3)


@pytest.mark.false_alarm(1e-08)
def test_accuracy_of_sparse_vector_by_simulation():
    """Null: ten queries at margin 6 in two epochs fail with the stated probability; 1e-8 by Hoeffding."""
    rng = np.random.default_rng(8)
    falls = [(6 + rng.laplace(scale=2, size=(200_000, 5)) <= rng.laplace(size=(200_000, 1))).any(axis=1) for _ in "ab"]
    assert abs(np.mean(falls[0] | falls[1]) - sure_failure(6.0, 10, 2)) < math.sqrt(math.log(2e8) / 4e5)
    assert sure_failure(needed_margin(0.05, 999, 2), 999, 2) == pytest.approx(0.05, rel=1e-6)
    assert needed_margin(0.05, 999, 2) < 0.46 * sparse_alpha(1000, 1, 0.05)


test_parameters_outside_their_sets_are_refused = refused(
    [
        (lambda: printed(1.0, 1.0, 1, 10), "`delta` must"),
        (lambda: pure(0.0, 0.1, 1), "`epsilon` must"),
        (lambda: optimal(1.0, 0.1, 0), "`cutoff` must"),
        (lambda: composed_delta(1.0, -1.0, 2), "`step` must"),
    ],
    error=AuditError,
)


def test_a_large_epsilon_warns():
    with pytest.warns(UserWarning, match="the proof needs epsilon <= log"):
        printed(20.0, 1e-6, 1, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed(13.0, 1e-6, 1, 10)
        printed(20.0, 1e-6, 1, 10, quiet=True)
