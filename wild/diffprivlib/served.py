"""diffprivlib's mechanisms, tools and models, for the server: runs in the library's environment.

Every mechanism here takes its randomness through the library's own `random_state`, so that the audit can be repeated. A
configuration for which the library warns of a privacy leak raises: it promises nothing there.
"""

import warnings

import numpy as np
import served_models
import served_tools
from diffprivlib import mechanisms as dpl
from diffprivlib.utils import PrivacyLeakWarning

warnings.simplefilter("error", PrivacyLeakWarning)


def on_value(kind, value_of, **settings):
    """A mechanism that randomizes a value of the dataset, built once a batch; a search asks for its parameters."""

    def batch(dataset, size, rng, **asked):
        mechanism = kind(random_state=state_of(rng), **{**settings, **asked})
        value = value_of(dataset)
        return [mechanism.randomise(value) for _ in range(size)]

    return batch


def on_utility(kind, named, **settings):
    """A mechanism that selects among candidates by how many records name each; a record adds the sensitivity."""

    def batch(dataset, size, rng, candidates=0, sensitivity=1, **asked):
        utility = [sensitivity * dataset.count(each) for each in (range(candidates) if candidates else named)]
        given = {**settings, **asked, "sensitivity": sensitivity}
        mechanism = kind(utility=utility, random_state=state_of(rng), **given)
        return [mechanism.randomise() for _ in range(size)]

    return batch


def on_rows(release):
    """A tool or model: `release(dataset, random_state)` gives one output, or raises, which is an output too."""

    def batch(dataset, size, rng):
        state = state_of(rng)
        return [_caught(release, dataset, state) for _ in range(size)]

    return batch


def _caught(release, dataset, state):
    try:
        return release(dataset, state)
    except PrivacyLeakWarning:
        raise
    except Exception as error:
        return {"raised": type(error).__name__}


def state_of(rng):
    """Return the generator that the library takes, seeded by the server's."""
    return np.random.RandomState(rng.integers(2**32, size=4))


def count(dataset):
    """The sum of the records, as a float."""
    return float(sum(dataset))


def whole(dataset):
    """The one number of a dataset."""
    return dataset[0]


def second_moment(dataset):
    """Sum of x x^T over records of norm at most 1."""
    rows = np.array(dataset)
    return rows.T @ rows


HIERARCHY = [["a", "b"], ["c", "d"]]
DISTANCES = [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 2.0)]
_UNIT = {"epsilon": 1.0, "sensitivity": 1.0}
_WHOLE = {"epsilon": 1.0, "sensitivity": 1}
_IN_0_4 = {"lower": 0, "upper": 4}

MECHANISMS = {
    "Laplace": on_value(dpl.Laplace, count, **_UNIT),
    "Laplace delta": on_value(dpl.Laplace, count, delta=0.1, **_UNIT),
    "LaplaceTruncated": on_value(dpl.LaplaceTruncated, count, **_UNIT, **_IN_0_4),
    "LaplaceFolded": on_value(dpl.LaplaceFolded, count, **_UNIT, **_IN_0_4),
    "LaplaceBoundedDomain": on_value(dpl.LaplaceBoundedDomain, count, **_UNIT, **_IN_0_4),
    "LaplaceBoundedNoise": on_value(dpl.LaplaceBoundedNoise, count, delta=0.1, **_UNIT),
    "Gaussian": on_value(dpl.Gaussian, count, delta=1e-2, **_UNIT),
    "GaussianAnalytic": on_value(dpl.GaussianAnalytic, count, delta=1e-2, **_UNIT),
    "GaussianDiscrete": on_value(dpl.GaussianDiscrete, sum, delta=1e-2, **_WHOLE),
    "Geometric": on_value(dpl.Geometric, sum, **_WHOLE),
    "GaussianDiscrete on a number": on_value(dpl.GaussianDiscrete, whole, delta=1e-2, **_WHOLE),
    "GeometricTruncated": on_value(dpl.GeometricTruncated, sum, **_WHOLE, **_IN_0_4),
    "GeometricFolded": on_value(dpl.GeometricFolded, sum, **_WHOLE, **_IN_0_4),
    "Binary": on_value(dpl.Binary, str, epsilon=1.0, value0="no", value1="yes"),
    "ExponentialCategorical": on_value(dpl.ExponentialCategorical, str, epsilon=1.0, utility_list=DISTANCES),
    "ExponentialHierarchical": on_value(dpl.ExponentialHierarchical, str, epsilon=1.0, hierarchy=HIERARCHY),
    "Exponential": on_utility(dpl.Exponential, "ab", epsilon=1.0),
    "Exponential monotonic": on_utility(dpl.Exponential, "ab", epsilon=1.0, monotonic=True),
    "PermuteAndFlip": on_utility(dpl.PermuteAndFlip, "abc", epsilon=1.0),
    "PermuteAndFlip monotonic": on_utility(dpl.PermuteAndFlip, "abc", epsilon=1.0, monotonic=True),
    "Snapping": on_value(dpl.Snapping, count, **_UNIT, **_IN_0_4),
    "Staircase": on_value(dpl.Staircase, count, **_UNIT),
    "Uniform": on_value(dpl.Uniform, count, delta=0.1, sensitivity=1.0),
    "Bingham": on_value(dpl.Bingham, second_moment, epsilon=1.0),
    **{name: on_rows(release) for name, release in {**served_tools.RELEASES, **served_models.RELEASES}.items()},
}
