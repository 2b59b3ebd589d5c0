"""Run one check: gather its evidence here or in a process of its own, judge it, and return the result.

The functions `audit.check_...` run a check alone, without a run around it. `documented` completes their docstrings from
those of their classes.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from typing import Any, TypeVar

from audit.checks.base import UNNAMED, Check, Result, describe_source
from audit.errors import AuditError
from audit.evidence.base import (
    Allowance,
    find_confirming_level,
    is_refuted,
    judge_confirmed,
    list_fresh_allowances,
)
from audit.execution.deadline import TimedOut, clock, collecting_rarely, is_of_subject, limit_time
from audit.execution.seeds import HERE, Place
from audit.execution.workers import Pool, open_pool
from audit.text import describe_error
from audit.validate import Budget
from audit.verdict import note_made

F = TypeVar("F", bound=Callable[..., Result])
_COMMON = {  # parameters of the functions, and their descriptions
    "expected": """ : Verdict
    Verdict that `result.met` compares with.""",
    "name": """ : str, optional
    Shown in messages; the name of the code under audit unless given.""",
    "significance": """ : float in (0, 1)
    Probability that a true claim is suspected, and tested again on fresh outputs. Evidence that cannot be drawn
    again is judged FAIL at `confirmation`, and is INCONCLUSIVE where it refutes the claim at 0.001 only.""",
    "confirmation": """ : float in (0, 1), optional
    Probability of a wrong FAIL. None: the first outputs decide, and the probability is `significance`.""",
    "seed": """ : int >= 0
    The same seed gives the same evidence, for any number of workers.""",
    "timeout": """ : float > 0, optional
    Run in a process of its own and stop it after this many seconds: for code that may hang or die. The limit ends the
    drawing, and the outputs so far are judged.""",
    "workers": """ : int >= 0, optional
    Processes of this machine that share the certifying outputs if drawing takes long: by default one for each
    available core. 0 means this process.""",
}


def run_alone(
    check: Check, budget: Budget, significance: float, confirmation: float | None, seed: int, workers: int | None = 0
) -> Any:
    """Run a check at a significance of its own; return its result, of the type that its kind has."""
    if check.name == UNNAMED:
        object.__setattr__(check, "name", check.usual_name)
    allowance = Allowance.of(budget, significance, seed, workers, confirmation)
    result = run_check(check, allowance, check.timeout)
    note_made(result)
    return result


def document_from(kind: type[Check]) -> Callable[[F], F]:
    """Return a decorator that completes the docstring of the function that runs a kind alone from that of its class.

    The class shows the examples of its function where it has none.
    """

    def complete(function: F) -> F:
        names = inspect.signature(function).parameters
        parts = {**_sections(kind), **_sections(function)}
        common = (name + text for name, text in _COMMON.items() if name in names)
        own = _entries(parts["Parameters"], names.keys() - _COMMON)
        parts["Parameters"] = "\n".join(["Parameters\n----------", *own, *common])
        parts.setdefault("Returns", f"Returns\n-------\n{kind.result_type.__name__}")
        order = ("", "Parameters", "Returns", "Raises", "References", "Examples")
        function.__doc__ = "\n\n".join(parts[title] for title in order if title in parts)
        if "Examples" in parts.keys() - _sections(kind).keys():
            kind.__doc__ = f"{inspect.getdoc(kind)}\n\n{parts['Examples']}"
        return function

    return complete


def _sections(thing: Any) -> dict[str, str]:
    """Return the parts of a docstring by their titles; the first one has none."""
    parts = re.split(r"\n\n(?=\w+\n---)", inspect.getdoc(thing) or "")
    return {"": parts[0], **{part.partition("\n")[0]: part for part in parts[1:]}}


def _entries(section: str, names: Set[str]) -> Iterator[str]:
    """Yield the entries of a list of parameters, with those of their names that are asked for."""
    for entry in re.split(r"\n(?=\w)", section)[1:]:
        head, text = entry.split("\n", 1)
        listed, *form = head.split(" : ")
        if kept := [name for name in listed.split(", ") if name in names]:
            yield " : ".join([", ".join(kept), *form]) + f"\n{text}"


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
    check, allowance = check.plan(allowance)
    allowance = allowance.limit_time(timeout)
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

        def gather(allowed: Allowance) -> Any:
            nonlocal seconds
            evidence, taken, found = pool.call(_gather, check, allowed, timeout=timeout, hear=printed.append)
            source.update(found)
            seconds += float(taken)
            return check.unpack_evidence(evidence)

        evidence, judgment = confirm_evidence(  # it is, unless the subject has kept its process from that
            check, gather(there), there, lambda level: map(gather, list_fresh_allowances(there, level))
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
        result = failed_check(check, allowance, "error", f"{type(error).__name__}: {describe_error(error)}")
    isolation = "caller" if pool.is_here else "process"
    return replace(result, isolation=isolation, printed="".join(printed), source=source)


@collecting_rarely()
def gather_evidence(check: Check, allowance: Allowance) -> tuple[Any, Any]:
    """Return the evidence of a check, with fresh outputs where the first ones refute the claim, and its judgment."""
    evidence = check.gather(allowance)
    return confirm_evidence(check, evidence, allowance, lambda level: check.confirm(evidence, allowance, level))


def confirm_evidence(
    check: Check, evidence: Any, allowance: Allowance, looks: Callable[[float], Iterable[Any]]
) -> tuple[Any, Any]:
    """Return evidence, with that of fresh outputs where it lacks it, and its judgment.

    `looks` gathers from fresh outputs, to be judged at a level.
    """
    terms = check.complete(evidence).terms()
    first = check.judge(terms, evidence, allowance.significance)
    level = find_confirming_level(allowance.significance, allowance.confirmation, evidence.spent)
    if is_refuted(first) and level is not None and not evidence.is_final and evidence.confirmation is None:
        drawn, fresh = 0, None
        try:
            for fresh in looks(level):
                drawn += fresh.samples
                if is_refuted(check.judge(terms, fresh, level)):
                    break
        except TimedOut:
            fresh = check.observe_nothing(allowance.out_of_time(check.noun), "hung")
        if fresh is not None:
            evidence = replace(evidence, confirmation=replace(fresh, samples=drawn))
    levels = allowance.significance, allowance.confirmation
    return evidence, judge_confirmed(check, terms, evidence, *levels, first)


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Result:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    check, allowance = check.plan(allowance)
    evidence, judgment = confirm_evidence(check, check.observe_nothing(reason, cause), allowance, lambda level: ())
    return _result(check, allowance, evidence, judgment, seconds)


def _gather(check: Check, allowance: Allowance) -> tuple[Any, float, dict[str, Any]]:
    """Return evidence as plain data, its duration, and which code was run.

    It runs in a process of its own, and is judged in another.
    """
    started = time.perf_counter()
    with limit_time(allowance.limit):
        try:
            evidence, _ = gather_evidence(check, allowance)
        except TimedOut:
            found = check.observe_nothing(allowance.out_of_time(check.noun), "hung")
            evidence = replace(found, samples=clock().outputs)
    seconds = time.perf_counter() - started
    return check.pack_evidence(evidence), seconds, describe_source(check.complete(evidence).subject)


def _gather_and_judge(check: Check, allowance: Allowance) -> Result:
    started = time.perf_counter()
    check, allowance = check.plan(allowance)
    with limit_time(None):  # a clock of its own
        evidence, judgment = gather_evidence(check, allowance)
    return _result(check, allowance, evidence, judgment, time.perf_counter() - started)


def _result(check: Check, allowance: Allowance, evidence: Any, judgment: Any, seconds: float) -> Result:
    budget = allowance.budget if evidence.searched is None else evidence.searched.budget  # after a search: its claim's
    return check.result_type(
        check.complete(evidence),
        int(budget),
        allowance.significance,
        evidence,
        judgment,
        seconds,
        confirmation=allowance.confirmation,
    )
