"""Read from a pair of datasets what holds of it: its distance, margins and domain, as Python."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from typing import Any

from benchmarks.stability.opendp_grammar import DTYPES, KINDS, NAMES, REPLACED, USERS, Program
from benchmarks.stability.opendp_text import by_text, value_text
from benchmarks.stability.programs import Case, RefusedError


def key_text(value: Any) -> str:
    return repr(value)


def _changed(left: Any, right: Any) -> int:
    """Return the symmetric distance of two collections of rows, as multisets; NaN equals NaN."""
    one, other = Counter(map(key_text, left)), Counter(map(key_text, right))
    return sum(((one - other) + (other - one)).values())


def distance(case: Case) -> int:
    """Return the distance of a pair: rows of one side only, rows that are replaced, or users.

    By the library's text on identifier distances, users of both sides have the same rows. One whose rows changed
    counts 2: the user leaves and another comes, or is replaced twice.
    """
    metric, left, right = case.program.metric, case.left, case.right
    if metric in REPLACED:
        if len(left) != len(right):
            raise RefusedError("of two sizes")
        if metric == "hamming":
            return sum(key_text(one) != key_text(other) for one, other in zip(left, right, strict=True))
        return _changed(left, right) // 2
    if metric == "insert_delete":
        return len(left) + len(right) - 2 * _common(list(map(key_text, left)), list(map(key_text, right)))
    if metric not in USERS:
        return _changed(left, right)
    gone, come, other = 0, 0, 0
    for user in {row[-1] for row in (*left, *right)}:
        before, after = ([row for row in side if row[-1] == user] for side in (left, right))
        gone, come = gone + (not after), come + (not before)
        other += bool(before and after and _changed(before, after))
    if metric == "identifier":
        return gone + come + 2 * other
    if gone != come:
        raise RefusedError("of two numbers of users")
    return gone + 2 * other


def _common(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence."""
    best = [0] * (len(right) + 1)
    for one in left:
        before = best
        best = [0]
        for at, other in enumerate(right):
            best.append(before[at] + 1 if one == other else max(before[at + 1], best[at]))
    return best[-1]


def _groups(rows: Any, group: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for key, row in zip(_group_keys(rows, group), rows, strict=True):
        found.setdefault(key, []).append(row)
    return found


def _group_keys(rows: Any, group: Any) -> list[Any]:
    if all(node[0] == "col" for node in group):
        return [tuple(key_text(row[NAMES.index(node[1])]) for node in group) for row in rows]
    import polars as pl

    schema = {name: getattr(pl, DTYPES[KINDS[name]][3:]) for name in NAMES}
    names = {"pl": pl, "datetime": datetime, "schema": schema}
    by = ", ".join(map(by_text, group))
    return eval(f"{frame_text(rows)}.select({by}).collect()", names).rows()


def _margins(program: Program) -> list[Any]:
    """Return the groupings whose margins are declared: that of the program, and its columns alone."""
    return [program.group, *((node,) for node in program.group if len(program.group) > 1)] if program.group else []


def margin_texts(case: Case) -> list[str]:
    """Return what holds of both datasets, tightly, of what the program declares."""
    program, texts = case.program, []
    sizes = [len(case.left), len(case.right)]
    times = 1 + ("longer" in program.margins)
    settings = [f"max_length={times * max(*sizes, 1)}"] if "length" in program.margins else []
    if program.invariant == "lengths" and sizes[0] == sizes[1]:
        settings.append('invariant="lengths"')
    if settings:
        texts.append(f"by=[], {', '.join(settings)}")
    for group in _margins(program):
        left, right = (_groups(side, group) for side in (case.left, case.right))
        longest = max((len(rows) for side in (left, right) for rows in side.values()), default=1)
        settings = [f"max_length={times * longest}"] if "group length" in program.margins else []
        if "groups" in program.margins:
            settings.append(f"max_groups={max(len(left), len(right), 1)}")
        if program.invariant and set(left) == set(right):
            equal = all(len(left[key]) == len(right[key]) for key in left)
            settings.append(f'invariant="{program.invariant if equal else "keys"}"')
        if settings:
            texts.append(f"by=[{', '.join(map(by_text, group))}], {', '.join(settings)}")
    return texts


def _column_text(case: Case, name: str) -> str:
    place, kind = NAMES.index(name), KINDS[name]
    values = [row[place] for row in (*case.left, *case.right)]
    atom = {"int": 'T="i64"', "float": 'T="f64"', "str": 'T="String"', "date": 'T="NaiveDate"'}[kind]
    nan = kind == "float" and (
        name in case.program.nullable or any(isinstance(v, float) and math.isnan(v) for v in values)
    )
    text = f"dp.atom_domain({atom}{f', nan={nan}' if kind == 'float' else ''})"
    null = name != "id" and (name in case.program.nullable or None in values)
    return f"dp.series_domain({name!r}, {f'dp.option_domain({text})' if null else text})"


def column_texts(case: Case) -> list[str]:
    """Return the domains of columns."""
    return [_column_text(case, name) for name in NAMES]


def domain_text(case: Case) -> str:
    text = f"dp.lazyframe_domain([{', '.join(column_texts(case))}])"
    for margin in margin_texts(case):
        text = f"dp.with_margin({text}, dp.polars.Margin({margin}))"
    return text


def metric_text(program: Program) -> str:
    if program.metric in USERS:
        name = "symmetric_id" if program.metric == "identifier" else "change_one_id"
        return f'dp.{name}_distance(identifier=pl.col("id"))'
    if program.metric == "frame":
        return "dp.frame_distance(dp.symmetric_distance())"
    return f"dp.{program.metric}_distance()"


def distance_text(case: Case) -> str:
    total, program = distance(case), case.program
    if program.metric != "frame":
        return str(total)
    bounds = [f"dp.polars.Bound(per_group={total})"]
    for group in _margins(program):
        left, right = (_groups(side, group) for side in (case.left, case.right))
        changes = [_changed(left.get(key, ()), right.get(key, ())) for key in {*left, *right}]
        most, moved = max(changes, default=0), sum(change > 0 for change in changes)
        by = ", ".join(map(by_text, group))
        bounds.append(f"dp.polars.Bound(by=[{by}], per_group={most}, num_groups={moved})")
    return f"[{', '.join(bounds)}]"


def frame_text(rows: Any) -> str:
    columns = ", ".join(
        f'"{name}": [{", ".join(value_text(row[at]) for row in rows)}]' for at, name in enumerate(NAMES)
    )
    return f"pl.LazyFrame({{{columns}}}, schema=schema)"
