"""Search transformations of OpenDP for broken stability maps: three with public issues, and others that should hold.

`python -m benchmarks.stability.opendp_maps [--pairs 3000] [name ...]` prints a line for each with its CPU time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

os.environ.setdefault("RUST_BACKTRACE", "0")  # before the import: a refusal costs a hundred times as much with it

import numpy as np
import opendp.prelude as dp
from hypothesis import strategies as st

from audit import check_stability, columns, numbers

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

Case = tuple[Callable[[], Any], Any]  # what makes the transformation, and the strategy of its datasets

SYMMETRIC, ORDERED, CHANGED = dp.symmetric_distance(), dp.insert_delete_distance(), dp.change_one_distance()
TEN, TEN_FLOAT = (0, 10), (0.0, 10.0)


def vectors(size: int | None = None, **atoms: Any) -> Any:
    return dp.vector_domain(dp.atom_domain(**atoms), size=size)


def integers(lower: int = 0, upper: int = 10, **sizes: int) -> Any:
    return columns(numbers(lower, upper, integers=True), **sizes)


def floats(lower: float | None = 0.0, upper: float | None = 10.0, nan: bool = False, **sizes: int) -> Any:
    return columns(numbers(lower, upper, nan=nan), **sizes)


ANY, WHOLE, REAL, NANS = vectors(T=int), vectors(bounds=TEN), vectors(bounds=TEN_FLOAT), vectors(T=float, nan=True)
NUMBERS = vectors(T=float, nan=False)
SIZED_WHOLE, SIZED_REAL = vectors(16, bounds=TEN), vectors(16, bounds=TEN_FLOAT)
WORDS = vectors(T=str)
SIXTEEN = {"min_size": 16, "max_size": 16}
LARGE = integers(-(2**31), 2**31 - 1, max_size=16)
TEXTS = columns(st.sampled_from(["", "a", "b", "ab", "1", "-2.5", "nan", "é", "a,b"]), max_size=16)
EIGHT = st.lists(st.integers(0, 50), min_size=8, max_size=8)
PAIRWISE, SEQUENTIAL = "Pairwise<f64>", "Sequential<f64>"
OFFSET = 2.0**50


def pairwise_predictions() -> Any:
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

    return make_pairwise_predict(np.array([25.0, 75.0]), runs=1)


def points() -> Any:
    point = st.tuples(numbers(-100.0, 100.0), numbers(-100.0, 100.0)).map(list)
    return st.lists(point, max_size=6).map(lambda rows: np.array(rows).reshape(len(rows), 2))


t = dp.t
BROKEN: Mapping[str, Case] = {  # in release 0.16.0; opendp/opendp issues 2924, 2950 and 2923
    "b-ary tree under l2": (
        lambda: t.make_b_ary_tree(ANY, dp.l2_distance(T=int), leaf_count=4, branching_factor=4),
        st.lists(st.integers(0, 20), min_size=4, max_size=4),
    ),
    "pairwise predictions": (pairwise_predictions, points()),
    "squared deviations on an offset column": (
        lambda: t.make_sum_of_squared_deviations(vectors(1024, bounds=(OFFSET, OFFSET + 1)), SYMMETRIC),
        floats(OFFSET, OFFSET + 1, min_size=1024, max_size=1024),
    ),
}
HELD: Mapping[str, Case] = {
    "sum of integers": (lambda: t.make_sum(WHOLE, SYMMETRIC), integers()),
    "sum of ordered integers": (lambda: t.make_sum(WHOLE, ORDERED), integers()),
    "sum of floats": (lambda: t.make_sum(REAL, SYMMETRIC), floats()),
    "sum of ordered floats": (lambda: t.make_sum(vectors(bounds=TEN_FLOAT, nan=False), ORDERED), floats()),
    "sum of 16 integers": (lambda: t.make_sum(SIZED_WHOLE, SYMMETRIC), integers(**SIXTEEN)),
    "sum of 16 floats": (lambda: t.make_sum(SIZED_REAL, SYMMETRIC), floats(**SIXTEEN)),
    "monotonic sum": (lambda: t.make_bounded_int_monotonic_sum(TEN), integers()),
    "split sum": (lambda: t.make_bounded_int_split_sum((-5, 10)), integers(-5, 10)),
    "ordered sum": (lambda: t.make_bounded_int_ordered_sum((-5, 10)), integers(-5, 10)),
    "checked sum of 16": (lambda: t.make_sized_bounded_int_checked_sum(16, TEN), integers(**SIXTEEN)),
    "sequential sum": (lambda: t.make_bounded_float_checked_sum(64, TEN_FLOAT, S=SEQUENTIAL), floats(max_size=64)),
    "pairwise sum": (lambda: t.make_bounded_float_checked_sum(64, TEN_FLOAT, S=PAIRWISE), floats(max_size=64)),
    "ordered pairwise sum": (lambda: t.make_bounded_float_ordered_sum(64, TEN_FLOAT, S=PAIRWISE), floats(max_size=64)),
    "pairwise sum of 16": (
        lambda: t.make_sized_bounded_float_checked_sum(16, TEN_FLOAT, S=PAIRWISE),
        floats(**SIXTEEN),
    ),
    "mean": (lambda: t.make_mean(SIZED_REAL, SYMMETRIC), floats(**SIXTEEN)),
    "variance": (lambda: t.make_variance(SIZED_REAL, SYMMETRIC), floats(**SIXTEEN)),
    "squared deviations": (lambda: t.make_sum_of_squared_deviations(SIZED_REAL, SYMMETRIC), floats(**SIXTEEN)),
    "count": (lambda: t.make_count(ANY, SYMMETRIC), LARGE),
    "distinct values": (lambda: t.make_count_distinct(WORDS, SYMMETRIC), TEXTS),
    "histogram under l1": (
        lambda: t.make_count_by_categories(WORDS, SYMMETRIC, ["a", "b"], MO=dp.L1Distance[int]),
        TEXTS,
    ),
    "histogram under l2": (
        lambda: t.make_count_by_categories(WORDS, SYMMETRIC, ["a", "b"], MO=dp.L2Distance[float], TOA=int),
        TEXTS,
    ),
    "clamp of integers": (lambda: t.make_clamp(ANY, SYMMETRIC, TEN), LARGE),
    "clamp of floats": (lambda: t.make_clamp(NUMBERS, SYMMETRIC, TEN_FLOAT), floats(None, None, max_size=64)),
    "integers as text": (lambda: t.make_cast_default(ANY, SYMMETRIC, TOA=str), LARGE),
    "text as integers": (lambda: t.make_cast_default(WORDS, SYMMETRIC, TOA=int), TEXTS),
    "text as floats": (lambda: t.make_cast_inherent(WORDS, SYMMETRIC, TOA=float), TEXTS),
    "floats as integers": (
        lambda: t.make_cast_default(NANS, SYMMETRIC, TOA=int),
        floats(None, None, nan=True, max_size=64),
    ),
    "booleans as integers": (
        lambda: t.make_cast_default(vectors(T=bool), SYMMETRIC, TOA=int),
        columns(st.booleans(), max_size=64),
    ),
    "drop missing": (lambda: t.make_drop_null(NANS, SYMMETRIC), floats(None, None, nan=True, max_size=64)),
    "impute a constant": (
        lambda: t.make_impute_constant(NANS, SYMMETRIC, 0.5),
        floats(None, None, nan=True, max_size=64),
    ),
    "is missing": (lambda: t.make_is_null(NANS, SYMMETRIC), floats(None, None, nan=True, max_size=64)),
    "is equal": (lambda: t.make_is_equal(ANY, SYMMETRIC, 1), LARGE),
    "is equal, in order": (lambda: t.make_is_equal(ANY, ORDERED, 1), LARGE),
    "bins": (lambda: t.make_find_bin(NUMBERS, SYMMETRIC, [0.0, 1.0, 2.0]), floats(None, None, max_size=64)),
    "index": (
        lambda: t.make_index(vectors(T=dp.usize), SYMMETRIC, ["x", "y"], "z"),
        columns(st.integers(0, 5), max_size=16),
    ),
    "identity": (lambda: t.make_identity(ANY, SYMMETRIC), LARGE),
    "unordered": (lambda: t.make_unordered(ANY, ORDERED), LARGE),
    "bounded metric": (lambda: t.make_metric_bounded(SIZED_WHOLE, SYMMETRIC), integers(**SIXTEEN)),
    "unbounded metric": (lambda: t.make_metric_unbounded(SIZED_WHOLE, CHANGED), integers(**SIXTEEN)),
    "scores of quantiles": (lambda: t.make_quantile_score_candidates(WHOLE, SYMMETRIC, [1, 3, 5], 0.5), integers()),
    "b-ary tree under l1": (
        lambda: t.make_b_ary_tree(ANY, dp.l1_distance(T=int), leaf_count=8, branching_factor=2),
        EIGHT,
    ),
    "a number times two": (
        lambda: t.make_lipschitz_float_mul(
            dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), 2.0, (-10.0, 10.0)
        ),
        numbers(-10.0, 10.0),
    ),
    "clamp, then sum": (lambda: t.make_clamp(ANY, SYMMETRIC, TEN) >> t.make_sum(WHOLE, SYMMETRIC), LARGE),
    "cast, impute, clamp, then sum": (
        lambda: (
            t.make_cast_inherent(WORDS, SYMMETRIC, TOA=float)
            >> t.make_impute_constant(NANS, SYMMETRIC, 1.0)
            >> t.make_clamp(NUMBERS, SYMMETRIC, TEN_FLOAT)
            >> t.make_sum(vectors(bounds=TEN_FLOAT), SYMMETRIC)
        ),
        TEXTS,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", type=int, default=3_000)
    given = parser.parse_args()
    for title, cases in (("public issues", BROKEN), ("held", HELD)):
        counts: dict[str, int] = {}
        slowest = 0.0
        for name in given.names or cases:
            if name not in cases:
                continue
            make, datasets = cases[name]
            transformation, started = make(), time.process_time()
            result = check_stability(transformation, datasets=datasets, budget=given.pairs)
            spent = time.process_time() - started
            slowest, verdict = max(slowest, spent), str(result.verdict)
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:14}{name:42}{result.samples:6,} pairs{spent:7.2f} CPU s", flush=True)
        print(f"{title}: {counts}, at most {slowest:.2f} CPU s each")


if __name__ == "__main__":
    main()
