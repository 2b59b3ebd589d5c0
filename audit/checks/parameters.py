"""Bind a check to values of its mechanism's parameters: its claim, pairs and datasets may be functions of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from audit.claims import Claim
from audit.errors import InvalidArgument
from audit.evidence.base import Way
from audit.limits import Number
from audit.mechanism.call import bind
from audit.text import count

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_TAKEN = ("dataset", "size", "rng")  # arguments of every mechanism: a setting of that name would replace them


@dataclass(frozen=True)
class Searched(Way):
    """Hold what a search over datasets, the parameters of a mechanism, or both ended with; it decides nothing."""

    settings: Number  # that were tried, on training outputs
    setting: Mapping[str, Any]  # the one that was certified; empty where no parameters were searched
    budget: int  # outputs per dataset that its claim needs
    tolerance: float | None
    cases: Number  # settings and pairs that were tried

    way: ClassVar[str] = "search"

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the setting that was certified."""
        if way["setting"]:
            setting = ", ".join(f"{name} = {value}" for name, value in way["setting"].items())
            yield "setting", f"{setting}: the worst of {count(way['settings'])} that were tried"


def strategy_of(parameters: Any) -> SearchStrategy[Any]:
    """Return one strategy of those of the parameters, or the one that was given."""
    from hypothesis.strategies import SearchStrategy, fixed_dictionaries

    if isinstance(parameters, Mapping) and all(isinstance(part, SearchStrategy) for part in parameters.values()):
        return fixed_dictionaries(dict(parameters))
    if not isinstance(parameters, SearchStrategy):
        raise InvalidArgument.of("parameters", "be a mapping of names to Hypothesis strategies", parameters)
    return parameters


def bound(check: Any, setting: Mapping[str, Any]) -> Any:
    """Return the check of the mechanism with these values of its parameters."""
    if taken := [name for name in setting if name in _TAKEN]:
        raise InvalidArgument.of("parameters", f"have other names than {', '.join(_TAKEN)}", taken[0])
    if wrong := [name for name, value in setting.items() if not _is_plain(value)]:
        raise InvalidArgument.of("parameters", f"draw plain data for {wrong[0]!r}", setting[wrong[0]])

    def given(part: Any, is_function: bool) -> Any:
        return part(**setting) if is_function else part

    return replace(
        check,
        mechanism=bind(check.mechanism, setting),
        claim=given(check.claim, not isinstance(check.claim, Claim)),
        pairs=given(check.pairs, callable(check.pairs)),
        datasets=given(check.datasets, inspect.isroutine(check.datasets)),
        parameters=None,
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value is kept by a certificate as it is."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))
