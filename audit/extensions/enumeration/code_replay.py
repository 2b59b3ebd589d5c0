"""Enumerate the code of a check again, and draw fresh outputs of it, beside the laws that a certificate states.

A certificate is data, and whoever writes one can invent tables and counts that agree. So the code is asked. Claim,
pairs, domain and settings must be those of the check, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from audit.api import PrivacyCheck, describe_mechanism, from_plain, shorten, show, to_plain
from audit.extensions.enumeration.enumerated import Enumerated, enumerate_datasets
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, Table, contradicted


@dataclass(frozen=True)
class CodeReplay:
    """Say how much of a stated proof was found again in the code, and what the code does otherwise."""

    check: str
    laws: int  # that were enumerated again
    outputs: int  # that were drawn beside them
    problems: tuple[str, ...]

    def __str__(self) -> str:
        """Return what was run."""
        return f"{self.check}: {self.laws} laws enumerated again, {self.outputs:,} outputs drawn"


def replay_code(check: Any, record: Mapping[str, Any], seed: int) -> CodeReplay:
    """Return what the code of a check says of the laws in a record.

    Parameters
    ----------
    check : PrivacyCheck
        The check as its module lists it; its mechanism is run.
    record : mapping
        The record of a check with enumerated laws.
    seed : int
        Of the outputs that are drawn. Whoever forges a law must not know it.
    """
    if not isinstance(check, PrivacyCheck):
        return CodeReplay(record["name"], 0, 0, ("no such check is listed there",))
    problems = list(_differences(check, record))
    if problems:
        return CodeReplay(check.name, 0, 0, tuple(problems))
    (data,) = (way for way in record["evidence"]["ways"] if way["way"] == Enumerated.way)
    stated: Enumerated = from_plain(Enumerated, data)
    settings = to_plain(check.method)
    settings.pop("way")
    laws = enumerate_datasets(check.mechanism, check.pairs, settings, seed)
    if len(laws) != len(stated.outputs):
        problems = [f"the check has {len(laws)} datasets, {len(stated.outputs)} are stated"]
    else:
        problems = [f"dataset {at}: {said}" for at, law in enumerate(laws) for said in _against(law, at, stated)]
    drawn = sum(sum(law.outputs.values()) for law in laws)
    return CodeReplay(check.name, len(laws), drawn, tuple(problems))


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


def _against(law: EnumeratedLaw, at: int, stated: Enumerated) -> Iterator[str]:
    """Yield how a law of the code is another one than stated: brackets that exclude one another, or what was seen."""
    part = next(part for part in stated.laws if at in part.datasets)
    table = part.tables()[part.datasets.index(at)]
    yield from (said for said in law.behind if said not in part.behind)
    found = Table({shorten(text): probability for text, probability in law.texts.items()}, law.residual)
    for text in contradicted(found, table):
        own, said = (float(each.texts.get(text, 0)) for each in (found, table))
        yield f"{text} has probability {own:.6g}, stated is {said:.6g}"
