"""Seed faults in a small pipeline of tables, and count those that `check_stability` convicts.

`python -m benchmarks.glue [seed]` prints a line for each of 20 faults and 10 decoys. A dataset maps users
to their rows, a row is a key and a value. Neighbors differ in all rows of a user, and outputs are sums by public keys.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import PerPartition, Verdict, check_stability

Row = tuple[str, float | None]
Users = Mapping[int, list[Row]]
Rows = list[tuple[int, str, float]]

KEYS = ("a", "b", "c")
LIMIT, CAP = 2, 10  # rows of a user, and the largest value
WEIGHTS = {"a": (1,), "b": (1,), "c": (0.5,)}  # a public table to join, with one match for each key
MATCHES = {"a": (1, 1), "b": (1,), "c": (0.5,)}  # one with two
BOUND = 2 * LIMIT * CAP  # the l1 distance of sums when the rows of one user are replaced

VALUES = st.sampled_from([None, 0.0, 1.0, 2.5, 9.9, 10.0, 37.0, -50.0, 127.0])
ROWS = st.lists(st.tuples(st.sampled_from([*KEYS, "z"]), VALUES), max_size=8)
USERS = st.dictionaries(st.integers(0, 15), ROWS, max_size=12)
BY_USER = PerPartition("discrete", order=1)  # users with other rows


def limited(users: Users, limit: int = LIMIT) -> Rows:
    """Return the first rows of each user, without missing values and unknown keys."""
    return [
        (user, key, value)
        for user, rows in users.items()
        for key, value in [(key, value) for key, value in rows if value is not None and key in KEYS][:limit]
    ]


def everything(users: Users) -> Rows:
    return limited(users, 10**6)


def clipped(rows: Rows, lower: float = 0, upper: float = CAP) -> Rows:
    return [(user, key, min(max(value, lower), upper)) for user, key, value in rows]


def joined(rows: Rows, table: Mapping[str, tuple[float, ...]]) -> Rows:
    return [(user, key, value * weight) for user, key, value in rows for weight in table[key]]


def summed(rows: Iterable[tuple[int, str, float]], keys: Iterable[str] = KEYS) -> dict[str, float]:
    sums: dict[str, float] = dict.fromkeys(keys, 0)
    for _, key, value in rows:
        if key in sums:
            sums[key] += value
    return sums


def sums_of_present_keys(users: Users) -> dict[str, float]:
    rows = clipped(limited(users))
    return summed(rows, sorted({key for _, key, _ in rows}))


def mean_by_private_count(users: Users) -> dict[str, float]:
    rows = clipped(limited(users))
    counts = summed([(user, key, 1.0) for user, key, _ in rows])
    return {key: CAP * value / max(counts[key], 1) for key, value in summed(rows).items()}


def above_the_mean(users: Users) -> dict[str, float]:
    rows = clipped(limited(users))
    mean = sum(value for *_, value in rows) / max(len(rows), 1)
    return summed(row for row in rows if row[2] >= mean)


def limited_by_key(users: Users) -> dict[str, float]:
    rows = clipped(everything(users))
    kept = [row for at, row in enumerate(rows) if [other[:2] for other in rows[:at]].count(row[:2]) < LIMIT]
    return summed(kept)


def imputed_by_mean(users: Users) -> dict[str, float]:
    known = [value for rows in users.values() for _, value in rows if value is not None]
    mean = sum(known) / max(len(known), 1)
    filled = {user: [(key, mean if value is None else value) for key, value in rows] for user, rows in users.items()}
    return summed(clipped(limited(filled)))


def in_bytes(users: Users) -> dict[str, float]:
    sums = summed(clipped(limited(users, 8)))
    return {key: int(np.int64(value * 4).astype(np.int8)) for key, value in sums.items()}


def distinct_rows(users: Users) -> dict[str, float]:
    """Keep each value with the first user who has it: when this user leaves, others move up."""
    seen: dict[float | None, int] = {}
    own = {u: [row for row in rows if seen.setdefault(row[1], u) == u] for u, rows in users.items()}
    return summed(clipped(limited(own)))


def without_repeats(users: Users) -> dict[str, float]:
    return summed(clipped(limited({user: list(dict.fromkeys(rows)) for user, rows in users.items()})))


def divided_by_largest(users: Users) -> dict[str, float]:
    rows = clipped(limited(users))
    largest = max((value for *_, value in rows), default=1) or 1
    return {key: value * CAP / largest for key, value in summed(rows).items()}


def best_key(users: Users) -> dict[str, float]:
    sums = summed(clipped(limited(users)))
    best = max(sums, key=lambda key: sums[key])
    return {key: 5 * value if key == best else 0 for key, value in sums.items()}


def every_second(users: Users) -> dict[str, float]:
    return summed(clipped(limited(users))[::2])


def running(users: Users) -> dict[str, float]:
    sums = summed(clipped(limited(users)))
    return {key: sum(sums[other] for other in KEYS[: place + 1]) for place, key in enumerate(KEYS)}


def with_itself(users: Users) -> dict[str, float]:
    rows = clipped(limited(users))
    return summed([*rows, *rows])


def capped_by_key(users: Users) -> dict[str, float]:
    sums = summed(limited(users))
    return {key: min(max(value, 0), 3 * CAP) for key, value in sums.items()}


def in_steps_of_eight(users: Users) -> dict[str, float]:
    return summed([(user, key, 8 * np.ceil(value / 8)) for user, key, value in clipped(limited(users))])


def fewest_first(users: Users) -> dict[str, float]:
    """Serve users until the table is full: one more user takes the place of others."""
    served = sorted(users, key=lambda user: -len(users[user]))[:2]
    return summed(clipped(limited({user: users[user] for user in served})))


def mean_by_public_count(users: Users) -> dict[str, float]:
    return {key: value / 4 for key, value in summed(clipped(limited(users))).items()}


@dataclass(frozen=True)
class Query:
    """A pipeline with the distance and the factor that it claims."""

    run: Callable[[Users], Mapping[str, float]]
    bound: float = BOUND
    distance: str = "l1"
    domain_out: Callable[[Any], bool] | None = None


def _has_public_keys(output: Any) -> bool:
    return tuple(output) == KEYS


FAULTS: Mapping[str, Query] = {
    "a join duplicates rows": Query(lambda u: summed(joined(clipped(limited(u)), MATCHES))),
    "the limit comes before the join that multiplies": Query(lambda u: summed(clipped(joined(limited(u), MATCHES)))),
    "the limit is forgotten": Query(lambda u: summed(clipped(everything(u)))),
    "a mean with a private count": Query(mean_by_private_count),
    "the clip comes before a product": Query(lambda u: summed([(*r[:2], r[2] * 2) for r in clipped(limited(u))])),
    "values are rounded up after the clip": Query(in_steps_of_eight),
    "a filter that looks at other rows": Query(above_the_mean),
    "keys from private data": Query(sums_of_present_keys, domain_out=_has_public_keys),
    "a limit of rows of a key, not of a user": Query(limited_by_key),
    "rows of others decide which are distinct": Query(distinct_rows),
    "scaled by the largest value": Query(divided_by_largest),
    "only sums are clipped": Query(capped_by_key),
    "no lower bound": Query(lambda u: summed(clipped(limited(u), -(10**6)))),
    "missing values filled with the mean": Query(imputed_by_mean, bound=BOUND),
    "sums wrap": Query(in_bytes, bound=4 * 8 * 2 * CAP / 2),
    "the best key of private data": Query(best_key),
    "every second row": Query(every_second),
    "running sums": Query(running),
    "a union with itself": Query(with_itself),
    "users that push others out": Query(fewest_first, bound=LIMIT * CAP),
}
DECOYS: Mapping[str, Query] = {
    "limit, clip, sum": Query(lambda u: summed(clipped(limited(u)))),
    "a join with one match": Query(lambda u: summed(joined(clipped(limited(u)), WEIGHTS))),
    "a join with two matches, paid for": Query(lambda u: summed(joined(clipped(limited(u)), MATCHES)), bound=2 * BOUND),
    "a filter of single rows": Query(lambda u: summed(row for row in clipped(limited(u)) if row[2] > 1)),
    "a larger limit, paid for": Query(lambda u: summed(clipped(limited(u, 4))), bound=2 * BOUND),
    "a mean with a public count": Query(mean_by_public_count, bound=BOUND / 4),
    "distinct rows of each user": Query(without_repeats),
    "public keys": Query(lambda u: summed(clipped(limited(u))), domain_out=_has_public_keys),
    "the sum of one key under l2": Query(lambda u: summed(clipped(limited(u)), "a"), bound=LIMIT * CAP, distance="l2"),
    "running sums, paid for": Query(running, bound=3 * BOUND),
}


def verdict_of(query: Query, budget: int = 10_000, seed: int = 0) -> Any:
    """Return the result of one check."""
    distances = {"distance_in": BY_USER, "distance_out": query.distance, "domain_out": query.domain_out}
    return check_stability(query.run, query.bound, datasets=USERS, budget=budget, seed=seed, **distances)


def main() -> None:
    for title, queries, wanted in (("faults", FAULTS, Verdict.FAIL), ("decoys", DECOYS, Verdict.PASS)):
        right = 0
        for name, query in queries.items():
            started = time.process_time()
            result = verdict_of(query, seed=int(sys.argv[1]) if sys.argv[1:] else 0)
            right += result.verdict is wanted
            spent = time.process_time() - started
            print(f"{result.verdict!s:14}{name:50}{result.samples:6,} pairs{spent:7.2f} CPU s")
        print(f"{title}: {right} of {len(queries)} are {wanted}")


if __name__ == "__main__":
    main()
