"""OpenDP: measurements, and chains of stable transformations and a measurement.

A dataset is a list of records. Every mechanism is one measurement, called as its documentation shows. Its privacy map
gives the claim: run as a program, this file prints the maps. OpenDP draws from the operating system's randomness.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

DELTA, KEYS_DELTA = 0.005, 0.17
SIZE = 3  # of the datasets whose size is public
KEYS = ["a", "b"]
BOX = (0.0, 4.0)  # of x and of y in the regression

FLOAT, WHOLE = dp.atom_domain(T=float, nan=False), dp.atom_domain(T=int)
FLOATS, NUMBERS, SIZED = (  # vectors, whose records are added or removed
    (dp.vector_domain(domain, size), dp.symmetric_distance())
    for domain, size in ((FLOAT, None), (WHOLE, None), (FLOAT, SIZE))
)
UNIT, SIZED_UNIT = (floats >> dp.t.then_clamp((0.0, 1.0)) for floats in (FLOATS, SIZED))
SUM, ROUNDING = (FLOAT, dp.absolute_distance(T=float)), 1e-8  # of sums of floats, which the maps add
SCORES = dp.vector_domain(WHOLE), dp.linf_distance(T=int)  # at distance 1 when each differs by at most 1
COUNTS = dp.map_domain(dp.atom_domain(T=str), WHOLE)  # how often each key occurs
PURE, CONCENTRATED = dp.max_divergence(), dp.zero_concentrated_divergence()
OF_MEAN = dp.m.then_laplace((1 + ROUNDING) / SIZE)


def approximate(measurement, delta=DELTA):
    """A zero-concentrated measurement with the (epsilon, delta) that OpenDP converts its map to."""
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta)


def float_sum(dataset):
    """The sum of the records."""
    return float(sum(dataset))


def total_scores(dataset):
    """Every record gives points to each of three candidates."""
    return np.sum(dataset, axis=0, dtype=int).tolist() if dataset else [0, 0, 0]


MEASUREMENTS = {  # what is called, the distance at which its map gives the claim, and on which query it is called
    "sum": (UNIT >> dp.t.then_sum() >> dp.m.then_laplace(1.0 + ROUNDING), 1),
    "sum of integers": (NUMBERS >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(10.0), 1),
    "count": (NUMBERS >> dp.t.then_count() >> dp.m.then_laplace(1.0), 1),
    "count distinct": (NUMBERS >> dp.t.then_count_distinct() >> dp.m.then_laplace(1.0), 1),
    "count by categories": (NUMBERS >> dp.t.then_count_by_categories(categories=[1, 2]) >> dp.m.then_laplace(1.0), 1),
    "mean": (SIZED_UNIT >> dp.t.then_mean() >> OF_MEAN, 2),
    "variance": (SIZED_UNIT >> dp.t.then_variance() >> OF_MEAN, 2),
    "resized mean": (UNIT >> dp.t.then_resize(SIZE, 0.5) >> dp.t.then_mean() >> OF_MEAN, 1),
    "count by, make_laplace_threshold": (
        NUMBERS >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=3),
        1,
    ),
    "make_gaussian_threshold": (
        approximate(
            dp.m.make_gaussian_threshold(
                COUNTS, dp.l02inf_distance(dp.absolute_distance(T=int)), scale=2.0, threshold=3
            ),
            KEYS_DELTA,
        ),
        (1, 1, 1),
        Counter,
    ),
    "make_private_quantile": (
        dp.m.make_private_quantile(*FLOATS, PURE, candidates=[0.0, 0.25, 0.5, 0.75, 1.0], alpha=0.5, scale=1.0),
        1,
    ),
    "make_laplace": (dp.m.make_laplace(*SUM, scale=1.0), 1.0, float_sum),
    "make_laplace, k=1": (dp.m.make_laplace(*SUM, scale=4.0, k=1), 1.0, float_sum),
    "make_gaussian": (approximate(dp.m.make_gaussian(*SUM, scale=2.0)), 1.0, float_sum),
    "make_geometric, bounds": (
        dp.m.make_geometric(WHOLE, dp.absolute_distance(T=int), scale=1.0, bounds=(0, 5)),
        1,
        sum,
    ),
    "make_canonical_noise": (dp.m.make_canonical_noise(*SUM, d_in=1.0, d_out=(1.0, DELTA)), 1.0, float_sum),
    "make_noisy_max": (dp.m.make_noisy_max(*SCORES, PURE, scale=2.0), 1, total_scores),
    "make_noisy_max, zCDP": (approximate(dp.m.make_noisy_max(*SCORES, CONCENTRATED, scale=2.0)), 1, total_scores),
    "make_noisy_top_k": (dp.m.make_noisy_top_k(*SCORES, PURE, k=2, scale=4.0), 1, total_scores),
    "make_randomized_response": (dp.m.make_randomized_response(categories=["a", "b", "c"], prob=0.6), 1),
}
BITS = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)
SPARSE = dp.m.make_alp_queryable(
    COUNTS, dp.l01inf_distance(dp.absolute_distance(T=int)), scale=1.0, total_limit=8, value_limit=8
)
REGRESSION = dp.sklearn.linear_model.LinearRegression(PURE, x_bounds=[BOX], y_bounds=BOX, scale=1.0, candidates_count=5)


def released(measurement, d_in, query=lambda dataset: dataset):
    """A mechanism that calls a measurement on the records, or on the answer to a query."""
    return lambda dataset: measurement(query(dataset))


def of_bits(dataset):
    """A record of bits, packed into bytes as numpy does it, and the bits of the answer."""
    return np.unpackbits(np.frombuffer(BITS(np.packbits(dataset).tobytes()), dtype=np.uint8))


def sparse_counts(dataset):
    """Return how often each of two keys is among the records, by the release of a sparse vector."""
    answers = SPARSE(dict(Counter(dataset)))
    return np.array([answers(key) for key in KEYS])


def line(dataset):
    """Slope and intercept of a line through records (x, y)."""
    fitted = REGRESSION.fit([[x] for x, _ in dataset], [y for _, y in dataset])
    return np.array([fitted.coef_[0], fitted.intercept_])


MECHANISMS = {
    **{name: released(*measured) for name, measured in MEASUREMENTS.items()},
    "make_randomized_response_bitvec, first and last bit": lambda dataset: of_bits(dataset)[[0, -1]].tolist(),
    "make_randomized_response_bitvec, two lengths": lambda dataset: "".join(map(str, of_bits(dataset))),
    "make_alp_queryable": sparse_counts,
    "LinearRegression": line,
}

if __name__ == "__main__":
    for name, (measurement, d_in, *_) in MEASUREMENTS.items():
        print(name, measurement.map(d_in))
    print("bits, sparse counts, regression:", BITS.map(1), SPARSE.map((1, 1, 1)), REGRESSION.measurement.map(1))
