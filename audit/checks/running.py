"""Run one check: gather its evidence here or in a process of its own, judge it, and return the result.

The functions `audit.check_...` run a check alone, without a run around it. Such a function names the parameters of its
claim. The other settings are the keys of a `TypedDict`, which type checkers and editors read; at run time `alone`
writes them into the signature, with their defaults, and completes the docstring from that of the class.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypedDict, TypeVar

from audit.base.arguments import Budget
from audit.base.defaults import DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE
from audit.base.errors import AuditError
from audit.base.results import note_made
from audit.base.text import described
from audit.base.verdict import Verdict
from audit.checks import confirm
from audit.checks.allowance import Allowance
from audit.checks.base import Check, Result, known_source
from audit.subjects.clock import TimedOut, clock, limited
from audit.subjects.place import HERE, Place
from audit.subjects.pool import Pool, open_pool
from audit.subjects.supervisor import is_of_subject

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
    Run in a process of its own and stop it after this many seconds: for code that may hang or die. The limit ends the
    drawing, and what was drawn is judged.
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
    note_made(result)
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


def run_check(
    check: Check,
    allowance: Allowance,
    timeout: float | None = None,
    pool: Pool | None = None,
    blocks: Place | None = None,  # where its blocks are drawn when they take long; where it runs unless given
) -> Result:
    """Gather and judge the evidence of one check; the check's own budget, if it has one, replaces the allowance's.

    With a `timeout` in seconds its evidence is gathered in a new process, of `pool` or of this machine, comes back as
    plain data, and is judged here. It is INCONCLUSIVE with the cause when it hangs, dies or cannot be sent. An
    `AuditError` of the check, or `Unreachable`, is raised.
    """
    if timeout is None:
        return _gather_and_judge(check, allowance)
    check, allowance = check.planned(allowance)
    allowance = allowance.limited(timeout)
    if pool is None:
        with open_pool(Place(workers=1), [check]) as own:
            return run_check(check, allowance, timeout, own, blocks)
    there, printed = replace(allowance, place=HERE if blocks is None else blocks), list[str]()
    source: dict[str, Any] = {}
    try:
        if pool.is_here:
            ended: Result = pool.call(_gather_and_judge, check, there)
            return ended
        seconds = 0.0

        def gathered(allowed: Allowance) -> Any:
            nonlocal seconds
            evidence, taken, found = pool.call(_gather, check, allowed, timeout=timeout, hear=printed.append)
            source.update(found)
            seconds += float(taken)
            return check.received(evidence)

        evidence, judgment = confirm.confirmed(  # it is, unless the subject has kept its process from that
            check, gathered(there), there, lambda level: map(gathered, confirm.fresh_allowances(there, level))
        )
        result = _result(check, allowance, evidence, judgment, seconds)
    except AuditError:
        raise
    except TimeoutError:
        said = f"{check.noun} and its audit took longer than {timeout:g} s"
        reason = f"{said}: set {allowance.setting.format(2 * timeout)}"
        result = failed_check(check, allowance, "hung", reason, timeout)
    except ChildProcessError as error:
        result = failed_check(check, allowance, "died", f"{check.noun} {error}")
    except BaseException as error:
        if not is_of_subject(error):
            raise
        result = failed_check(check, allowance, "error", f"{type(error).__name__}: {described(error)}")
    isolation = "caller" if pool.is_here else "process"
    return replace(result, isolation=isolation, printed="".join(printed), source=source)


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Result:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    check, allowance = check.planned(allowance)
    evidence = check.nothing(reason, cause)
    return _result(check, allowance, evidence, confirm.judged(check, evidence, allowance), seconds)


def _gather(check: Check, allowance: Allowance) -> tuple[Any, float, dict[str, Any]]:
    """Return evidence as plain data, its duration, and which code was run.

    It runs in a process of its own, and is judged in another.
    """
    started = time.perf_counter()
    with limited(allowance.limit):
        try:
            evidence, _ = confirm.gather(check, allowance)
        except TimedOut:
            found = check.nothing(allowance.out_of_time(check.noun), "hung")
            evidence = replace(found, samples=clock().outputs)
    seconds = time.perf_counter() - started
    return check.sent(evidence), seconds, known_source(check.completed(evidence).subject)


def _gather_and_judge(check: Check, allowance: Allowance) -> Result:
    started = time.perf_counter()
    check, allowance = check.planned(allowance)
    with limited(None):  # a clock of its own
        evidence, judgment = confirm.gather(check, allowance)
    return _result(check, allowance, evidence, judgment, time.perf_counter() - started)


def _result(check: Check, allowance: Allowance, evidence: Any, judgment: Any, seconds: float) -> Result:
    return check.result_type(
        check.completed(evidence),
        check.granted(evidence, allowance.budget),
        allowance.significance,
        evidence,
        judgment,
        seconds,
        confirmation=allowance.confirmation,
    )
