"""diffprivlib's answers to the queries that every library is asked; runs in the library's environment."""

import warnings

from diffprivlib import mechanisms, models, tools
from diffprivlib.utils import PrivacyLeakWarning

from audit.conformance import Library

warnings.simplefilter("error", PrivacyLeakWarning)  # the library claims nothing where it warns
_MODEL = "Privacy parameter epsilon."

library = Library(
    "diffprivlib",
    relation="substitution",
    quote="Privacy parameter epsilon. (no relation is named: the kinder one)",
    distribution="diffprivlib",
)


def _tool(name, tool, **more):
    """Answer a query by a tool of numbers within bounds."""
    library.query(name)(lambda p: lambda data: tool(data, epsilon=p.epsilon, bounds=p.bounds, **more))


for _name, _function in (("sum", tools.sum), ("mean", tools.mean), ("variance", tools.var), ("median", tools.median)):
    _tool(_name, _function)
_tool("standard deviation", tools.std)
library.query("quantile")(lambda p: lambda data: tools.quantile(data, p.quantile, epsilon=p.epsilon, bounds=p.bounds))
library.query("count", relation="substitution")(
    lambda p: lambda data: tools.count_nonzero([x > p.lower for x in data], epsilon=p.epsilon)
)


@library.query("histogram of numbers", relation="add/remove")
def _(p):
    edges = list(p.edges)
    return lambda data: tools.histogram(data, epsilon=p.epsilon, bins=edges, range=p.bounds)[0].tolist()


@library.query("laplace noise")
def _(p):
    return mechanisms.Laplace(epsilon=p.epsilon, sensitivity=p.sensitivity).randomise


@library.query("gaussian noise")
def _(p):
    return mechanisms.GaussianAnalytic(epsilon=p.epsilon, delta=p.delta, sensitivity=p.sensitivity).randomise


@library.query("geometric noise")
def _(p):
    return mechanisms.Geometric(epsilon=p.epsilon, sensitivity=int(p.sensitivity)).randomise


@library.query("discrete gaussian noise")
def _(p):
    return mechanisms.GaussianDiscrete(epsilon=p.epsilon, delta=p.delta, sensitivity=int(p.sensitivity)).randomise


@library.query("exponential mechanism")
def _(p):
    return lambda scores: mechanisms.Exponential(
        epsilon=p.epsilon, sensitivity=p.sensitivity, utility=list(scores)
    ).randomise()


@library.query("k-means", quote=_MODEL, draws=600)
def _(p):
    box = ([-p.radius, -p.radius], [p.radius, p.radius])

    def centers(data):
        return models.KMeans(n_clusters=p.k, epsilon=p.epsilon, bounds=box).fit(data).cluster_centers_.tolist()

    return centers


@library.query("logistic regression", quote=_MODEL, draws=400)
def _(p):
    def weights(data):
        found = models.LogisticRegression(epsilon=p.epsilon, data_norm=p.radius)
        return found.fit([x for x, _ in data], [y for _, y in data]).coef_.tolist()

    return weights


@library.outside
def _(query, p, data):
    records = [x for x in data if not isinstance(x, list)] if isinstance(data, list) else [data]
    odd = any(isinstance(x, str) or x is None for x in records)
    return "a : array_like. Input array. (numbers)" if odd else None
