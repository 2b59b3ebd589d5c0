"""The label-private learners of Zhao et al. (2024), and two-stage training, as fitted."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.adapters import Documented, Released
from audit.laws import Finite, Product
from mechanisms.fitted.orders import Pair, exact, one_by_one
from mechanisms.labels.encoder import one_hot
from mechanisms.labels.neighbors import NeighborSum, VectorTargetKNN, neighbors
from mechanisms.labels.network import VectorTargetMLP
from mechanisms.labels.pate import SOURCE as VOTES
from mechanisms.labels.pate import NoisyVote, PATELabelTrainer, part_votes, winners_law
from mechanisms.labels.pretrained import (
    STARRED,
    OneStageLabelTrainer,
    OneStageRelease,
    OnFeatures,
    PretrainedOneStageTrainer,
    PretrainedTwoStageRelease,
    PretrainedTwoStageTrainer,
    public_line,
)
from mechanisms.labels.two_stage import TwoStageLabelTrainer, TwoStageRelease
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

LINE = np.array([0.0, 1.0, 3.0])
FOUR = np.array([0.0, 0.1, 1.0, 0.9])


def label_flips(points: np.ndarray, labels: tuple[int, ...], n_classes: int) -> list[Pair]:
    """Return flips of the first, of the last, and of the second label to the next class, and a reversed order."""
    y = np.array(labels)
    found = []
    for i in (0, len(y) - 1, 1):
        changed = y.copy()
        changed[i] = (y[i] + 1) % n_classes
        found.append((Labeled(points, y), Labeled(points, changed)))
    return found


def model_of(learner: Any) -> Any:
    """Return the targets that nearest neighbors keep, in the order of their points, the points, and the ties."""
    model: Any = learner.model_
    return np.array(model.targets), np.array(model.tree.data), learner.ties_


def order_and_ties(released: Any) -> Any:
    """Return what is noise or public: the order of the points, and the seed of the ties."""
    return released[1:]


def with_targets(points: np.ndarray, learner: Any, released: Any, size: int) -> Any:
    """Set the nearest neighbors that follow from released targets and public points."""
    targets, (order, learner.ties_) = released
    learner.model_ = NeighborSum(learner.n_neighbors, getattr(learner, "rounds", 0))
    if sorted(order[:, 0].tolist()) == sorted(points.tolist()):
        learner.model_.fit(order, targets.reshape(len(points), -1), np.random.default_rng(0))
    return learner


def with_labels(points: np.ndarray, learner: Any, released: Any, size: int) -> Any:
    """Set the nearest neighbors that follow from released labels by point, in the order of the release."""
    labels, (order, learner.ties_) = released
    learner.model_ = NeighborSum(2)
    if sorted(order[:, 0].tolist()) == sorted(points.tolist()):
        place = np.searchsorted(np.sort(points), order[:, 0])
        learner.model_.fit(order, one_hot(labels[place], 2), np.random.default_rng(0))
    return learner


def targets_in_a_row(released: Any) -> np.ndarray:
    """Return the targets as one vector."""
    return np.asarray(released[0]).ravel()


def labels_by_point(released: Any) -> np.ndarray:
    """Return the released labels in the order of the points."""
    targets, points, _ = released
    return np.asarray(np.argmax(targets[np.argsort(points[:, 0])], axis=1))


def law_of_bits(dataset: Labeled) -> Product:
    """Law of the bits of all labels: independent."""
    encoder = SymmetricUnaryLabelEncoder(3, 1.0)
    return Product(tuple(law for label in dataset.y for law in encoder.law(int(label)).laws))


def law_of_iterated_targets(dataset: Labeled) -> Finite:
    """Law of the targets after two rounds of the iterated prior: those of all 512 tables of bits."""
    encoder, points = SymmetricUnaryLabelEncoder(3, 1.0), np.asarray(dataset.X)[:, None]
    near = neighbors(cKDTree(points), points, 2)
    table: dict[Hashable, float] = {}
    for bits in itertools.product((0, 1), repeat=9):
        released = np.array(bits, dtype=np.int8).reshape(3, 3)
        chances = np.where(np.arange(3) == np.asarray(dataset.y)[:, None], encoder.p_keep, encoder.q_flip)
        targets = encoder.posterior(released)
        for _ in range(2):  # the learner has its own loop
            targets = encoder.posterior(released, near @ targets)
        key = tuple(targets.ravel().tolist())
        table[key] = table.get(key, 0.0) + float(np.prod(np.where(released == 1, chances, 1 - chances)))
    return Finite(table)


def stages_law(release: TwoStageRelease, dataset: Labeled) -> Finite:
    """Law of the released labels by point, the mean over all orders of the records."""
    order = np.argsort(dataset.X)
    X, y = np.asarray(dataset.X)[order], np.asarray(dataset.y)[order]
    mixed: dict[Hashable, float] = {}
    orders = list(map(list, itertools.permutations(range(len(X)))))
    for taken in orders:
        back = np.argsort(taken)
        for row, chance in release.law(Labeled(X[taken], y[taken])).pmf.items():
            key = tuple(np.array(row)[back].tolist())
            mixed[key] = mixed.get(key, 0.0) + chance / len(orders)
    return Finite(mixed)


def one_stage_law(dataset: Labeled) -> Product:
    """Law of the released labels, in the order of the points."""
    order = np.argsort(dataset.X)
    return OneStageRelease(2, 1.0).law(Labeled(np.asarray(dataset.X)[order], np.asarray(dataset.y)[order]))


FEATURES = public_line()


def starred_of(learner: Any) -> Any:
    """Return the targets, the points' features and the ties of a learner on public features."""
    model: Any = learner.model_.model
    return np.array(model.targets), np.array(model.tree.data), learner.ties_


def with_starred(points: np.ndarray, learner: Any, released: Any, size: int) -> Any:
    """Set the nearest neighbors, on public features, that follow from released labels by point."""
    labels, (order, learner.ties_) = released
    points = np.sort(points)
    seen = {tuple(row): at for at, row in enumerate(FEATURES(points[:, None]).tolist())}
    learner.model_ = OnFeatures(FEATURES, NeighborSum(2))
    if sorted(map(tuple, order.tolist())) == sorted(seen):
        place = [seen[tuple(row)] for row in order.tolist()]
        learner.model_.fit(points[place, None], one_hot(labels[place], 2), np.random.default_rng(0))
    return learner


def starred_by_point(released: Any) -> np.ndarray:
    """Return the released labels in the order of the points of `FOUR`."""
    targets, seen, _ = released
    wanted = FEATURES(np.sort(FOUR)[:, None])
    places = [int(np.argmin(np.abs(seen - row).sum(axis=1))) for row in wanted]
    return np.asarray(np.argmax(targets[places], axis=1))


PATE = PATELabelTrainer(2, 1.0, 0.01, 2, 2, partial(NeighborSum, 1), partial(NeighborSum, 1))


def winners_by_point(released: Any) -> np.ndarray:
    """Return the queries, sorted, and their winners."""
    targets, asked, _ = released
    order = np.argsort(asked[:, 0])
    return np.r_[np.searchsorted(np.sort(FOUR), asked[order, 0]), np.argmax(targets[order], axis=1)]


def pate_law(dataset: Labeled) -> Finite:
    """Law of the queries and the winners: the mean over all parts and all choices of the queries."""
    order, rng = np.argsort(dataset.X), np.random.default_rng(0)
    X, y = np.asarray(dataset.X)[order][:, None], np.asarray(dataset.y)[order]
    vote = NoisyVote(2, PATE.epsilon, PATE.delta, PATE.n_queries)
    halves = list(itertools.combinations(range(len(X)), len(X) // 2))
    mixed: dict[Hashable, float] = {}
    for first, asked in itertools.product(halves, itertools.combinations(range(len(X)), PATE.n_queries)):
        parts = [np.array(first), np.setdiff1d(np.arange(len(X)), first)]
        counts = part_votes(X, y, parts, X[list(asked)], 2, PATE.teacher, rng)
        for winners, chance in winners_law(vote, counts).pmf.items():
            key = (*asked, *winners)  # type: ignore[misc]
            mixed[key] = mixed.get(key, 0.0) + chance / len(halves) ** 2
    return Finite(mixed)


def with_student(learner: PATELabelTrainer, released: Any, size: int) -> PATELabelTrainer:
    """Set the student that follows from the winners at public points."""
    shown, (asked, learner.ties_) = released
    learner.model_ = NeighborSum(1)
    if len(shown) == 2 * PATE.n_queries and set(asked[:, 0].tolist()) <= set(FOUR.tolist()):
        winners = shown[PATE.n_queries :][np.argsort(np.argsort(asked[:, 0]))]
        learner.model_.fit(asked, one_hot(winners, 2), np.random.default_rng(0))
    return learner


def network_of(learner: VectorTargetMLP) -> Any:
    """Return the trained network, all of whose numbers are its parameters and the state of its training."""
    return learner.model_, learner.ties_


def with_network(learner: VectorTargetMLP, released: Any, size: int) -> VectorTargetMLP:
    """Set the trained network."""
    model, learner.ties_ = released
    learner.model_ = model
    return learner


def signs_of_offsets(released: Any) -> np.ndarray:
    """Return the signs of the output offsets after one step: of each class, whether more or fewer bits are set."""
    return np.sign(released[0]._parameters[-3:]).astype(np.int64)


def _checks() -> list[PrivacyCheck]:
    claim = PrivacyClaim(1.0, 0.0, LabelFlip(), "Zhao et al. 2024, Theorem 1")
    stages = PrivacyClaim(1.0, 0.0, LabelFlip(), "Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021, section 4")
    public = PrivacyClaim(1.0, 0.0, LabelFlip(), STARRED)
    central = PrivacyClaim(PATE.epsilon, PATE.delta, LabelFlip(), VOTES)
    encoder = SymmetricUnaryLabelEncoder(3, 1.0)
    on_line, on_four, noise = partial(with_targets, LINE), partial(with_labels, FOUR), order_and_ties
    plain = Released(partial(VectorTargetKNN, encoder, 1), model_of, on_line, targets_in_a_row, noise)
    smooth = Released(partial(VectorTargetKNN, encoder, 2, 2), model_of, on_line, targets_in_a_row, noise)
    network = Released(
        partial(VectorTargetMLP, encoder, hidden=1, epochs=1), network_of, with_network, signs_of_offsets
    )
    trainer = partial(TwoStageLabelTrainer, 2, 1.0, partial(NeighborSum, 2))
    two = Released(trainer, model_of, on_four, labels_by_point, noise)
    one = Released(
        partial(OneStageLabelTrainer, 2, 1.0, partial(NeighborSum, 2)), model_of, on_four, labels_by_point, noise
    )
    starred = [
        Released(
            partial(kind, 2, 1.0, partial(NeighborSum, 2), features=FEATURES),
            starred_of,
            partial(with_starred, FOUR),
            starred_by_point,
            noise,
        )
        for kind in (PretrainedOneStageTrainer, PretrainedTwoStageTrainer)
    ]
    student = Released(
        partial(PATELabelTrainer, 2, 1.0, 0.01, 2, 2, PATE.teacher, PATE.student),
        model_of,
        with_student,
        winners_by_point,
        noise,
    )
    three = label_flips(LINE, (0, 2, 1), 3)
    four = label_flips(FOUR, (0, 0, 1, 1), 2)
    return [
        exact("labels/VectorTargetKNN", Documented(plain, law_of_bits), claim, three),
        exact("labels/VectorTargetKNN, iterated prior", Documented(smooth, law_of_iterated_targets), claim, three),
        *one_by_one("labels/VectorTargetMLP", network, claim, three, budget=20_000, tolerance=2.0),
        exact(
            "labels/TwoStageLabelTrainer",
            Documented(two, partial(stages_law, TwoStageRelease(2, 1.0, 2))),
            stages,
            four,
        ),
        exact("labels/OneStageLabelTrainer", Documented(one, one_stage_law), stages, four),
        exact("labels/PretrainedOneStageTrainer", Documented(starred[0], one_stage_law), public, four),
        exact(
            "labels/PretrainedTwoStageTrainer",
            Documented(starred[1], partial(stages_law, PretrainedTwoStageRelease(2, 1.0, 2, FEATURES))),
            public,
            four,
        ),
        exact("labels/PATELabelTrainer", Documented(student, pate_law), central, four),
    ]


CHECKS: list[PrivacyCheck] = _checks()
