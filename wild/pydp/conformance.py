"""PyDP's answers to the queries that every library is asked; runs in the library's environment."""

from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

from audit.extensions.conformance import Library

library = Library("pydp", relation="add/remove", distribution="python-dp",
                  quote='README: "a set of ε-differentially private algorithms"')  # fmt: skip
library.typed('README: "aggregate statistics over numeric data sets"')


def algorithm(kind, bounded=True, **more):
    """Answer by an algorithm, made anew for every output as in the README."""

    def build(p):
        bounds = {"lower_bound": p.lower, "upper_bound": p.upper} if bounded else {}
        given = {"epsilon": p.epsilon, "dtype": "int64" if p.whole else "float", **bounds}
        given |= {name: getattr(p, held) for name, held in more.items()}
        return lambda data: kind(**given).quick_result(data)

    return build


def laplace(p):
    return LaplaceMechanism(epsilon=p.epsilon, sensitivity=p.sensitivity).add_noise


library.answer({"count": algorithm(laplacian.Count, bounded=False), "geometric noise": laplace}, law="rounded")
library.answer({
    "sum": algorithm(laplacian.BoundedSum), "laplace noise": laplace,
    "gaussian noise": lambda p: GaussianMechanism(p.epsilon, p.delta, p.sensitivity).add_noise,
}, law="usual")  # fmt: skip
library.answer({
    "mean": algorithm(laplacian.BoundedMean), "variance": algorithm(laplacian.BoundedVariance),
    "standard deviation": algorithm(laplacian.BoundedStandardDeviation), "median": algorithm(laplacian.Median),
    "minimum": algorithm(laplacian.Min), "maximum": algorithm(laplacian.Max),
    "quantile": algorithm(laplacian.Percentile, percentile="quantile"),
})  # fmt: skip
