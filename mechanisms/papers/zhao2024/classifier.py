"""Label-private learners for scikit-learn: nearest neighbors and a network, on labels released by any of the methods.

A fit releases every label once and learns from the releases; features are public. `LabelRelease` states its law: the
releases in the order of the records, beside a seed that is drawn without looking at labels.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit import EstimatorCheck, Labeled, LabelFlip
from audit.laws import Law
from mechanisms.estimators import PrivateClassifier, StatedRelease, noise_source
from mechanisms.papers.rows import ZHAO, Cases
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, ResponseEncoder, TwoStageEncoder
from mechanisms.papers.zhao2024.neighbors import LabelLearner, NeighborSum
from mechanisms.papers.zhao2024.network import Head, TargetNetwork
from mechanisms.papers.zhao2024.vector import LabelEncoder, VectorEncoder

WIDE = (-3.0, 3.0)
FAILURE = 0.1  # the probability that `neighbors_for` allows for
METHODS: dict[str, Callable[..., LabelEncoder]] = {
    "vector": VectorEncoder,
    "response": ResponseEncoder,
    "two stages": TwoStageEncoder,
    "laplace": LaplaceEncoder,
}


def neighbors_for(n: int, epsilon: float, classes: int) -> int:
    """Return the number of neighbors at which the noise of (40) is at most 1/2, and at most 2 sqrt(n)."""
    # sqrt(ln(2 K / 0.1) / (2 k)) / tanh(epsilon / 4) <= 1/2: half of the gap between the likeliest class and the others
    # where one is certain.
    enough = 2 * math.log(2 * classes / FAILURE) / max(math.tanh(epsilon / 4) ** 2, 1e-300)
    return max(1, min(math.ceil(enough), round(2 * n**0.5), n))


class LabelPrivateClassifier(PrivateClassifier):
    """Base of the learners on released labels; (epsilon, 0)-DP for labels, features are public. Any number of classes.

    Notes
    -----
    `method` : "vector", the paper's; or a baseline, "response" (RR, LP-1ST), "two stages" (LP-2ST), "laplace" (ALIBI).
    """

    relation = "label flip"
    multiclass = True
    method: str

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return estimates of the class probabilities, clipped at 0 and scaled to 1, shape (n, classes)."""
        shares = np.clip(self._shares(self._checked(X)), 0.0, None)
        shares = np.where(shares.any(axis=1, keepdims=True), shares, np.ones_like(shares))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> LabelLearner:
        rng = noise_source(self.random_state)
        return self._learner(len(X), int(rng.integers(2**63))).fit(X, y, rng)

    def _learner(self, n: int, seed: int) -> LabelLearner:
        encoder = self._encoder(n)
        return LabelLearner(encoder, self._model(n, encoder.head)(), seed)

    def _encoder(self, n: int) -> LabelEncoder:
        if self.method not in METHODS:
            raise ValueError(f"`method` must be one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
        more = {"model": self._model(n, "softmax")} if self.method == "two stages" else {}
        return METHODS[self.method](len(self.classes_), self.epsilon, **more)

    @abstractmethod
    def _model(self, n: int, head: Head) -> Any:
        """Return the builder of the model of both stages for n records."""

    @abstractmethod
    def _shares(self, X: np.ndarray) -> np.ndarray:
        """Return estimates of the class probabilities."""


@dataclass(eq=False, repr=False)
class LabelPrivateNeighbors(LabelPrivateClassifier):
    """Nearest neighbors on labels released by the vector mechanism; (epsilon, 0)-DP for labels, features are public.

    Parameters
    ----------
    epsilon : float > 0
    n_neighbors : int >= 1, optional
        `neighbors_for` unless given, from the number of records and of classes; never more than there are records.
    bounds, projection, classes, random_state
        As for `CubeVoteClassifier`; no projection unless given.
    method : {"vector", "response", "two stages", "laplace"}
        How labels are released.
    rounds : int >= 0
        Rounds of the iterated prior, which smooth over neighbors of neighbors.

    References
    ----------
    Zhao et al. 2024, Theorem 1, equations (20) and (35).
    """

    epsilon: float = 1.0
    n_neighbors: int | None = None
    bounds: Any = WIDE
    projection: Any = None
    classes: Any = None
    random_state: Any = None
    method: str = "vector"
    rounds: int = 0

    def _model(self, n: int, head: Head) -> Any:
        rule = neighbors_for(n, self.epsilon, len(self.classes_)) if self.n_neighbors is None else self.n_neighbors
        return partial(NeighborSum, rule, self.rounds)

    def _shares(self, X: np.ndarray) -> np.ndarray:
        means = self.learner_.model.scores(X) / self.learner_.model.n_neighbors
        return means if self.rounds else self.learner_.encoder.shares(means)


@dataclass(eq=False, repr=False)
class LabelPrivateNetwork(LabelPrivateClassifier):
    """A network on labels released by the vector mechanism; (epsilon, 0)-DP for labels, features are public.

    Parameters
    ----------
    epsilon : float > 0
    hidden, epochs : int >= 1
    decay : float >= 0
        L2 penalty on the weights.
    iterated : bool
        Whether targets are posteriors under the network's own outputs, recomputed at every step, as ALIBI has them.
    bounds, projection, classes, random_state, method
        As for `LabelPrivateNeighbors`.

    References
    ----------
    Zhao et al. 2024, section 4.2.
    """

    epsilon: float = 1.0
    hidden: int = 128
    epochs: int = 20
    decay: float = 1e-3
    bounds: Any = WIDE
    projection: Any = None
    classes: Any = None
    random_state: Any = None
    method: str = "vector"
    iterated: bool = False

    def _model(self, n: int, head: Head) -> Any:
        return partial(TargetNetwork, head, self.hidden, self.epochs, self.decay, iterated=self.iterated)

    def _shares(self, X: np.ndarray) -> np.ndarray:
        outputs = self.learner_.model.scores(X)
        return outputs if self.iterated else self.learner_.encoder.shares(outputs)


class LabelRelease(StatedRelease):
    """The released labels; the seed is noise."""

    def reveal(self, fitted: LabelPrivateClassifier) -> tuple[Any, Any]:
        """Return the releases in a row, and the seed."""
        return np.ravel(fitted.learner_.released), fitted.learner_.seed

    def law(self, dataset: Labeled) -> Law:
        """Return the law of the releases."""
        self.estimator.classes_ = np.unique(self.estimator.classes)
        return self.estimator._encoder(len(dataset)).law_of_all(self._mapped(dataset))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> LabelLearner:
        released, seed = revealed
        wide = len(released) > n
        return fresh._learner(n, seed).learn(rows, np.reshape(released, (n, -1)) if wide else released)


_THREE = Labeled(np.array([[-1.0], [0.5], [2.0]]), np.array([0, 2, 1]))
_FOUR = Labeled(np.array([[-1.0], [-0.8], [1.0], [0.7]]), np.array(["no", "no", "yes", "yes"]))


def _audit(name: str, learner: LabelPrivateClassifier, records: Labeled, stated: Any = None) -> EstimatorCheck:
    release = LabelRelease(stated or learner, records.X.shape[1])
    settings = {"relation": LabelFlip(), "public": ("classes",), "budget": 1_000}
    name = f"{type(learner).__name__} {name}"
    return ZHAO.check_fits(name, "", learner, records, learner.epsilon, release, **settings)


@ZHAO.states("learners by default", "section 4", "==")
def default_cases() -> Cases:
    """The defaults are those stated."""
    X, y = np.tile(_THREE.X, (40, 1)), np.tile(_THREE.y, 40)
    plain, deep = (kind(classes=[0, 1, 2]).fit(X, y) for kind in (LabelPrivateNeighbors, LabelPrivateNetwork))
    seen = {LabelPrivateNeighbors(classes=[0, 1, 2]).fit(X, y).learner_.released.tobytes() for _ in range(20)}
    parts = [deep.learner_.model.hidden, deep.learner_.model.epochs, 1000 * deep.learner_.model.decay]
    budgets = [learner.privacy_spent_.epsilon for learner in (plain, deep)]
    found = [*budgets, plain.learner_.model.n_neighbors, *parts, len(seen)]
    names = ("epsilon", "epsilon of networks", "neighbors", "hidden", "epochs", "decay", "fits")
    return list(zip(names, map(float, found), (1.0, 1.0, 22.0, 128.0, 20.0, 1.0, 20.0), strict=True))


_DEFAULTS = LabelPrivateNeighbors(1.0, 3, (-3.0, 3.0), None, [0, 1, 2], None, "vector", 0)
CHECKS: list[Any] = [
    *ZHAO.rows(__name__),
    _audit("defaults", LabelPrivateNeighbors(classes=[0, 1, 2]), _THREE, _DEFAULTS),
    _audit("iterated prior", LabelPrivateNeighbors(2.0, 2, (-1.0, 2.0), None, [0, 1, 2], rounds=2), _THREE),
    *(
        _audit(method, LabelPrivateNeighbors(1.5, 2, classes=["no", "yes"], method=method), _FOUR)
        for method in ("response", "two stages", "laplace")
    ),
    _audit("of one step", LabelPrivateNetwork(1.0, 2, 1, classes=[0, 1, 2]), _THREE),
]
