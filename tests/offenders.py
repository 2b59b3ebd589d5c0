"""One test for a rule about many things: it looks at all of them and names every offender.

An item of pytest costs each worker more than a rule that only looks at data; where something is run, items stay apart.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from audit.errors import InvalidArgument


def name_of(thing: Any) -> str:
    return str(thing if isinstance(thing, Path) else getattr(thing, "name", getattr(thing, "__name__", thing)))


def for_each(things: Iterable[Any], name: Callable[[Any], str] = name_of) -> Callable[[Callable[..., None]], Any]:
    """Return a decorator that makes a rule about a thing, or a tuple of its parameters, a test of all."""
    listed = list(things)

    def decorate(rule: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            offenders = []
            assert listed, "there is nothing to look at"
            for thing in listed:
                try:
                    rule(*thing) if isinstance(thing, tuple) else rule(thing)
                except (Exception, pytest.fail.Exception) as error:
                    offenders.append(f"{name(thing)}: {type(error).__name__}: {error}")
            assert not offenders, f"{len(offenders)} of {len(listed)}:\n" + "\n".join(offenders)

        test.__dict__.update(rule.__dict__)  # marks below the decorator
        test.__name__, test.__qualname__, test.__doc__ = rule.__name__, rule.__qualname__, rule.__doc__
        test.__module__, test.rule = rule.__module__, rule  # type: ignore[attr-defined]
        return test

    return decorate


def refused(
    rows: Iterable[tuple[Any, str]],
    call: Callable[..., Any] | None = None,
    *,
    error: Any = InvalidArgument,
    **usual: Any,
) -> Callable[..., None]:
    """Return a test that each row is refused in its words: a call, or changes of the usual arguments of `call`."""

    @pytest.mark.parametrize(("given", "said"), rows)
    def test(given: Any, said: str) -> None:
        with pytest.raises(error, match=said):
            given() if call is None else call(**{**usual, **given})

    return test
