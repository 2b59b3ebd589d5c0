"""Programs that keep their state in modules at any depth and in contexts; `outside` has a table of such places."""

from __future__ import annotations

import decimal
import os
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo import holder
from benchmarks.enumeration.zoo.case import Case, coin

CASES: list[Case] = []


def program(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Add a program."""
    CASES.append(Case("modules", function.__name__.replace("_", " "), function))
    return function


@program
def attribute_of_a_submodule(data: Any, rng: Any) -> Any:
    if coin(rng):
        holder.inner.x = 1
    second = coin(rng)
    found, holder.inner.x = holder.inner.x, 0
    return second, found


@program
def attribute_of_a_deep_submodule(data: Any, rng: Any) -> Any:
    if coin(rng):
        holder.inner.deeper.y = 1
    second = coin(rng)
    found, holder.inner.deeper.y = holder.inner.deeper.y, 0
    return second, found


@program
def log_of_a_submodule(data: Any, rng: Any) -> Any:
    if coin(rng):
        holder.inner.LOG.append(1)
    second = coin(rng)
    found = len(holder.inner.LOG)
    holder.inner.LOG.clear()
    return second, found


class Holds:
    """Hold a module."""

    backend = holder.inner


@program
def module_of_an_object(data: Any, rng: Any) -> Any:
    held = Holds()
    if coin(rng):
        held.backend.x = 1
    second = coin(rng)
    found, held.backend.x = held.backend.x, 0
    return second, found


MODULES = [holder.inner]


@program
def module_of_a_list(data: Any, rng: Any) -> Any:
    if coin(rng):
        MODULES[0].x = 1
    second = coin(rng)
    found, MODULES[0].x = MODULES[0].x, 0
    return second, found


@program
def module_as_a_variable(data: Any, rng: Any) -> Any:
    module = holder.inner
    if coin(rng):
        module.x = 1
    second = coin(rng)
    found, module.x = module.x, 0
    return second, found


@program
def module_made_by_the_program(data: Any, rng: Any) -> Any:
    module: Any = types.ModuleType("made")
    module.x = 0
    if coin(rng):
        module.x = 1
    second = coin(rng)
    return second, module.x


@program
def precision_of_decimal(data: Any, rng: Any) -> Any:
    context = decimal.getcontext()
    context.prec = 10 if coin(rng) else 28
    second = coin(rng)
    found = str(decimal.Decimal(1) / 3)
    context.prec = 28
    return second, found


@program
def local_context_of_decimal(data: Any, rng: Any) -> Any:
    with decimal.localcontext() as context:
        if coin(rng):
            context.prec = 5
        second = coin(rng)
        return second, str(decimal.Decimal(2) / 3)


@program
def errors_of_numpy(data: Any, rng: Any) -> Any:
    if coin(rng):
        np.seterr(over="raise")
    second = coin(rng)
    try:
        found = bool(np.float64(1e300) * np.float64(1e300) > 0)
    except FloatingPointError:
        found = False
    np.seterr(over="warn")
    return second, found


@program
def context_of_numpy(data: Any, rng: Any) -> Any:
    with np.errstate(divide="raise" if coin(rng) else "ignore"):
        second = coin(rng)
        try:
            return second, bool(np.float64(1) / np.float64(0) > 0)
        except FloatingPointError:
            return second, None


@program
def filters_of_warnings(data: Any, rng: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error" if coin(rng) else "ignore")
        second = coin(rng)
        try:
            warnings.warn("zoo", stacklevel=1)
        except UserWarning:
            return second, "raised"
        return second, "ignored"


@program
def environment(data: Any, rng: Any) -> Any:
    if coin(rng):
        os.environ["ZOO"] = "1"
    second = coin(rng)
    return second, os.environ.pop("ZOO", None)


@program
def working_folder(data: Any, rng: Any) -> Any:
    before = os.getcwd()
    if coin(rng):
        os.chdir("/")
    second = coin(rng)
    found = os.getcwd() == "/"
    os.chdir(before)
    return second, found


_ONE, _OTHER = types.ModuleType("one"), types.ModuleType("other")
for _module in (_ONE, _OTHER):  # as two copies of one file
    vars(_module)["coin"] = coin
    exec("STATE = 0\ndef toss(rng):\n    global STATE\n    STATE += coin(rng)\n    coin(rng)\n", vars(_module))


@program
def equal_code_of_two_modules(data: Any, rng: Any) -> Any:
    _ONE.toss(rng)
    _OTHER.toss(rng)
    found = _OTHER.STATE
    _ONE.STATE = _OTHER.STATE = 0  # type: ignore[attr-defined]
    return found
