"""eeprivacy's answers to the queries that every library is asked; runs in the library's environment."""

import numpy as np
from eeprivacy import mechanisms, operations

from audit.extensions.conformance import Library

library = Library("eeprivacy", distribution="eeprivacy", quote=mechanisms.LaplaceMechanism.execute)  # bounds: replaced
library.typed('docstring of PrivateVectorClampedMeanGaussian: "lower_bound: Lower bound of input data"')


def operation(kind):
    """Answer by an operation on numbers within bounds."""
    return lambda p: lambda data: kind(lower_bound=p.lower, upper_bound=p.upper).execute(values=data, epsilon=p.epsilon)


def vectors(p):
    mean = operations.PrivateVectorClampedMeanGaussian(lower_bound=-p.radius, upper_bound=p.radius, k=2, N=p.size)
    return lambda data: mean.execute(vectors=data, epsilon=p.epsilon, delta=p.delta).tolist()


def quantile(p):
    found = operations.PrivateQuantile(options=p.grid())
    return lambda data: found.execute(values=np.array(data), epsilon=p.epsilon, quantile=p.quantile)


library.answer({"sum": operation(operations.PrivateClampedSum)}, sensitivity="usual", law="usual")
library.answer({"mean": operation(operations.PrivateClampedMean)}, law="clamped")
library.answer({"vector mean": vectors})
library.answer({
    "quantile": quantile,
    "median": quantile,
}, relation="add/remove", quote='docstring of PrivateQuantile: "Find quantiles privately"')  # fmt: skip
library.answer({
    "histogram of numbers": lambda p: lambda data: operations.PrivateHistogram(bins=list(p.edges)).execute(
        values=data, epsilon=p.epsilon
    ).tolist(),
}, relation="add/remove", law="usual",
    quote='docstring of PrivateHistogram: "Computes the histogram of `values` privately."')  # fmt: skip
library.answer({
    "laplace noise": lambda p: lambda value: mechanisms.LaplaceMechanism.execute(
        value=value, epsilon=p.epsilon, sensitivity=p.sensitivity
    ),
}, law="usual")  # fmt: skip
library.answer({
    "gaussian noise": lambda p: lambda value: mechanisms.GaussianMechanism.execute(
        value=value, epsilon=p.epsilon, delta=p.delta, sensitivity=p.sensitivity
    ),
}, law="classical")  # fmt: skip
