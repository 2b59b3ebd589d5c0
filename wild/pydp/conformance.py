"""PyDP's answers to the queries that every library is asked; runs in the library's environment."""

from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

from audit.conformance import Library

library = Library("pydp", relation="add/remove", distribution="python-dp",
                  quote='README: "a set of ε-differentially private algorithms"')  # fmt: skip
library.typed('README: "aggregate statistics over numeric data sets"')


def algorithm(kind, more=lambda p: {}):
    """Answer by a bounded algorithm, made anew for every output as in the README."""

    def build(p):
        settings = {"epsilon": p.epsilon, "dtype": "int64" if p.whole else "float", **more(p)}
        bounds = {} if kind is laplacian.Count else {"lower_bound": p.lower, "upper_bound": p.upper}
        return lambda data: kind(**settings, **bounds).quick_result(data)

    return build


def noise(mechanism):
    return lambda p: lambda value: mechanism(p).add_noise(value)


library.answer({"count": algorithm(laplacian.Count)}, law="integer")
library.answer({
    "mean": algorithm(laplacian.BoundedMean),
    "variance": algorithm(laplacian.BoundedVariance),
    "standard deviation": algorithm(laplacian.BoundedStandardDeviation),
    "median": algorithm(laplacian.Median),
    "minimum": algorithm(laplacian.Min),
    "maximum": algorithm(laplacian.Max),
    "quantile": algorithm(laplacian.Percentile, lambda p: {"percentile": p.quantile}),
})  # fmt: skip
laplace = noise(lambda p: LaplaceMechanism(epsilon=p.epsilon, sensitivity=p.sensitivity))
library.answer({
    "sum": algorithm(laplacian.BoundedSum),
    "laplace noise": laplace,
    "geometric noise": laplace,
    "gaussian noise": noise(lambda p: GaussianMechanism(p.epsilon, p.delta, p.sensitivity)),
}, law="usual")  # fmt: skip
