"""PyDP: its bounded algorithms, noise mechanisms, partition selection, quantile tree, and the mechanisms of `pydp.ml`.

A dataset is a list of numbers, one a record; a mechanism that takes a number gets their sum or count. All draw from
a generator of the library. An algorithm is made anew for every output, as in the README.
"""

from __future__ import annotations

from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
from pydp.algorithms.partition_selection import create_partition_strategy
from pydp.algorithms.quantile_tree import QuantileTree
from pydp.ml.mechanisms.laplace import LaplaceBoundedDomain

EPSILON, DELTA = 2.0, 0.005
UNIT = {"lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}
INTEGERS = {"lower_bound": 0, "upper_bound": 2**28}  # with the default `dtype`: 32 bits hold a sum of 7 of them
PRE_THRESHOLD = 3


def quick(name, given=UNIT, **more):
    """`quick_result` of a fresh algorithm; exceptions are outputs."""
    algorithm = getattr(laplacian, name)
    return lambda dataset, rng: algorithm(epsilon=EPSILON, **given, **more).quick_result(dataset)


def noise(mechanism, number):
    """Noise on the sum of the records, with the parameters that an audit asks for."""

    def draw(dataset, size, rng, epsilon=EPSILON, sensitivity=1.0, delta=DELTA):
        parameters = (epsilon, sensitivity) if mechanism is LaplaceMechanism else (epsilon, delta, sensitivity)
        made = mechanism(*parameters)
        return [made.add_noise(number(sum(dataset))) for _ in range(size)]

    return draw


def kept(strategy, pre_threshold=None):
    """Decide whether a partition is kept, with the parameters that an audit asks for; a record is a user."""

    def draw(dataset, size, rng, epsilon=EPSILON, delta=DELTA, partitions=1):
        selection = create_partition_strategy(strategy, epsilon, delta, partitions, pre_threshold)
        return [selection.should_keep(len(dataset)) for _ in range(size)]

    return draw


def tree_median(dataset, rng):
    """The median by a quantile tree of 4 levels and 16 branches, the library's defaults elsewhere."""
    tree = QuantileTree(0.0, 1.0, 4, 16)
    for value in dataset:
        tree.add_entry(value)
    return tree.compute_quantiles(EPSILON, 0.0, 1, 1, [0.5])[0]


MECHANISMS = {
    **{name: quick(name) for name in ("BoundedMean", "BoundedSum", "BoundedVariance", "BoundedStandardDeviation")},
    **{name: quick(name) for name in ("Max", "Min", "Median")},
    "BoundedSum of integers": quick("BoundedSum", INTEGERS),
    **{
        f"{name}, two entries": quick(name, linf_sensitivity=2)
        for name in ("BoundedMean", "BoundedSum", "BoundedVariance", "Max")
    },
    "Percentile": quick("Percentile", percentile=0.9),
    "Count": quick("Count", {"dtype": "float"}),
    "Count, two entries": quick("Count", {"dtype": "float"}, linf_sensitivity=2),
    "LaplaceMechanism": noise(LaplaceMechanism, float),
    "LaplaceMechanism of integers": noise(LaplaceMechanism, int),
    "GaussianMechanism": noise(GaussianMechanism, float),
    "GaussianMechanism of integers": noise(GaussianMechanism, int),
    "truncated_geometric": kept("truncated_geometric"),
    "laplace partitions": kept("laplace"),
    "gaussian partitions": kept("gaussian"),
    "pre-thresholding": kept("truncated_geometric", PRE_THRESHOLD),
    "QuantileTree": tree_median,
    "ml.LaplaceBoundedDomain": lambda dataset, rng: (
        LaplaceBoundedDomain()
        .set_epsilon(EPSILON)
        .set_sensitivity(1.0)
        .set_bounds(0.0, 1.0)
        .randomise(float(sum(dataset)))
    ),
}
