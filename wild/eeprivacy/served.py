"""eeprivacy 0.0.5, on lists of numbers or of vectors. It draws from numpy's global generator, seeded by the request."""

from __future__ import annotations

import numpy as np
from eeprivacy.mechanisms import GaussianMechanism, LaplaceMechanism
from eeprivacy.operations import (
    PrivateClampedMean,
    PrivateClampedSum,
    PrivateHistogram,
    PrivateQuantile,
    PrivateVectorClampedMeanGaussian,
    PrivateVectorClampedMeanLaplace,
)

UNIT = {"lower_bound": 0.0, "upper_bound": 1.0}
DELTA = 0.05
OPTIONS = [0.0, 1.0, 2.0, 3.0]


def seeded(release):
    """A release, size times, after seeding the generator that the library draws from."""

    def draw(dataset, size, rng, **setting):
        np.random.seed(rng.integers(2**32))
        return np.array([release(dataset, **setting) for _ in range(size)], dtype=float)

    return draw


def laplace_batch(dataset):
    """Two answers that one record changes by at most 1 together."""
    return LaplaceMechanism.execute_batch(values=np.array(dataset, dtype=float), epsilon=1.0, sensitivity=1.0)


def vector_laplace(dataset):
    """The mean of vectors of two coordinates, for two records."""
    mean = PrivateVectorClampedMeanLaplace(**UNIT, k=2, N=2)
    return mean.execute(vectors=np.array(dataset), epsilon=1.0, delta=0.0)


def vector_gaussian(dataset):
    """The mean of vectors of two coordinates, for two records."""
    mean = PrivateVectorClampedMeanGaussian(**UNIT, k=2, N=2)
    return mean.execute(vectors=np.array(dataset), epsilon=0.9, delta=DELTA)


def quantile(dataset, quantile):
    """A quantile among four options."""
    return PrivateQuantile(options=OPTIONS).execute(values=np.array(dataset), epsilon=1.0, quantile=quantile)


MECHANISMS = {
    name: seeded(release)
    for name, release in {
        "LaplaceMechanism": lambda data: LaplaceMechanism.execute(value=sum(data), epsilon=1.0, sensitivity=1.0),
        "LaplaceMechanism batch": laplace_batch,
        "GaussianMechanism": lambda data: GaussianMechanism.execute(
            value=sum(data), epsilon=0.9, delta=DELTA, sensitivity=1.0
        ),
        "deviation": lambda data, epsilon, delta: GaussianMechanism.scale(
            sensitivity=1.0, epsilon=epsilon, delta=delta
        ),
        "GaussianMechanism searched": lambda data, epsilon, delta: GaussianMechanism.execute(
            value=sum(data), epsilon=epsilon, delta=delta, sensitivity=1.0
        ),
        "PrivateClampedSum": lambda data: PrivateClampedSum(**UNIT).execute(values=data, epsilon=1.0),
        "PrivateClampedMean": lambda data: PrivateClampedMean(**UNIT).execute(values=data, epsilon=1.0),
        "PrivateVectorClampedMeanLaplace": vector_laplace,
        "PrivateVectorClampedMeanGaussian": vector_gaussian,
        "PrivateHistogram": lambda data: PrivateHistogram(bins=[0, 1, 2]).execute(values=data, epsilon=1.0),
        "PrivateQuantile": quantile,
    }.items()
}
