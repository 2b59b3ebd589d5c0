"""Learners on released labels: parts by hand and against brute force, releases against the law, and bad input."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditError, Labeled
from mechanisms.papers.zhao2024.baselines import (
    LaplaceEncoder,
    PriorResponseEncoder,
    ResponseEncoder,
    literal_posterior,
)
from mechanisms.papers.zhao2024.classifier import METHODS, LabelPrivateNeighbors, LabelPrivateNetwork
from mechanisms.papers.zhao2024.comparisons import Circle, load_digits, split
from mechanisms.papers.zhao2024.faults import pretrain_on_labels
from mechanisms.papers.zhao2024.neighbors import LabelLearner, NeighborSum
from mechanisms.papers.zhao2024.network import PublicFeatures, TargetNetwork
from mechanisms.papers.zhao2024.theorems import SETTINGS, LargestDeviation, QueryPoints
from mechanisms.papers.zhao2024.vector import VectorEncoder

SURE = 60.0  # an epsilon at which a flipped bit has probability 1e-13


def blobs(n=200):
    return Circle(4, 0.05).sample(n, np.random.default_rng(1))


def test_the_posterior_by_hand():
    posterior = LaplaceEncoder(2, 1.0).posterior(np.array([[1.0, 0.0], [7.0, -7.0]]))
    np.testing.assert_allclose(posterior[:, 0] / posterior[:, 1], [math.e, math.e])
    flat = literal_posterior(np.array([[1.0, 0.0]]), np.array([[1.0, 3.0]]), 2.0)
    assert flat[0, 0] / flat[0, 1] == pytest.approx(math.e / 3)


@pytest.mark.parametrize(
    ("prior", "epsilon", "kept"),
    [((6, 2, 0), 1.0, [0]), ((5, 3, 0), 1.0, [0, 1]), ((0, 3, 5), 1.0, [2, 1]), (np.ones(10), 0.2, list(range(10)))],
)
def test_which_classes_are_kept(prior, epsilon, kept):
    """w_1 = 3/4, w_2 = e / (e + 1) = 0.731; with counts (5, 3, 0): w_1 = 0.625 < 0.731."""
    assert PriorResponseEncoder(len(prior), epsilon, prior=prior).kept_classes == kept


@pytest.mark.false_alarm(1e-09)
def test_priors_row_by_row_give_the_law_of_each_row():
    """Null: each row follows its own law. 20,000 draws a row, exact binomial tests, 1e-10 a cell."""
    priors = np.array([[5, 3, 0, 0], [1, 1, 1, 1], [0, 0, 2, 9]]) / np.array([[8], [4], [11]])
    labels, n = np.array([1, 2, 0]), 20_000
    encoder = PriorResponseEncoder(4, 1.0, prior=np.ones(4))
    drawn = encoder.release_under(np.tile(labels, n), np.tile(priors, (n, 1)), np.random.default_rng(3)).reshape(n, 3)
    for column, label, prior in zip(drawn.T, labels, priors, strict=True):
        law = PriorResponseEncoder(4, 1.0, prior=prior).law(label).pmf
        for value, count in enumerate(np.bincount(column, minlength=4).tolist()):
            p = law.get(value, 0.0)
            assert count == 0 if p == 0 else stats.binomtest(count, n, min(p, 1.0)).pvalue > 1e-10


@pytest.mark.parametrize("kind", [VectorEncoder, ResponseEncoder, LaplaceEncoder])
@pytest.mark.false_alarm(3e-10)
def test_many_classes_cost_no_more(kind):
    """Null: 500 releases of one of 200 classes follow the law; 1e-10 each."""
    encoder, rng = kind(200, 1.0), np.random.default_rng(200)
    assert encoder.law(0).loss_against(encoder.law(199)).epsilon(0.0) == pytest.approx(1.0)
    assert encoder.law(7).fit_pvalue(encoder(7, 500, rng), rng) > 1e-10


def test_neighbors_and_rounds_against_brute_force():
    rng = np.random.default_rng(2)
    X, queries, y = rng.normal(size=(80, 3)), rng.normal(size=(11, 3)), rng.integers(5, size=80)
    learner = LabelLearner(LaplaceEncoder(5, 1.0), NeighborSum(7, rounds=2), 0).fit(X, y, rng)
    near, asked = (np.argsort(((rows[:, None] - X) ** 2).sum(axis=2), axis=1)[:, :7] for rows in (X, queries))
    soft = learner.encoder.posterior(learner.released)
    for _ in range(2):
        soft = learner.encoder.posterior(learner.released, soft[near].mean(axis=1))
    np.testing.assert_allclose(learner.model.scores(queries), soft[asked].sum(axis=1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("learner", [LabelPrivateNeighbors(n_neighbors=5), LabelPrivateNetwork(epochs=60)])
@pytest.mark.filterwarnings("ignore::mechanisms.estimators.PrivacyLeakWarning")
def test_without_noise_all_learn_separate_classes(learner, method):
    X, y = blobs()
    fitted = learner.set_params(epsilon=SURE, method=method, random_state=0).fit(X, y)
    assert fitted.score(X, y) == 1.0
    assert (fitted.predict_proba(X).argmax(axis=1) == y).all()
    fitted = LabelPrivateNeighbors(SURE, 5, method=method, rounds=1).fit(PublicFeatures(*blobs(300), hidden=16)(X), y)
    assert fitted.score(PublicFeatures(*blobs(300), hidden=16)(X), y) == 1.0


def test_posteriors_are_shares_as_they_are():
    """Nothing is taken off where targets are posteriors; and the network gets its parameters."""
    X, y = blobs(40)
    near = LabelPrivateNeighbors(1.0, 5, classes=[0, 1, 2, 3], rounds=1, random_state=0)
    deep = LabelPrivateNetwork(1.0, 6, 2, 0.25, classes=[0, 1, 2, 3], iterated=True, random_state=0)
    for learner in (near, deep):
        with pytest.warns(UserWarning, match="random_state"):
            scores = learner.fit(X, y).learner_.model.scores(learner._mapped(X))
        np.testing.assert_allclose(learner.predict_proba(X), scores / scores.sum(axis=1, keepdims=True))
    model = deep.learner_.model
    assert (model.hidden, model.epochs, model.decay, model.iterated) == (6, 2, 0.25, True)


@pytest.mark.parametrize("head", ["sigmoid", "softmax"])
def test_the_gradient_of_the_network(head):
    """Against central differences of the loss, with the decay of the weights, and none of the offsets."""
    rng = np.random.default_rng(5)
    X, targets = rng.normal(size=(6, 3)), rng.dirichlet(np.ones(4), size=6)
    network = TargetNetwork(head, hidden=5, epochs=2, decay=0.1, batch=6, rate=1e-12)
    for epoch in network.training(X, targets, rng):
        network._parameters += (epoch == 1) * rng.normal(scale=0.3, size=network._parameters.size)  # offsets begin at 0

    def loss():
        output = network.scores(X)
        entropy = -(targets * np.log(output)).sum()
        if head == "sigmoid":
            entropy -= ((1 - targets) * np.log(1 - output)).sum()
        return entropy / 6 + 0.05 * sum((weights**2).sum() for weights in network._parts[:2])

    known = network._gradient.copy()
    for at in range(0, len(known), 7):
        values = []
        for step in (1e-6, -2e-6):
            network._parameters[at] += step
            values.append(loss())
        network._parameters[at] += 1e-6
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(known[at], abs=1e-6)


@pytest.mark.parametrize("iterated", [False, True])
def test_iterated_targets_are_posteriors_under_the_outputs(iterated):
    """One step of one batch: asked for under outputs of shape (n, K), or not at all."""
    asked, rng = [], np.random.default_rng(0)
    X, targets = rng.normal(size=(6, 2)), np.eye(3)[[0, 1, 2, 0, 1, 2]]

    def refine(rows, prior):
        asked.append(prior.shape)
        return targets[rows]

    TargetNetwork("softmax", hidden=4, epochs=1, batch=6, iterated=iterated).fit(X, targets, rng, refine)
    assert asked == [(6, 3)] * iterated


def test_bad_input_is_refused():
    X, y = blobs(10)
    for learner, rule in (
        (LabelPrivateNeighbors(method="alibi"), "`method` must be one of 'vector', 'response'"),
        (LabelPrivateNeighbors(n_neighbors=0), "`n_neighbors`"),
        (LabelPrivateNetwork(epochs=0), "`epochs`"),
    ):
        with pytest.raises(ValueError, match=rule):
            learner.set_params(classes=[0, 1, 2, 3]).fit(X, y)
    with pytest.raises(AuditError, match="`X` must hold at least two points"):
        LabelPrivateNeighbors(method="two stages", classes=[0, 1, 2, 3]).fit(X[:1], y[:1])
    for wrong in (-1, 4, 0.5, "a", None, [0, 1]):
        with pytest.raises(AuditError, match="`label` must"):
            VectorEncoder(4, 1.0).law(wrong)
    for prior in ((1, 2), (1, 2, -1), (0, 0, 0), (1, 2, math.nan), (1, 2, math.inf)):
        with pytest.raises(AuditError, match="`prior` must be 3 numbers"):
            PriorResponseEncoder(3, 1.0, prior=prior)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e308])
@pytest.mark.parametrize("method", METHODS)
def test_the_edges_of_epsilon(method, epsilon):
    X, y = blobs(10)
    learner = LabelPrivateNeighbors(epsilon, classes=[0, 1, 2, 3], method=method).fit(X, y)
    assert np.isfinite(learner.predict_proba(X)).all()


def test_every_one_of_many_classes_is_predicted():
    X, y = Circle(40, 0.01).sample(1_200, np.random.default_rng(40))
    assert LabelPrivateNeighbors(SURE, 5, classes=list(range(40))).fit(X, y).score(X, y) == 1.0


def test_a_bit_of_another_class_is_as_rare_as_epsilon_says():
    assert VectorEncoder(3, 60.0).q == pytest.approx(math.exp(-30), rel=1e-9)


def test_distributions_and_splits():
    X, y = load_digits()
    train, test = split(y, 360, np.random.default_rng(0))
    assert X.min() == 0.0 < X.max() == 1.0
    assert sorted([*train, *test]) == list(range(1797))
    assert np.abs(np.bincount(y[test]) - np.bincount(y) * 360 / 1797).max() < 1.5


@pytest.mark.false_alarm(2e-09)
def test_largest_deviation_against_simulation():
    """Null: the evaluator. 20,000 draws of 10 scores, 6 standard errors (deviation of the largest below 0.02)."""
    q = 1 / (1 + math.exp(0.5))
    drawn = np.abs(np.random.default_rng(1).binomial(200, q, size=(20_000, 10)) / 200 - q)
    assert abs(drawn.max(axis=1).mean() - LargestDeviation(1.0, 200)(10)) < 6 * 0.02 / 20_000**0.5


@pytest.mark.false_alarm(1e-09)
def test_errors_of_the_scores_on_the_ring():
    """Null: the means computed independently, by another implementation. 2,000 draws; deviation below 0.02."""
    for K, known in {2: 0.040, 8: 0.060, 32: 0.081}.items():
        drawn = QueryPoints("smooth", K, 1.0).largest_deviations(2_000, np.random.default_rng(K))
        assert abs(drawn.mean() - known) < 0.003


def test_the_bound_of_38():
    """sqrt(ln(2 * 10 / 0.05) / 400) = sqrt(ln 400 / 400)."""
    setting = next(setting for setting in SETTINGS if setting.n_classes == 10)
    assert setting.hoeffding == pytest.approx(math.sqrt(5.991464547107982 / 400), rel=1e-12)


def test_there_are_no_more_neighbors_than_records():
    model = NeighborSum(9).fit(np.zeros((3, 1)), np.eye(3)[:, :2], np.random.default_rng(0))
    assert model.n_neighbors == 3
    assert model.scores(np.zeros((1, 1))).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("records", [3, 8, 10])
def test_an_epoch_sees_every_record_once(records):
    """Batches of four: fewer records, two whole batches, and two records more."""
    seen, targets = [], np.eye(2)[np.arange(records) % 2]
    network = TargetNetwork("softmax", hidden=1, epochs=2, batch=4, iterated=True)
    refine = lambda rows, prior: seen.extend(rows.tolist()) or targets[rows]  # noqa: E731
    network.fit(np.zeros((records, 1)), targets, np.random.default_rng(0), refine)
    assert sorted(seen[:records]) == sorted(seen[records:]) == list(range(records))


def test_a_network_that_learned_the_labels_is_shown_beside_labels():
    data = Labeled(np.linspace(0, 1, 4)[:, None], np.array([0, 1, 2, 2]))
    shown = pretrain_on_labels(data, 50, np.random.default_rng(0))
    assert set(np.unique(shown[:, :4])) == {0, 1, 2}
    assert (shown[:, 4:] == shown[0, 4:]).all()
