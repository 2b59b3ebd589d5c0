"""diffprivlib's mechanisms with the parameters that an audit asks for. A dataset is what noise is added to."""

import numpy as np
from diffprivlib import mechanisms as dpl

HIERARCHY = [["a", "b"], ["c", "d"]]
DISTANCES = [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 2.0)]


def noise(kind):
    """Randomize the sum of a dataset; every parameter of the mechanism is asked for."""

    def batch(dataset, size, rng, **setting):
        mechanism = kind(random_state=np.random.RandomState(rng.integers(2**32, size=4)), **setting)
        value = sum(dataset)
        return [mechanism.randomise(value) for _ in range(size)]

    return batch


def label(kind, **fixed):
    """Randomize the one label of a dataset."""

    def batch(dataset, size, rng, **setting):
        mechanism = kind(random_state=np.random.RandomState(rng.integers(2**32, size=4)), **fixed, **setting)
        return [mechanism.randomise(dataset[0]) for _ in range(size)]

    return batch


def choice(kind):
    """Choose among candidates by their votes; a vote adds the sensitivity to the utility of one."""

    def batch(dataset, size, rng, candidates, sensitivity, **setting):
        utility = [sensitivity * dataset.count(candidate) for candidate in range(candidates)]
        state = np.random.RandomState(rng.integers(2**32, size=4))
        mechanism = kind(utility=utility, sensitivity=sensitivity, random_state=state, **setting)
        return [mechanism.randomise() for _ in range(size)]

    return batch


SEARCHED = {
    **{
        f"{kind.__name__} searched": noise(kind)
        for kind in (
            dpl.Laplace,
            dpl.LaplaceTruncated,
            dpl.LaplaceFolded,
            dpl.LaplaceBoundedDomain,
            dpl.LaplaceBoundedNoise,
            dpl.Gaussian,
            dpl.GaussianAnalytic,
            dpl.GaussianDiscrete,
            dpl.Geometric,
            dpl.GeometricTruncated,
            dpl.Snapping,
            dpl.Staircase,
            dpl.Uniform,
        )
    },
    "Binary searched": label(dpl.Binary, value0="no", value1="yes"),
    "ExponentialCategorical searched": label(dpl.ExponentialCategorical, utility_list=DISTANCES),
    "ExponentialHierarchical searched": label(dpl.ExponentialHierarchical, hierarchy=HIERARCHY),
    "Exponential searched": choice(dpl.Exponential),
    "PermuteAndFlip searched": choice(dpl.PermuteAndFlip),
}
