"""Search transformations of Tumult Core on Spark tables for broken stability functions: all of them should hold.

`python -m benchmarks.stability.tmlt_maps [--pairs 3000]` prints a line for each with its CPU time, those of Spark's
processes among it. A run of Spark costs more than a pair, so that all pairs lie in one table: a column has the number
of the pair, the transformation treats it like any other, and one run is on all first datasets, one on all second ones.
Runs with the environment of the library.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import types as st
from tmlt.core.domains.collections import DictDomain, ListDomain
from tmlt.core.domains.spark_domains import (
    SparkDataFrameDomain,
    SparkFloatColumnDescriptor,
    SparkIntegerColumnDescriptor,
    SparkRowDomain,
    SparkStringColumnDescriptor,
)
from tmlt.core.metrics import IfGroupedBy, SumOf, SymmetricDifference
from tmlt.core.transformations.spark_transformations.agg import CountDistinctGrouped, CountGrouped, SumGrouped
from tmlt.core.transformations.spark_transformations.cast import CastToFloat
from tmlt.core.transformations.spark_transformations.filter import Filter
from tmlt.core.transformations.spark_transformations.groupby import GroupBy
from tmlt.core.transformations.spark_transformations.id import AddUniqueColumn
from tmlt.core.transformations.spark_transformations.join import PrivateJoin, PublicJoin, TruncationStrategy
from tmlt.core.transformations.spark_transformations.map import (
    FlatMap,
    Map,
    RowToRowsTransformation,
    RowToRowTransformation,
)
from tmlt.core.transformations.spark_transformations.nan import (
    DropInfs,
    DropNaNs,
    DropNulls,
    ReplaceInfs,
    ReplaceNaNs,
    ReplaceNulls,
)
from tmlt.core.transformations.spark_transformations.rename import Rename
from tmlt.core.transformations.spark_transformations.select import Select
from tmlt.core.transformations.spark_transformations.truncation import LimitGroupsPerID, LimitRowsPerID

TEXT, WHOLE = SparkStringColumnDescriptor(), SparkIntegerColumnDescriptor()
SCHEMA = {
    "pair": WHOLE,
    "id": TEXT,
    "k": SparkStringColumnDescriptor(allow_null=True),
    "n": SparkIntegerColumnDescriptor(allow_null=True),
    "f": SparkFloatColumnDescriptor(allow_null=True, allow_nan=True, allow_inf=True),
    "m": WHOLE,
    "g": SparkFloatColumnDescriptor(),
}
TYPES = (st.LongType, st.StringType, st.StringType, st.LongType, st.DoubleType, st.LongType, st.DoubleType)
VALUES = (
    ("u", "v", "w"),
    ("a", "b", "c", None),
    (0, 1, 2, -1, 2**62, None),
    (0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 1e308, None),
    (0, 3, 7, -9, 2**62),
    (0.0, 2.5, -8.0, 1e300),
)
DOMAIN, ROWS = SparkDataFrameDomain(SCHEMA), SymmetricDifference()
USERS = IfGroupedBy(["id"], SymmetricDifference())
Pair = tuple[list[Any], list[Any]]


class Subject(NamedTuple):
    """A transformation with how its input is made of a table, and what is counted on both sides."""

    transformation: Any
    given: Callable[[Any], Any] = lambda table: table
    distance_in: str = "rows"
    distance_out: str = "rows"


def _doubled(row: Any) -> Any:
    return {"twice": row["m"] % 5 * 2}


def _copies(row: Any) -> Any:
    return [{"copy": at} for at in range(row["m"] % 4)]


def _grouped(spark: Any, pairs: int, aggregate: Callable[[Any, Any], Any], use_l2: bool = False) -> Any:
    keys = spark.createDataFrame([(pair, key) for pair in range(pairs) for key in "abc"], schema=["pair", "k"])
    grouped = GroupBy(DOMAIN, ROWS, use_l2, keys)
    return grouped | aggregate(grouped.output_domain, grouped.output_metric)


def _joined(strategy: Any) -> Subject:
    other = SparkDataFrameDomain({"pair": WHOLE, "k": SCHEMA["k"], "other": WHOLE})
    join = PrivateJoin(DictDomain({"l": DOMAIN, "r": other}), "l", "r", strategy, strategy, 2, 2, ["pair", "k"])
    return Subject(join, lambda table: {"l": table, "r": table.selectExpr("pair", "k", "m AS other")}, "both")


def subjects(spark: Any, pairs: int) -> Mapping[str, Subject]:
    """Return the transformations by name."""
    public = spark.createDataFrame([("a", 1), ("a", 2), ("b", 3)], schema=["k", "public"])
    row = SparkRowDomain(SCHEMA)
    twice = SparkRowDomain({**SCHEMA, "twice": WHOLE})
    copies = ListDomain(SparkRowDomain({**SCHEMA, "copy": WHOLE}))
    by_group = IfGroupedBy(["pair", "k"], SumOf(USERS))
    return {
        "filter on integers": Subject(Filter(DOMAIN, ROWS, "n > 0")),
        "filter on floats and nulls": Subject(Filter(DOMAIN, ROWS, "f < 1.0 or k is null")),
        "filter of users": Subject(Filter(DOMAIN, USERS, "n > 0"), distance_in="users", distance_out="users"),
        "rename": Subject(Rename(DOMAIN, ROWS, {"n": "renamed"})),
        "select": Subject(Select(DOMAIN, ROWS, ["pair", "k", "n"])),
        "drop infinite values": Subject(DropInfs(DOMAIN, ROWS, ["f"])),
        "drop NaN": Subject(DropNaNs(DOMAIN, ROWS, ["f"])),
        "drop nulls": Subject(DropNulls(DOMAIN, ROWS, ["k", "n"])),
        "replace infinite values": Subject(ReplaceInfs(DOMAIN, ROWS, {"f": (-1.0, 1.0)})),
        "replace NaN": Subject(ReplaceNaNs(DOMAIN, ROWS, {"f": 0.0})),
        "replace nulls": Subject(ReplaceNulls(DOMAIN, ROWS, {"k": "a", "n": 0})),
        "cast to float": Subject(CastToFloat(DOMAIN, ROWS, ["m"])),
        "join with a public table": Subject(PublicJoin(DOMAIN, ROWS, public, join_cols=["k"])),
        "left join with a public table": Subject(PublicJoin(DOMAIN, ROWS, public, join_cols=["k"], how="left")),
        "map": Subject(Map(ROWS, RowToRowTransformation(row, twice, _doubled, augment=True))),
        "flat map": Subject(FlatMap(ROWS, RowToRowsTransformation(row, copies, _copies, augment=True), 2)),
        "unique column": Subject(AddUniqueColumn(DOMAIN, "unique")),
        "rows of a user": Subject(LimitRowsPerID(DOMAIN, ROWS, ["id"], 2), distance_in="users"),
        "rows of a user, users": Subject(
            LimitRowsPerID(DOMAIN, USERS, ["id"], 2), distance_in="users", distance_out="users"
        ),
        "groups of a user": Subject(
            LimitGroupsPerID(DOMAIN, by_group, ["id"], ["pair", "k"], 1),
            distance_in="users",
            distance_out="users by group",
        ),
        "join, truncated": _joined(TruncationStrategy.TRUNCATE),
        "join, dropped": _joined(TruncationStrategy.DROP),
        "counts of groups": Subject(_grouped(spark, pairs, CountGrouped), distance_out="l1"),
        "counts of groups under l2": Subject(_grouped(spark, pairs, CountGrouped, use_l2=True), distance_out="l2"),
        "distinct rows of groups": Subject(_grouped(spark, pairs, CountDistinctGrouped), distance_out="l1"),
        "sums of integers of groups": Subject(
            _grouped(spark, pairs, lambda domain, metric: SumGrouped(domain, metric, "m", -3, 7)), distance_out="l1"
        ),
        "sums of floats of groups": Subject(
            _grouped(spark, pairs, lambda domain, metric: SumGrouped(domain, metric, "g", -8, 2)), distance_out="l1"
        ),
    }


def draw_pairs(number: int, seed: int = 0) -> list[Pair]:
    """Return pairs of datasets: rows are added, removed and copied, or a user goes."""
    source, pairs = random.Random(seed), []
    while len(pairs) < number:
        rows = [tuple(map(source.choice, VALUES)) for _ in range(source.choice((1, 2, 4, 6)))]
        rows += rows[: source.randrange(3)]
        left, right = rows, list(rows)
        if source.random() < 0.5:
            user = source.choice(rows)[0]
            right = [row for row in rows if row[0] != user]
        else:
            for _ in range(source.choice((1, 1, 2))):
                if right and source.random() < 0.5:
                    del right[source.randrange(len(right))]
                else:
                    right.append(tuple(map(source.choice, VALUES)))
        if _differences(left, right):
            pairs.append((left, right))
    return pairs


def _differences(left: Any, right: Any) -> int:
    one, other = Counter(map(repr, left)), Counter(map(repr, right))
    return sum(((one - other) + (other - one)).values())


def _by(rows: Any, place: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for row in rows:
        found.setdefault(row[place], []).append(row)
    return found


def _users(left: Any, right: Any, place: Any) -> int:
    """Return the distance of users: one whose rows change goes, and another comes."""
    one, other = _by(left, place), _by(right, place)
    return sum(
        (user in one) + (user in other)
        for user in {*one, *other}
        if _differences(one.get(user, ()), other.get(user, ()))
    )


def distance(kind: str, left: Any, right: Any) -> float:
    """Return the distance of two tables of rows as mappings."""
    if kind in ("rows", "both"):
        return _differences(left, right)
    if kind == "users":
        return _users(left, right, "id")
    if kind == "users by group":
        one, other = _by(left, "k"), _by(right, "k")
        return sum(_users(one.get(key, ()), other.get(key, ()), "id") for key in {*one, *other})
    one, other = ({row["k"]: list(row.values())[-1] for row in side} for side in (left, right))
    moved = [abs(one[key] - other[key]) for key in one]
    return sum(moved) if kind == "l1" else math.sqrt(sum(value * value for value in moved))


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all below it, where /proc has them."""
    parents, times = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        times[int(folder.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below, before = {os.getpid()}, 0
    while len(below) != before:
        before = len(below)
        below |= {child for child, parent in parents.items() if parent in below}
    return sum(times[each] for each in below if each in times)


def released(subject: Subject, table: Any) -> dict[int, list[Any]]:
    """Return the rows of the output by the number of their pair."""
    rows = (row.asDict() for row in subject.transformation(subject.given(table)).collect())
    found = _by(rows, "pair")
    return {pair: [{key: row[key] for key in row if key != "pair"} for row in rows] for pair, rows in found.items()}


def broken(subject: Subject, pairs: list[Pair], tables: list[Any]) -> tuple[str, int]:
    """Return the first pair that breaks the stability function, and how many were compared."""
    sides = [released(subject, table) for table in tables]
    names, stated, compared = list(SCHEMA)[1:], {}, 0
    for number, pair in enumerate(pairs):
        left, right = ([dict(zip(names, row, strict=True)) for row in rows] for rows in pair)
        apart = distance(subject.distance_in, left, right)
        if not apart:
            continue
        if apart not in stated:
            asked = {"l": int(apart), "r": int(apart)} if subject.distance_in == "both" else int(apart)
            stated[apart] = float(subject.transformation.stability_function(asked).to_float(round_up=True))
        compared += 1
        moved = distance(subject.distance_out, *(side.get(number, []) for side in sides))
        if moved > stated[apart] * (1 + 1e-9):
            return f"{pair} are {apart} apart, their outputs {moved}, stated {stated[apart]}", compared
    return "", compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", type=int, default=3_000)
    given = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its workers import the library too
    spark = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", "1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    pairs = draw_pairs(given.pairs)
    fields = st.StructType([st.StructField(name, kind()) for name, kind in zip(SCHEMA, TYPES, strict=True)])
    sides = (
        [(at, f"{at}:{row[0]}", *row[1:]) for at, pair in enumerate(pairs) for row in pair[side]] for side in (0, 1)
    )
    tables = [spark.createDataFrame(rows, schema=fields).cache() for rows in sides]
    print("rows:", [table.count() for table in tables], flush=True)
    slowest, verdicts = 0.0, Counter()
    for name, subject in subjects(spark, given.pairs).items():
        if given.names and name not in given.names:
            continue
        started = cpu_seconds()
        said, compared = broken(subject, pairs, tables)
        spent = cpu_seconds() - started
        slowest = max(slowest, spent)
        verdicts["FAIL" if said else "PASS"] += 1
        print(f"{'FAIL' if said else 'PASS':6}{name:34}{compared:6,} pairs{spent:7.2f} CPU s {said[:600]}", flush=True)
    print(f"{dict(verdicts)}, at most {slowest:.2f} CPU s each")


if __name__ == "__main__":
    main()
