"""The classifier: by hand, its law, and the arrays of its users.

Significance 1e-8, fixed seeds.
"""

import math
import warnings
from fnmatch import fnmatchcase

import numpy as np
import pytest

import audit
from audit.errors import InvalidArgument
from audit.laws import Laplace
from mechanisms.distributions import Atomic, quadrants, smooth
from mechanisms.papers.berrett2019 import classifier, mechanism
from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier, consistent_bandwidth
from mechanisms.papers.berrett2019.evaluator import FittedExcess, tabulate
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.law import HalvesLaw, noise_table

POINTS = np.random.default_rng(3).random((9, 2))
LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1])
ON_THE_GRID = Atomic([0.0, 0.25, 0.3, 0.75], [0.2, 0.4, 0.1, 0.3], [0.6, -0.4, 0.2, 0.8])


def on_the_line(epsilon, bandwidth, seed=None):
    return LocalVoteClassifier(epsilon, bandwidth, (0.0, 1.0), None, [0, 1], seed)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_without_noise_the_statistic_is_the_difference_of_two_means():
    """eps = 1e9: the noise has scale 4e-9. Every user sits at x = 0.3: cells 1 and 2 of h = 0.25."""
    X, y = np.full((40, 1), 0.3), np.r_[np.ones(30), np.zeros(10)].astype(int)
    learner = on_the_line(1e9, 0.25, 5).fit(X, y)
    values = learner.learner_.values
    assert values[[0, 3, 4]] == pytest.approx([0, 0, 0], abs=1e-6)
    assert values[2] == pytest.approx(values[1], abs=1e-6)
    ones = 20 * (values[1] + 0.5)  # labels 1 in half 2
    assert ones == pytest.approx(round(ones), abs=1e-5)
    assert learner.predict([[0.3], [0.2]]).tolist() == learner.learner_.predict([0.3, 0.2]).tolist() == [1, 1]
    three = on_the_line(1e9, 0.5, 0).fit([[0.5]] * 3, [1, 1, 0]).learner_.values[1]  # one user, and two
    assert three == pytest.approx(0.5, abs=1e-6) or three == pytest.approx(0.0, abs=1e-6)


def test_the_order_of_users_does_not_leak_into_halves():
    """Sorted by label: without a random split half 1 would have only zeros, and T would be 1/2 larger everywhere."""
    X, y = np.linspace(0, 1, 50)[:, None], np.r_[np.zeros(25), np.ones(25)].astype(int)
    first, again = (on_the_line(1e9, 0.5, 3).fit(X, y).learner_.values for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert np.all(np.abs(first) < 0.45)


def test_the_noise_of_a_billion_users_at_once():
    """1e9 users in each half, by hand a deviation of sqrt(10 * 4^d / n) / eps."""
    counts = np.zeros((400, 5))
    rng = np.random.default_rng(2)
    drawn = classifier.noisy_statistic(counts, counts, (10**9, 10**9), mechanism.noise_scale(1, 1.0), rng)
    assert drawn.std() == pytest.approx(math.sqrt(40 / 10**9), rel=0.1)  # 2,000 draws: 6 deviations


def test_bandwidths():
    assert 0 < consistent_bandwidth(10**20, 1e-300, 3) < 1e60
    learner = LocalVoteClassifier(epsilon=40.0, classes=[0, 1])
    assert learner._grid(3, 2).bandwidth == pytest.approx(1600 ** (-1 / 8))
    assert LocalVoteClassifier()._grid(60, 2).bandwidth == 0.5
    assert LocalVoteClassifier(bandwidth=0.7)._grid(60, 2).bandwidth == 0.7


def test_a_grid_may_have_2_to_the_20_cells():
    """Two features: (1,022 + 2)^2 cells and no more."""
    X = np.zeros((2, 2))
    assert LocalVoteClassifier(bandwidth=1 / 1022).fit(X, [0, 1]).learner_.values.size <= 2**20
    with pytest.raises(ValueError, match=r"at most 1048576 cells: 2 features at bandwidth 0\.000978"):
        LocalVoteClassifier(bandwidth=1 / 1023).fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"hold 2 users at least, one for each half, got n_samples=1"):
        LocalVoteClassifier(classes=[0, 1]).fit(X[:1], [0])


def test_the_noise_of_one_user_in_each_half_is_known():
    """Laplace of scale s less half of another one: the difference of two Laplace laws of scales s and s / 2."""
    places, logs, below = noise_table(1, 1, 3.0)
    x = np.abs(places)
    exact = (3.0 * np.exp(-x / 3.0) - 1.5 * np.exp(-x / 1.5)) / (2 * (3.0**2 - 1.5**2))
    np.testing.assert_allclose(np.exp(logs), exact, atol=2e-5)
    assert below[len(x) // 2] == pytest.approx(0.5)


def sums_of_arrays(epsilon, bandwidth, size, rng):
    """Statistics of the users from their own arrays, those of half 1 and those of half 2."""
    held, half = Grid(2, bandwidth).hits(POINTS).astype(float), len(POINTS) // 2
    order = rng.permuted(np.tile(np.arange(len(POINTS)), (size, 1)), axis=1)
    bits, ones = held[order[:, :half]], (held * LABELS[:, None])[order[:, half:]]
    scale = mechanism.noise_scale(2, epsilon)
    first, second = (part + rng.laplace(scale=scale, size=part.shape) for part in (bits, ones))
    return second.mean(axis=1) - first.mean(axis=1) / 2


@pytest.mark.false_alarm(3e-08)
def test_fits_follow_the_law_and_those_with_half_the_noise_do_not():
    """Null: 1,500 statistics of nine users are i.i.d. from the law: of fits, and of the sum of arrays."""

    def drawn(epsilon):
        learner = LocalVoteClassifier(epsilon, 0.5, (0.0, 1.0), None, [0, 1])
        return np.array([learner.fit(POINTS, LABELS).learner_.values for _ in range(1_500)])

    law, rng = HalvesLaw.of(POINTS, LABELS, 40.0, 0.5), np.random.default_rng(0)
    right, arrays = drawn(40.0), sums_of_arrays(40.0, 0.5, 1_500, rng)
    assert law.fit_pvalue(right, rng) > 1e-8
    assert law.fit_pvalue(arrays, rng) > 1e-8
    assert law.fit_pvalue(drawn(80.0), rng) < 1e-8
    assert HalvesLaw.of(POINTS, 1 - LABELS, 40.0, 0.5).fit_pvalue(right, rng) < 1e-8
    assert np.isfinite(law.log_likelihood(right)).all()
    assert (law.log_likelihood(np.full_like(right, np.nan)) == -np.inf).all()
    assert law.normal_scores(right[:, :3], rng) is None


def test_the_density_of_a_cell_adds_up_to_one():  # but for the interpolation of its table
    law, x = HalvesLaw(np.ones((6, 1), dtype=bool), np.array([0, 1, 1, 0, 1, 1]), 1.0), np.linspace(-12, 12, 24_001)
    assert law.fit_tests == len(law._fit_pvalues(np.zeros((9, 1)), np.zeros((9, 1)), np.random.default_rng(0)))
    assert np.trapezoid(np.exp(law.log_likelihood(x[:, None])), x) == pytest.approx(1.0, abs=1e-5)


def test_a_user_costs_epsilon_at_most_and_no_bound_is_claimed_from_below():
    law, found = HalvesLaw.of(POINTS, LABELS, 2.0, 0.5), []
    for point in ((0.1, 0.1), (0.9, 0.9), (0.5, 0.5), (0.2, 0.7)):
        others = [HalvesLaw.of(np.vstack([[point], POINTS[1:]]), np.r_[y, LABELS[1:]], 2.0, 0.5) for y in (0, 1)]
        found += [law.loss_against(other) for other in others]
        for other, loss in zip(others, found[-2:], strict=True):  # half 2, or half 1 at 5 noises against 2 * 4
            bits, labeled = (
                np.abs(other.hits[0] * b - law.hits[0] * a).sum() for a, b in ((1, 1), (law.labels[0], other.labels[0]))
            )
            assert loss.most == pytest.approx(max(labeled, 5 / 8 * bits) / law.scale)
    assert 0.5 <= max(loss.epsilon(0.0) for loss in found) <= 2.0 * (1 + 1e-9)
    assert {loss.epsilon_lower_bound(0.0) for loss in found} == {0.0}
    worst = max(found, key=lambda loss: loss.most)
    e = math.exp(worst.most)
    assert worst.delta(0.0) == pytest.approx((e - 1) / (e + 1))
    with pytest.raises(InvalidArgument, match="`other` must be a law"):
        law.loss_against(Laplace(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="have at most 20000 halves for the law, got 48620"):
        HalvesLaw.of(np.full((18, 1), 0.5), np.ones(18), 1.0, 0.5)


@pytest.mark.parametrize(
    ("distribution", "bandwidth"),
    [(smooth(), 0.25), (ON_THE_GRID, 0.25), (quadrants(), 0.4)],
    ids=["d=1", "atoms on the grid", "d=2"],
)
@pytest.mark.false_alarm(2e-08)
def test_fits_have_the_moments_of_the_evaluator(distribution, bandwidth):
    """Null: mean and deviation of the table in every cell. 2,000 fits, 6.5 standard errors each: 2e-8 over all.

    Over all cells together a tenth less noise is more than that: the noises of cells are independent.
    """
    fits = FittedExcess(distribution, 150, bandwidth, 4.0)
    drawn, table = fits.statistics(2_000, np.random.default_rng(20190501)), tabulate(distribution, fits.grid)
    deviation = table.deviation(150, 4.0)
    assert np.all(np.abs(drawn.mean(axis=0) - table.signed / 2) <= 6.5 * deviation / 2_000**0.5)
    ratios = drawn.std(axis=0) / deviation
    assert np.abs(ratios - 1).max() <= 6.5 * 1.2 / (2 * 2_000) ** 0.5
    assert abs(ratios.mean() - 1) <= 6.5 * 1.2 / (2 * 2_000 * len(ratios)) ** 0.5


def test_atoms_on_the_faces_of_cells():
    """Cells (-h, h), (0, 2h), ...: 0.25 and 0.75 lie in the middle of one cell each, 0.3 in two."""
    assert tabulate(ON_THE_GRID, Grid(1, 0.25)).mass.tolist() == pytest.approx([0.2, 0.5, 0.1, 0.3, 0.0])


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [("epsilon", 2.0), ("bandwidth", 0.3), ("bounds", (-2.0, 3.0)), ("projection", 1), ("random_state", 1), ("", 0)],
)
def test_a_wrong_default_scale_or_seed_turns_a_check_of_the_class_red(changed, wrong, monkeypatch):
    names = ("epsilon", "bandwidth", "bounds", "projection", "classes", "random_state")
    defaults = dict(zip(names, LocalVoteClassifier.__init__.__defaults__, strict=True))
    if changed:
        defaults[changed] = wrong
        monkeypatch.setattr(LocalVoteClassifier.__init__, "__defaults__", tuple(defaults.values()))
    else:
        monkeypatch.setattr(classifier, "noise_scale", lambda dim, epsilon: mechanism.noise_scale(dim, epsilon) / 1.3)
    name = {"": "LocalVoteClassifier defaults", "random_state": "fits without a seed*"}.get(changed, "fits by default")
    (check,) = (check for check in classifier.CHECKS if fnmatchcase(check.name, f"berrett2019/{name}"))
    assert audit.run([check], workers=0, seed=0).verdict is not audit.Verdict.PASS
