"""Laplace releases of one-hot vectors with too little noise, or noise drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.faults.labels.bits import fault_check
from mechanisms.labels.encoder import one_hot
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.unary import class_pairs


@dataclass(frozen=True)
class ScaleOne:
    """Noise of scale 1 / epsilon, as if one coordinate moved.

    True privacy: (2 epsilon, 0); at the claimed epsilon delta is 0.124, 0.242, 0.448 for epsilon = 0.5, 1, 2.
    """

    n_classes: int
    epsilon: float

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        noise = rng.laplace(scale=1 / self.epsilon, size=(size, self.n_classes))
        return noise + one_hot(np.array([label]), self.n_classes)


@dataclass(frozen=True)
class FreshNoiseEachEpoch:
    """The noise is drawn anew in each of two epochs; both vectors are released.

    True privacy: (2 epsilon, 0).
    """

    n_classes: int
    epsilon: float

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        encoder = LaplaceOneHotEncoder(self.n_classes, self.epsilon)
        return np.hstack([encoder(label, size, rng) for _ in range(2)])


CHECKS = [
    *(
        fault_check(f"scale one K=3 eps={epsilon:g}", ScaleOne(3, epsilon), epsilon, class_pairs(3))
        for epsilon in (1.0, 2.0)
    ),
    fault_check("fresh noise each epoch", FreshNoiseEachEpoch(3, 1.0), 1.0, class_pairs(3), budget=100_000),
]
