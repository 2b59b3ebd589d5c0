"""Run a check alone, without a run around it: what the functions `audit.check_...` share, in code and in documentation.

A function names the parameters of its claim. The other settings are the keys of a `TypedDict`, which type checkers and
editors read; at run time `alone` writes them into the signature, with their defaults, and completes the docstring from
that of the class, so that `help` shows each parameter.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict, TypeVar

from audit.base.arguments import Budget
from audit.base.defaults import DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE
from audit.base.verdict import Verdict
from audit.checks.allowance import Allowance
from audit.checks.base import Check, Result
from audit.checks.running import run_check

R = TypeVar("R", bound=Result)
F = TypeVar("F", bound=Callable[..., Result])
_ALLOWED = ("budget", "significance", "confirmation", "seed", "workers")  # what it may spend, and where
_DEFAULTS: Mapping[str, Any] = {
    "source": "",
    "statement": "",
    "expected": Verdict.PASS,
    "name": None,
    "significance": DEFAULT_SIGNIFICANCE,
    "confirmation": DEFAULT_CONFIRMATION,
    "seed": 0,
    "timeout": None,
    "workers": None,
}
_TEXTS = {
    "expected": """expected : Verdict
    What `result.met` compares the verdict with.
""",
    "name": """name : str, optional
    Shown in messages; the name of the code under audit unless given.
""",
    "significance": """significance : float in (0, 1)
    Probability that a true claim is suspected, and tested again on fresh outputs. What cannot be drawn again is judged
    FAIL at `confirmation`, and is INCONCLUSIVE where it refutes the claim at 0.001 only.
""",
    "confirmation": """confirmation : float in (0, 1), optional
    Probability of a wrong FAIL. None: the first outputs decide, and the probability is `significance`.
""",
    "seed": """seed : int >= 0
    The same seed gives the same evidence, for any number of workers.
""",
    "timeout": """timeout : float > 0, optional
    Run in a process of its own and stop it after this many seconds: for code that may hang or die.
""",
    "workers": """workers : int >= 0, optional
    Processes of this machine that share the certifying outputs if drawing takes long: by default one for each
    available core. 0 means this process.
""",
}
_SECTIONS = ("Parameters", "Returns", "Raises", "References", "Examples")
_HEADER = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)


class Alone(TypedDict, total=False):
    """Settings of every function `check_...`."""

    expected: Verdict
    name: str | None
    budget: Budget
    significance: float
    confirmation: float | None
    seed: int
    timeout: float | None


class StatedAlone(Alone, total=False):
    """Settings where the claim is stated in words: the words, and where it comes from."""

    source: str
    statement: str


class SharedAlone(Alone, total=False):
    """Settings where processes may share the drawing."""

    workers: int | None


def run_alone(returns: type[R], make: Callable[..., Check], settings: Alone) -> R:
    """Run the check that `make` gives for its settings, at a significance of its own, and return its result."""
    given: dict[str, Any] = {"significance": DEFAULT_SIGNIFICANCE, "seed": 0, **settings}
    allowed = {name: given.pop(name) for name in _ALLOWED if name in given}
    name = given.pop("name", None)
    check = make(**given, name=name or "unnamed")
    if not name:
        object.__setattr__(check, "name", check.usual_name)
    result = run_check(check, Allowance.of(**{"budget": check.usual_budget, **allowed}), check.timeout)
    assert isinstance(result, returns)
    return result


def alone(kind: type[Check], settings: type) -> Callable[[F], F]:
    """Return a decorator that completes the signature and the docstring of the function that runs a kind alone."""

    def completed(function: F) -> F:
        signature = inspect.signature(function)
        own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
        defaults = {**_DEFAULTS, "budget": kind.usual_budget}
        words = settings.__annotations__
        more = [
            inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=defaults[word], annotation=words[word])
            for word in words
        ]
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        function.__doc__ = _documented(function, kind)
        return function

    return completed


def _documented(function: Callable[..., Any], kind: type[Check]) -> str:
    """Return the docstring of a function with the sections that it lacks, from the docstring of its class."""
    parts = {**_sections(kind), **_sections(function)}
    parameters = inspect.signature(function).parameters
    texts = [text for word, text in _TEXTS.items() if word in parameters]
    parts["Parameters"] = "".join([*_entries(parts["Parameters"], set(parameters) - set(_TEXTS)), *texts])
    parts.setdefault("Returns", f"{kind.result_type.__name__}\n")
    shown = (f"{name}\n{'-' * len(name)}\n{parts[name].strip()}" for name in _SECTIONS if name in parts)
    return "\n\n".join([parts[""].strip(), *shown]) + "\n"


def _sections(documented: Any) -> dict[str, str]:
    """Return the sections of a docstring by name; what stands before them has none."""
    before, *parts = _HEADER.split(inspect.getdoc(documented) or "")
    return {"": before, **dict(zip(parts[::2], parts[1::2], strict=True))}


def _entries(listed: str, names: set[str]) -> Iterator[str]:
    """Yield the entries of a list of parameters, with those of their names that are asked for."""
    for entry in re.split(r"^(?=\S)", listed.strip() + "\n", flags=re.MULTILINE)[1:]:
        head, text = entry.split("\n", 1)
        named, _, kind = head.partition(" : ")
        if kept := [name for name in named.split(", ") if name in names]:
            yield f"{', '.join(kept)}{' : ' if kind else ''}{kind}\n{text}"
