"""One kind of check in the list of all: its class, and the function that runs it alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from audit.checks.base import Check

P = ParamSpec("P")
R = TypeVar("R")


class Auditing(Protocol):
    """Something whose methods audit: it runs functions `check_...` in its own way."""

    def audit(self, function: Callable[P, R], /, *arguments: P.args, **settings: P.kwargs) -> R: ...


class Kind(Generic[P, R]):
    """A kind of check; as an attribute of an object that audits, a method with the parameters of the function."""

    def __init__(self, check: type[Check], function: Callable[P, R]) -> None:
        self.check, self.function = check, function
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **settings: P.kwargs) -> R:
        return self.function(*arguments, **settings)

    @overload
    def __get__(self, owner: None, kind: Any) -> Self: ...
    @overload
    def __get__(self, owner: Auditing, kind: Any) -> Callable[P, R]: ...
    def __get__(self, owner: Auditing | None, kind: Any) -> Self | Callable[P, R]:
        return self if owner is None else partial(owner.audit, self.function)
