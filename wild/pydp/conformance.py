"""PyDP's answers to the queries that every library is asked; runs in the library's environment."""

from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

from audit.conformance import Library

library = Library(
    "pydp", relation="add/remove", quote="README: epsilon-differentially private statistics", distribution="python-dp"
)


def _algorithm(name, kind, **more):
    """Answer a query by a bounded algorithm, made anew for every output as in the README."""

    @library.query(name)
    def _(p):
        settings = {"epsilon": p.epsilon, "lower_bound": p.lower, "upper_bound": p.upper, **more}
        settings["dtype"] = "int" if p.whole else "float"
        return lambda data: kind(**settings).quick_result(data)


_algorithm("sum", laplacian.BoundedSum)
_algorithm("mean", laplacian.BoundedMean)
_algorithm("variance", laplacian.BoundedVariance)
_algorithm("standard deviation", laplacian.BoundedStandardDeviation)
_algorithm("median", laplacian.Median)
_algorithm("minimum", laplacian.Min)
_algorithm("maximum", laplacian.Max)
library.query("count")(
    lambda p: lambda data: laplacian.Count(epsilon=p.epsilon, dtype="int" if p.whole else "float").quick_result(data)
)


@library.query("quantile")
def _(p):
    settings = {"percentile": p.quantile, "lower_bound": p.lower, "upper_bound": p.upper}
    return lambda data: laplacian.Percentile(epsilon=p.epsilon, dtype="float", **settings).quick_result(data)


@library.query("laplace noise")
def _(p):
    mechanism = LaplaceMechanism(epsilon=p.epsilon, sensitivity=p.sensitivity)
    return lambda value: mechanism.add_noise(value)


@library.query("gaussian noise")
def _(p):
    mechanism = GaussianMechanism(p.epsilon, p.delta, p.sensitivity)
    return lambda value: mechanism.add_noise(value)
