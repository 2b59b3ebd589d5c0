"""eeprivacy 0.0.5, on lists of numbers or of vectors."""

from __future__ import annotations

import numpy as np
from eeprivacy import operations
from eeprivacy.mechanisms import GaussianMechanism, LaplaceMechanism

UNIT = {"lower_bound": 0.0, "upper_bound": 1.0}
DELTA = 0.05
OPTIONS = [0.0, 1.0, 2.0, 3.0]


def laplace_batch(data):
    """Two answers that one record changes by at most 1 together."""
    return LaplaceMechanism.execute_batch(values=np.array(data, dtype=float), epsilon=1.0, sensitivity=1.0)


def gaussian(data):
    """Gaussian noise on a sum."""
    return GaussianMechanism.execute(value=sum(data), epsilon=0.9, delta=DELTA, sensitivity=1.0)


def vectors(data):
    """The mean of vectors of two coordinates, for two records."""
    mean = operations.PrivateVectorClampedMeanGaussian(**UNIT, k=2, N=2)
    return mean.execute(vectors=np.array(data), epsilon=0.9, delta=DELTA)


def quantile(data, quantile):
    """A quantile among four options."""
    return operations.PrivateQuantile(options=OPTIONS).execute(values=np.array(data), epsilon=1.0, quantile=quantile)


MECHANISMS = {
    "LaplaceMechanism": lambda data: LaplaceMechanism.execute(value=sum(data), epsilon=1.0, sensitivity=1.0),
    "LaplaceMechanism batch": laplace_batch,
    "GaussianMechanism": gaussian,
    "PrivateClampedSum": lambda data: operations.PrivateClampedSum(**UNIT).execute(values=data, epsilon=1.0),
    "PrivateClampedMean": lambda data: operations.PrivateClampedMean(**UNIT).execute(values=data, epsilon=1.0),
    "PrivateVectorClampedMeanGaussian": vectors,
    "PrivateHistogram": lambda data: operations.PrivateHistogram(bins=[0, 1, 2]).execute(values=data, epsilon=1.0),
    "PrivateQuantile": quantile,
}
