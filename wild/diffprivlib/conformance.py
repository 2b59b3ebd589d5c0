"""diffprivlib's answers to the queries that every library is asked; runs in the library's environment."""

import math
import warnings
from functools import partial

from diffprivlib import mechanisms, models, tools
from diffprivlib.utils import PrivacyLeakWarning

from audit.extensions.conformance import Library
from audit.extensions.conformance.documented_laws import clamped_geometric

warnings.simplefilter("error", PrivacyLeakWarning)  # the library claims nothing where it warns
library = Library("diffprivlib", distribution="diffprivlib", quote=tools.mean)  # no relation is named: the kinder one
library.typed('docstring of mean: "Array containing numbers whose mean is desired"')


def tool(function):
    return lambda p: lambda data: function(data, epsilon=p.epsilon, bounds=p.bounds)


def noise(mechanism, kind=float, *more):
    given = ("epsilon", *more)
    return lambda p: mechanism(sensitivity=kind(p.sensitivity), **{each: getattr(p, each) for each in given}).randomise


def fitted(model, released, split=lambda data: (data,)):
    return lambda p: lambda data: getattr(model(p).fit(*split(data)), released).tolist()


def nonzero(p, data):
    return [x > p.lower for x in data]


library.answer({"sum": tool(tools.sum), "mean": tool(tools.mean)}, sensitivity="usual", law="clamped")
library.answer({"variance": tool(tools.var)}, sensitivity="usual")
library.answer({"count": lambda p: lambda data: tools.count_nonzero(nonzero(p, data), epsilon=p.epsilon)}, law=lambda
               p, data: clamped_geometric(nonzero(p, data).count(True), math.exp(-p.epsilon), len(data)))  # fmt: skip
library.answer({
    "standard deviation": tool(tools.std), "median": tool(tools.median),
    "quantile": lambda p: lambda data: tools.quantile(data, p.quantile, epsilon=p.epsilon, bounds=p.bounds),
})  # fmt: skip
library.answer({
    "histogram of numbers": lambda p: lambda data: tools.histogram(
        data, epsilon=p.epsilon, bins=list(p.edges), range=p.bounds
    )[0].tolist(),
}, relation="add/remove", quote=tools.histogram, law="clamped")  # fmt: skip
library.answer({
    "laplace noise": noise(mechanisms.Laplace), "geometric noise": noise(mechanisms.Geometric, int),
    "gaussian noise": noise(mechanisms.GaussianAnalytic, float, "delta"),
    "exponential mechanism": lambda p: lambda scores: noise(
        partial(mechanisms.Exponential, utility=list(scores))
    )(p)(None),
}, law="usual", quote=mechanisms.Laplace)  # fmt: skip
library.answer({"discrete gaussian noise": noise(mechanisms.GaussianDiscrete, int, "delta")},
               quote=mechanisms.GaussianDiscrete)  # fmt: skip
library.answer({
    "k-means": fitted(lambda p: models.KMeans(
        n_clusters=p.k, epsilon=p.epsilon, bounds=([-p.radius] * 2, [p.radius] * 2)
    ), "cluster_centers_"),
    "logistic regression": fitted(
        lambda p: models.LogisticRegression(epsilon=p.epsilon, data_norm=p.radius), "coef_",
        lambda data: ([x for x, _ in data], [y for _, y in data]),
    ),
}, quote=models.KMeans, draws=200)  # fmt: skip
