"""Handwritten digits: the paper's comparison of networks on real data, on scikit-learn's 1,797 images of 8 x 8 pixels.

Zhao et al. (2024, Table 1) train on MNIST, Fashion-MNIST and CIFAR; here the same methods learn scikit-learn's digits
(the test set of the NIST digits, reduced), which come with the library: a departure in data and size. Images are
divided by 16 and centered by a constant. `python -m benchmarks.label_privacy digits` has the whole comparison, with
settings chosen without the test parts; the check below is an ordering that reproduces, with fixed settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.errors import MissingExtra
from mechanisms.labels.encoder import FloatArray
from mechanisms.labels.network import VectorTargetMLP
from mechanisms.labels.orderings import ordering_check
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

N_CLASSES = 10
N_TEST = 360


@cache
def digits() -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the images, shape (1797, 64), within [-1/2, 1/2], and their digits.

    Raises
    ------
    MissingExtra
        Without scikit-learn.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingExtra.of("scikit-learn") from None
    X, y = load_digits(return_X_y=True)
    return X / 16 - 0.5, y.astype(np.int64)


def split(y: NDArray[np.int64], size: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the positions of all others and of `size` at random, in proportion to the classes but for rounding."""
    order = rng.permutation(len(y))
    ranks = np.argsort(np.argsort(y[order], kind="stable"), kind="stable")  # spread every class over the whole range
    held = np.zeros(len(y), dtype=bool)
    held[np.floor(np.arange(size) * len(y) / size).astype(int)] = True
    return order[~held[ranks]], order[held[ranks]]


@dataclass(frozen=True)
class NetworkBeats:
    """Trials of "the network of one learner is more accurate than that of another by `margin`", (replicates,).

    Parameters
    ----------
    first, second : VectorTargetMLP
        Copied, and given the source of each trial.
    margin : float
    """

    first: VectorTargetMLP
    second: VectorTargetMLP
    margin: float = 0.0

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.array([self._wins(child) for child in rng.spawn(replicates)])

    def _wins(self, rng: np.random.Generator) -> bool:
        X, y = digits()
        train, test = split(y, N_TEST, rng)
        learners = (replace(learner, random_state=int(rng.integers(2**63))) for learner in (self.first, self.second))
        first, second = (learner.fit(X[train], y[train]).score(X[test], y[test]) for learner in learners)
        return bool(first - second > self.margin)


CHECKS = [
    ordering_check(
        "labels/vector beats RR, digits eps=0.7",
        "Zhao et al. 2024, Table 1, on other data",
        "On the digits the vector mechanism's network is more accurate than randomised response's",
        NetworkBeats(
            VectorTargetMLP(SymmetricUnaryLabelEncoder(N_CLASSES, 0.7), epochs=10, decay=0.01),
            VectorTargetMLP(KaryRandomizedResponse(N_CLASSES, 0.7), epochs=10, decay=0.01),
        ),
        share=0.5,
    )
]
