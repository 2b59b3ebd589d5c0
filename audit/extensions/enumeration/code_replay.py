"""Run the code of a check along the graphs that a certificate states for it, or enumerate it again.

A certificate is data, and whoever writes one can invent tables and graphs that agree. So the code is asked: a random
sample of the edges of each stored graph is run, in a watched process. Where no graph is stored, the law is enumerated
again. Claim, pairs, domain and settings must be those of the check, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from audit.api import PrivacyCheck, describe_mechanism, from_plain, shorten, show, to_plain
from audit.extensions.enumeration.enumerated import Enumerated


@dataclass(frozen=True)
class CodeReplay:
    """Say how much of a stated proof was run in the code, and what the code does otherwise."""

    check: str
    edges: int
    tested: int
    enumerated: int  # laws that were enumerated again, since their graphs are not stored
    problems: tuple[str, ...]

    def __str__(self) -> str:
        """Return what was run."""
        again = f", {self.enumerated} laws enumerated again" if self.enumerated else ""
        return f"{self.check}: {self.tested} of {self.edges} edges run{again}"


def replay_code(check: Any, record: Mapping[str, Any], edges: int, seed: int) -> CodeReplay:
    """Return what the code of a check says of the graphs in a record: `edges` of each are run.

    Parameters
    ----------
    check : PrivacyCheck
        The check as its module lists it; its mechanism is run.
    record : mapping
        The record of a check with enumerated laws.
    edges : int >= 1
        Runs for each graph that is stored; each goes over many edges.
    seed : int
        Chooses them. Whoever forges a graph must not know it.
    """
    if not isinstance(check, PrivacyCheck):
        return CodeReplay(record["name"], 0, 0, 0, ("no such check is listed there",))
    problems = list(_differences(check, record))
    if problems:
        return CodeReplay(check.name, 0, 0, 0, tuple(problems))
    (data,) = (way for way in record["evidence"]["ways"] if way["way"] == Enumerated.way)
    stated: Enumerated = from_plain(Enumerated, data)
    settings = to_plain(check.method)
    settings.pop("way")
    sides = list({id(side): side for pair in check.pairs for side in pair}.values())
    if len(sides) != len(stated.graphs):
        return CodeReplay(
            check.name, 0, 0, 0, (f"the check has {len(sides)} datasets, {len(stated.graphs)} are stated",)
        )
    number, tested, again = 0, 0, 0
    for at, (dataset, graph) in enumerate(zip(sides, stated.graphs, strict=True)):
        if not graph.parts:
            again += 1
            problems += _enumerated_again(check, dataset, at, stated, settings)
            continue
        found = _along(check, dataset, graph, settings, edges, seed + at)
        number, tested = number + found.edges, tested + found.tested
        problems += [f"dataset {at}: {said}" for said in found.behind if said not in _stated_behind(stated, at)]
    return CodeReplay(check.name, number, tested, again, tuple(problems))


def _along(check: PrivacyCheck, dataset: Any, graph: Any, settings: dict[str, Any], edges: int, seed: int) -> Any:
    from audit.extensions.enumeration.enumerate import replay_law  # a certificate is read without it

    parts = {name: settings[name] for name in ("time_limit", "rng", "generator")}
    return replay_law(check.mechanism, dataset, graph, edges=edges, seed=seed, **parts)


def _differences(check: PrivacyCheck, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a check is not the one that was recorded."""
    domain = getattr(check.pairs, "domain", None)
    (data,) = (way for way in record["evidence"]["ways"] if way["way"] == Enumerated.way)
    subject = check.subject
    while isinstance(subject, partial):
        subject = subject.func
    due = {
        "mechanism": (describe_mechanism(subject), record["mechanism"]),
        "claim": (check.recorded_claim(), record["claim"]),
        "pairs": ([{"left": show(left), "right": show(right)} for left, right in check.pairs], record["pairs"]),
        "domain": (None if domain is None else to_plain(domain), data["covers"]),
        "method": (check.recorded_settings()["method"], record["settings"]["method"]),
    }
    for part, (own, stated) in due.items():
        if own != stated:
            yield f"{part} is {shorten(str(own))}, the certificate says {shorten(str(stated))}"


def _stated_behind(stated: Enumerated, at: int) -> set[str]:
    return {said for part in stated.laws if at in part.graphs for said in part.behind}


def _enumerated_again(
    check: PrivacyCheck, dataset: Any, at: int, stated: Enumerated, settings: dict[str, Any]
) -> Iterator[str]:
    """Yield how a law is another one than stated: brackets that exclude one another."""
    from audit.extensions.enumeration import enumerate_law
    from audit.extensions.enumeration.enumerated_law import Table, contradicted

    part = next(part for part in stated.laws if at in part.graphs)
    table = part.tables()[part.graphs.index(at)]
    law = enumerate_law(check.mechanism, dataset, **settings)
    yield from (f"dataset {at}: {said}" for said in law.behind if said not in part.behind)
    found = Table({shorten(text): probability for text, probability in law.texts.items()}, law.residual)
    for text in contradicted(found, table):
        own, said = (float(each.texts.get(text, 0)) for each in (found, table))
        yield f"dataset {at}: {text} has probability {own:.6g}, stated is {said:.6g}"
