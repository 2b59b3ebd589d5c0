"""The nearest neighbors of Zhao et al. (2024), equations (20) and (35): g_j(x) is the mean of bit j over the k nearest.

Scores are sums over the neighbors, k times the text's means. The prediction is the class of the largest score; ties,
of which the text says nothing, go to the first class.

Departure: with `rounds` > 0 the targets are posteriors under an iterated prior, as ALIBI has for networks (the text
does not define its nearest-neighbor version): from the posteriors under the uniform prior on, each round takes
for the prior of a training point the posteriors of its own k neighbors, itself included.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from mechanisms.papers.zhao2024.vector import FloatArray, LabelEncoder
from mechanisms.queries import count, held

Refine = Callable[[Any, FloatArray | None], FloatArray]
"""(rows of the training set, their prior) -> their posteriors."""


class TargetModel(Protocol):
    """A model fitted to target vectors; it returns K scores for every query, larger for likelier classes."""

    def fit(self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None) -> Any:
        """Fit to targets, shape (n, K); `refine` recomputes them from the model's own predictions."""
        ...

    def scores(self, X: FloatArray) -> FloatArray:
        """Return scores >= 0, shape (m, K)."""
        ...


class NeighborSum:
    """Sums of targets over the k nearest training points, all of them where there are fewer."""

    def __init__(self, n_neighbors: int, rounds: int = 0) -> None:
        self.n_neighbors, self.rounds = count(n_neighbors, "n_neighbors"), held(rounds, "rounds", at_least=0)

    def fit(self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None) -> Self:
        """Keep the points and their targets."""
        self.n_neighbors = min(self.n_neighbors, len(X))
        self.tree, self.targets = cKDTree(X), targets
        if self.rounds and refine:
            near, self.targets = neighbors(self.tree, X, self.n_neighbors), refine(slice(None), None)
            for _ in range(self.rounds):
                self.targets = refine(slice(None), near @ self.targets)
        return self

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the sums, shape (m, K)."""
        return np.asarray(neighbors(self.tree, X, self.n_neighbors) @ self.targets)


def neighbors(tree: cKDTree, queries: FloatArray, k: int) -> csr_matrix:
    """Return the 0/1 matrix of the k nearest points of every query, shape (m, n)."""
    near = tree.query(queries, k=[*range(1, k + 1)])[1]
    ends = np.arange(len(queries) + 1) * k
    return csr_matrix((np.ones(near.size), near.ravel(), ends), shape=(len(queries), tree.n))


@dataclass
class LabelLearner:
    """The output of a fit on private labels: their releases, a seed that is no secret, and the model that follows."""

    encoder: LabelEncoder
    model: TargetModel  # unfitted
    seed: int  # of all that is random beside the releases: halves of the data, initial weights
    released: np.ndarray = field(init=False)

    def fit(self, X: FloatArray, y: NDArray[np.int64], rng: np.random.Generator) -> Self:
        """Release every label once, and learn from the releases."""
        return self.learn(X, self.encoder.release_all(X, y, self.seed, rng))

    def learn(self, X: FloatArray, released: np.ndarray) -> Self:
        """Fit the model to the releases."""
        self.released = released

        def refine(rows: Any, prior: FloatArray | None) -> FloatArray:
            return self.encoder.posterior(released[rows], prior)

        self.model.fit(X, self.encoder.targets(released), np.random.default_rng(self.seed), refine)
        return self

    def predict(self, X: FloatArray) -> NDArray[np.int64]:
        """Return the class of the largest score, the first one in ties, shape (m,)."""
        return np.asarray(np.argmax(self.model.scores(X), axis=1))
