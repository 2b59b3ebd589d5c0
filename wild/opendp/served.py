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
CANDIDATES = [0.0, 0.25, 0.5, 0.75, 1.0]
BOX = (0.0, 4.0)  # of x and of y in the regression


def floats(size=None):
    """Vectors of floats without NaN, added or removed one at a time."""
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size), dp.symmetric_distance()


def whole():
    """Vectors of integers, added or removed one at a time."""
    return dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def scalar(kind, metric=float):
    """A float without NaN, or an integer."""
    domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=kind)
    return domain, dp.absolute_distance(T=metric)


def unit(size=None):
    """Floats clamped to [0, 1]."""
    return floats(size) >> dp.t.then_clamp((0.0, 1.0))


def scores():
    """Vectors of scores, at distance 1 when each differs by at most 1."""
    return dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)


def counts():
    """Return how often each key occurs."""
    return dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))


def approximate(measurement, delta=DELTA):
    """A zero-concentrated measurement with the (epsilon, delta) that OpenDP converts its map to."""
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta)


SUM = unit() >> dp.t.then_sum() >> dp.m.then_laplace(1.0 + 1e-8)
SUM_OF_INTEGERS = whole() >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(10.0)
COUNT = whole() >> dp.t.then_count() >> dp.m.then_laplace(1.0)
DISTINCT = whole() >> dp.t.then_count_distinct() >> dp.m.then_laplace(1.0)
HISTOGRAM = whole() >> dp.t.then_count_by_categories(categories=[1, 2]) >> dp.m.then_laplace(1.0)
MEAN = unit(SIZE) >> dp.t.then_mean() >> dp.m.then_laplace((1 + 1e-8) / SIZE)
VARIANCE = unit(SIZE) >> dp.t.then_variance() >> dp.m.then_laplace((1 + 1e-8) / SIZE)
RESIZED_MEAN = unit() >> dp.t.then_resize(SIZE, 0.5) >> dp.t.then_mean() >> dp.m.then_laplace((1 + 1e-8) / SIZE)
UNKNOWN_KEYS = whole() >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=3)
GAUSSIAN_KEYS = approximate(
    dp.m.make_gaussian_threshold(counts(), dp.l02inf_distance(dp.absolute_distance(T=int)), scale=2.0, threshold=3),
    KEYS_DELTA,
)
QUANTILE = dp.m.make_private_quantile(*floats(), dp.max_divergence(), candidates=CANDIDATES, alpha=0.5, scale=1.0)
LAPLACE = dp.m.make_laplace(*scalar(float), scale=1.0)
COARSE = dp.m.make_laplace(*scalar(float), scale=4.0, k=1)
GAUSSIAN = approximate(dp.m.make_gaussian(*scalar(float), scale=2.0))
GEOMETRIC = dp.m.make_geometric(*scalar(int, int), scale=1.0, bounds=(0, 5))
CANONICAL = dp.m.make_canonical_noise(*scalar(float), d_in=1.0, d_out=(1.0, DELTA))
NOISY_MAX = dp.m.make_noisy_max(*scores(), dp.max_divergence(), scale=2.0)
CONCENTRATED_MAX = approximate(dp.m.make_noisy_max(*scores(), dp.zero_concentrated_divergence(), scale=2.0))
TOP_K = dp.m.make_noisy_top_k(*scores(), dp.max_divergence(), k=2, scale=4.0)
RESPONSE = dp.m.make_randomized_response(categories=["a", "b", "c"], prob=0.6)
BITS = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)
SPARSE = dp.m.make_alp_queryable(
    counts(), dp.l01inf_distance(dp.absolute_distance(T=int)), scale=1.0, total_limit=8, value_limit=8
)
REGRESSION = dp.sklearn.linear_model.LinearRegression(
    dp.max_divergence(), x_bounds=[BOX], y_bounds=BOX, scale=1.0, candidates_count=5
)


def released(measurement, d_in, query=None):
    """A mechanism that calls a measurement on the records, or on the answer to a query, and its privacy map at d_in."""

    def release(dataset):
        return measurement(dataset if query is None else query(dataset))

    release.claim = measurement.map(d_in)
    return release


def float_sum(dataset):
    """The sum of the records."""
    return float(sum(dataset))


def total_scores(dataset):
    """Every record gives points to each of three candidates."""
    return np.sum(dataset, axis=0, dtype=int).tolist() if dataset else [0, 0, 0]


def of_bits(dataset):
    """A record of bits, packed into bytes as numpy does it, and the bits of the answer."""
    return np.unpackbits(np.frombuffer(BITS(np.packbits(dataset).tobytes()), dtype=np.uint8))


def ends(dataset):
    """The first and the last bit of the answer."""
    return of_bits(dataset)[[0, -1]].tolist()


def text(dataset):
    """All bits of the answer, as text."""
    return "".join(map(str, of_bits(dataset)))


def sparse_counts(dataset):
    """Return how often each of two keys is among the records, by the release of a sparse vector."""
    answers = SPARSE(dict(Counter(dataset)))
    return np.array([answers(key) for key in KEYS])


def line(dataset):
    """Slope and intercept of a line through records (x, y)."""
    fitted = REGRESSION.fit([[x] for x, _ in dataset], [y for _, y in dataset])
    return np.array([fitted.coef_[0], fitted.intercept_])


MECHANISMS = {
    "sum": released(SUM, 1),
    "sum of integers": released(SUM_OF_INTEGERS, 1),
    "count": released(COUNT, 1),
    "count distinct": released(DISTINCT, 1),
    "count by categories": released(HISTOGRAM, 1),
    "mean": released(MEAN, 2),
    "variance": released(VARIANCE, 2),
    "resized mean": released(RESIZED_MEAN, 1),
    "count by, make_laplace_threshold": released(UNKNOWN_KEYS, 1),
    "make_gaussian_threshold": released(GAUSSIAN_KEYS, (1, 1, 1), Counter),
    "make_private_quantile": released(QUANTILE, 1),
    "make_laplace": released(LAPLACE, 1.0, float_sum),
    "make_laplace, k=1": released(COARSE, 1.0, float_sum),
    "make_gaussian": released(GAUSSIAN, 1.0, float_sum),
    "make_geometric, bounds": released(GEOMETRIC, 1, sum),
    "make_canonical_noise": released(CANONICAL, 1.0, float_sum),
    "make_noisy_max": released(NOISY_MAX, 1, total_scores),
    "make_noisy_max, zCDP": released(CONCENTRATED_MAX, 1, total_scores),
    "make_noisy_top_k": released(TOP_K, 1, total_scores),
    "make_randomized_response": released(RESPONSE, 1),
    "make_randomized_response_bitvec, first and last bit": ends,
    "make_randomized_response_bitvec, two lengths": text,
    "make_alp_queryable": sparse_counts,
    "LinearRegression": line,
}

if __name__ == "__main__":
    for name, mechanism in MECHANISMS.items():
        print(name, getattr(mechanism, "claim", ""))
    print("bits, sparse counts, regression:", BITS.map(1), SPARSE.map((1, 1, 1)), REGRESSION.measurement.map(1))
