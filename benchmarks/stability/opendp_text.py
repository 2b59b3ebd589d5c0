"""Write programs of OpenDP's data frames as Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.stability.opendp_grammar import NAMES, Program, is_node

BETWEEN = ("compare", "arithmetic", "both")  # operators that stand between their operands


def expression_text(node: Any) -> str:
    """Return an expression as Python."""
    what, *rest = node
    if what == "col":
        return f"pl.col({rest[0]!r})"
    if what == "lit":
        return f"pl.lit({value_text(rest[0])})"
    if what in BETWEEN:
        return f"({expression_text(rest[1])} {rest[0]} {expression_text(rest[2])})"
    if what == "not":
        return f"~{expression_text(rest[0])}"
    return f"{expression_text(rest[0])}.{_method(what, rest[1:])}"


def _method(what: str, given: Sequence[Any]) -> str:
    if what == "cast":
        return f"cast({given[0]}, strict={given[1]})"
    if what == "cut":
        return f"cut({list(given[0])})"
    if what == "part":
        return f"dt.{given[0]}()"
    if what == "parse":
        return f'str.strptime({given[0]}, "%Y-%m-%d", strict=False)'
    if what == "where":
        return f"filter({expression_text(given[0])})"
    if what == "replace_strict":
        return f"{what}({_values(given[0])}, {_values(given[1])}, default={value_text(given[2])})"
    return f"{what}({', '.join(_values(each) if isinstance(each, tuple) else value_text(each) for each in given)})"


def _values(values: Any) -> str:
    return expression_text(values) if is_node(values) else f"[{', '.join(map(value_text, values))}]"


def value_text(value: Any) -> str:
    return f'float("{value}")' if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _step_text(step: Any) -> str:
    what, *rest = step
    if what == "filter":
        return f".filter({expression_text(rest[0])})"
    if what == "with":
        return f".with_columns({rest[0]}={expression_text(rest[1])})"
    if what == "select":
        others = ", ".join(repr(name) for name in NAMES if name != rest[0])
        return f".select({others}, {rest[0]}={expression_text(rest[1])})"
    by, k = rest
    if what == "collapse":
        return f".group_by({', '.join(map(repr, by))}).agg({', '.join(f'pl.col({n!r}).{how}()' for n, how in k)})"
    if what == "truncate":
        return f".filter(pl.int_range(pl.len()).over({', '.join(map(repr, ('id', *by)))}) < {k})"
    return f".filter(pl.struct({', '.join(map(repr, by))}).rank('dense').over('id') < {k + 1})"


def by_text(node: Any) -> str:
    return repr(node[1]) if node[0] == "col" else f'{expression_text(node)}.alias("g")'


def group_names(group: Any) -> list[str]:
    return [node[1] if node[0] == "col" else "g" for node in group]


def _aggregate_text(place: int, aggregate: Any, signed: str) -> str:
    what, expression, bounds = aggregate
    spelled = what.removeprefix("plain ")
    name = f'.alias("c{place}")'
    subject = "pl" if expression is None else expression_text(expression)
    if spelled != what:
        clipped = f".clip({bounds[0]}, {bounds[1]})" if bounds else ""
        return f"{subject}{clipped}.{spelled}().dp.noise(){name}"
    if what == "len":
        return f"dp.len({signed}){name}"
    if what == "quantile":
        return f"{subject}.dp.quantile({bounds[0]}, {list(bounds[1])}){name}"
    method = f"len({signed})" if what == "size" else f"{what}({bounds if what == 'sum' else signed})"
    return f"{subject}.dp.{method}{name}"


def values_text(program: Program, place: int) -> str:
    """Return a plan of the values that an aggregate summarizes, by group."""
    value = f'{expression_text(program.aggregates[place][1])}.alias("c{place}")'
    steps = "".join(map(_step_text, program.steps))
    if not program.group:
        return f"frame{steps}.select({value})"
    return f"frame{steps}.group_by({', '.join(map(by_text, program.group))}).agg({value})"


def measure_text(program: Program) -> str:
    """Return the measure of a program; with a threshold it has a delta."""
    measure = f"dp.{program.measure}()"
    return measure if program.threshold is None else f"dp.approximate({measure})"


def plan_text(program: Program, signed: str) -> str:
    aggregates = ", ".join(_aggregate_text(place, each, signed) for place, each in enumerate(program.aggregates))
    steps = "".join(map(_step_text, program.steps))
    if not program.group:
        return f"frame{steps}.select({aggregates})"
    plan = f"frame{steps}.group_by({', '.join(map(by_text, program.group))}).agg({aggregates})"
    if program.keys is None:
        return plan
    on = group_names(program.group)[: program.joined]
    columns = ", ".join(
        f"{name!r}: [{', '.join(value_text(row[at]) for row in program.keys)}]" for at, name in enumerate(on)
    )
    return f'pl.LazyFrame({{{columns}}}).join({plan}, on={on}, how="left")'
