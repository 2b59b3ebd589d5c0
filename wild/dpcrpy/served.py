"""dpcrpy 1.0.0: counters of a stream. A dataset is a stream; the output is everything that is released over time."""

from __future__ import annotations

import numpy as np
from dpcrpy import ABCRG, BCRG, FDA, KTCR, BinMech, Honaker, SimpleMech, TwoLevel
from dpcrpy.framework.noiMech import GaussNoiMech, LapNoiMech

EPSILON, DELTA = 1.0, 0.05
COUNTERS = {
    "SimpleMech": lambda noise: SimpleMech(T=3, noiMech=noise),
    "TwoLevel": lambda noise: TwoLevel(kOrder=2, noiMech=noise),
    "BinMech": lambda noise: BinMech(kOrder=2, noiMech=noise),
    "Honaker": lambda noise: Honaker(kOrder=2, noiMech=noise),
    "FDA": lambda noise: FDA(kOrder=2, noiMech=noise),
    "BCRG": lambda noise: BCRG(kOrder=2, noiMech=noise),
    "ABCRG": lambda noise: ABCRG(kOrder=2, noiMech=noise),
    "KTCR": lambda noise: KTCR(h=2, N=1, k=2, noiMech=noise, withPrivateBudget=False),
}
NOISES = {"Laplace": lambda: LapNoiMech(EPSILON), "Gaussian": lambda: GaussNoiMech(EPSILON, DELTA)}


def counter(make, noise):
    """All releases of a counter over the stream, size times."""

    def draw(dataset, size, rng):
        counting = make(noise())
        outputs = np.empty((size, len(dataset)))
        for row in outputs:
            counting.init()
            row[:] = [counting.dpRelease(value)[0] for value in dataset]
        return outputs

    return draw


MECHANISMS = {
    f"{name}, {noise}": counter(make, of_noise) for name, make in COUNTERS.items() for noise, of_noise in NOISES.items()
}
