"""State what the parts of a certificate have to do with each other: evidence, plan, and what surrounds the checks.

The rules hold for whatever a run writes. Evidence says how it contradicts itself, its check or its run
(`Evidence.contradictions`); the rest is here. Invented evidence that agrees with itself is not revealed. See
docs/threat-model.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

from audit.certificate.document import digest, planned_terms
from audit.checks.base import Evidence
from audit.checks.recorded import RecordedCase

_ROUNDING = 1e-9  # relative
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

Record = Mapping[str, Any]


def broken_rules(certificate: Record, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what contradicts a rule, one line each; `evidence` is what was read of a certificate that has its form."""
    names = Counter(check["name"] for check in certificate["checks"])
    yield from (f"{name}: listed {many} times" for name, many in names.items() if many > 1)
    seed = certificate["settings"]["seed"]
    for check, found in zip(certificate["checks"], evidence, strict=True):
        yield from (f"{check['name']}: {said}" for said in contradictions_of(check, found, seed))
    yield from _unplanned(certificate, evidence)
    yield from _misplaced(certificate, names)


def contradictions_of(record: Record, evidence: Evidence, seed: int) -> Iterator[str]:
    """Yield what the evidence of a record says against itself or its check; `seed` is that of the run."""
    case = RecordedCase(record, evidence, seed, record["settings"]["budget"])
    yield from _contradictions(case)
    looks = [list(_contradictions(look)) for look in evidence.fresh_cases(case)]
    if looks and all(looks):  # its fresh outputs are from none of the looks that there may be
        yield from (f"on fresh outputs, {said}" for said in looks[0])


def _contradictions(case: RecordedCase) -> Iterator[str]:
    """Yield what evidence says against itself; numbers with which it cannot be asked contradict it as well."""
    try:
        yield from case.evidence.contradictions(case)
    except _UNREADABLE as error:  # texts where numbers are due, numbers of no size: no run writes them
        yield f"its evidence has numbers that no run writes: {error!r}"


def _misplaced(certificate: Record, names: Iterable[str]) -> Iterator[str]:
    """Yield parts about checks that are not listed, and sources outside of the folders that readers have."""
    for part in ("isolation", "sources", "printed"):
        yield from (f"{part}: no check is called {name!r}" for name in certificate.get(part, {}) if name not in names)
    for name, source in certificate.get("sources", {}).items():
        file = PurePosixPath(source.get("file") or "")
        if file.is_absolute() or ".." in file.parts:
            yield f"{name}: its source is not below a folder of the run"


def _same(value: float, due: float) -> bool:
    return math.isclose(value, due, rel_tol=_ROUNDING)


def _shares_confirmation(own: Record, settings: Record) -> bool:
    """Test whether a check has the part of the run's confirmation that it has of its significance."""
    whole, part = settings.get("confirmation"), own.get("confirmation")
    if whole is None or part is None:
        return whole == part
    return _same(part * settings["significance"], whole * own["significance"])


def _unplanned(certificate: Record, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield where the checks are not those of the plan, or the plan does not share out the run's significance."""
    plan, settings = certificate["plan"], certificate["settings"]
    nothing: Any = {}
    for entry, check, drawn in zip_longest(plan["checks"], certificate["checks"], evidence, fillvalue=nothing):
        if entry.get("check") != check.get("name"):
            yield f"plan: {entry.get('check', 'nothing')} was planned where {check.get('name', 'nothing')} is listed"
            break
        own, due = check["settings"], {**entry, "budget": entry["budget"] or settings["budget"]}
        if isinstance(due["budget"], str):  # a name, from which every check computes its own
            del due["budget"]
        found = {"budget": own["budget"], "share": own["significance"], **planned_terms(check, drawn)}
        if entry["claim"] is not None:  # a plan may also name the claim that a search found
            found["claim"] = digest(check["claim"])
        if not _shares_confirmation(own, settings):
            yield f"{check['name']}: its confirmation is not its share of the run's"
        keys = [key for key in due if due[key] != {**check, "check": check["name"], **found}[key]]
        yield from (f"{check['name']}: its {key} is not the planned one" for key in keys)
    shares, whole = [entry["share"] for entry in plan["checks"]], settings["significance"]
    if plan["shared"] == "equally" and not all(_same(share * len(shares), whole) for share in shares):
        yield f"plan: its {len(shares)} shares are not equal parts of the significance {whole:g}"
    if not _same(sum(shares) + plan["unspent"], whole):
        yield f"plan: its shares and what was not spent add up to {sum(shares) + plan['unspent']:g}, not {whole:g}"
