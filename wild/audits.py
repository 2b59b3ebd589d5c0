"""The audits of a library as data: `wild/<library>/audits.toml`, and the checks of its findings.

A table `[[check]]` has a name, the key of `MECHANISMS` where that is not in the name, the claim with its source, pairs
as Python literals, and settings. `[[searched]]` is for checks whose parameters are searched (`searched.py`).
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from audit import AddRemove, Distance, Group, Labeled, Local, PrivacyCheck, PrivacyClaim, Substitution
from wild.environments import AUDITS, CATALOGUE, Environment, pin_of
from wild.mechanism import Served
from wild.searched import searches_of

RELATIONS = {
    "add/remove": AddRemove(),
    "substitution": Substitution(),
    "local": Local(),
    "l1": Distance("l1", 1.0),
    "add/remove of 2": Group(2, AddRemove()),
}
_CLAIM = {"epsilon": 1.0, "delta": 0.0, "relation": "add/remove", "own_randomness": True, "bits": False}


@dataclass(frozen=True)
class Caveat:
    """Words of a library's documentation that a person found to limit its promise, and their place."""

    quote: str
    place: str


class Audits(NamedTuple):
    """Hold the checks of a library, what was not audited, and the caveats of its documentation."""

    checks: list[Any]
    not_audited: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()


@cache
def audits_of(library: str) -> Audits:
    """Return the audits of a library, without those of its findings."""
    data = tomllib.loads((CATALOGUE / library / AUDITS).read_text(encoding="utf-8"))
    said = tuple(Caveat(**each) for each in data.get("caveat", ()))
    return Audits(checks_of(data, library), tuple(data["not_audited"]), said)


def checks_of(data: Mapping[str, Any], library: str) -> list[Any]:
    """Return the checks of a table, of the mechanisms of a library."""
    checks = [_check({**_CLAIM, **data.get("default", {}), **row}, library) for row in data.get("check", ())]
    for row in ({"own_randomness": True, **row} for row in data.get("searched", ())):
        pairs = row["pairs"] if isinstance(row["pairs"], str) else _pairs(row["pairs"])
        checks += searches_of(row, library, RELATIONS[row["relation"]], pairs)
    return checks


def in_environment(check: Any, environment: Environment) -> Any:
    """Return a check for another release of its library: its source names that one."""
    if environment.is_pinned:
        return check
    pinned, (package, version) = pin_of(environment.library), environment.pin
    mechanism = replace(check.mechanism, release=f"{package}=={version}")
    source = check.claim.source.replace(f" {pinned.version}", f" {version}")
    return replace(check, mechanism=mechanism, claim=replace(check.claim, source=source))


def _pairs(literals: Sequence[str]) -> list[tuple[Any, ...]]:
    return [tuple(_dataset(side) for side in ast.literal_eval(pair)) for pair in literals]


def _check(row: Mapping[str, Any], library: str) -> Any:
    served = row.get("served", row["name"].partition("/")[2].partition(" eps=")[0])
    settings = {name: row[name] for name in ("budget", "tolerance") if name in row}
    settings |= {"floats": "audit"} if row["bits"] else {}
    return PrivacyCheck(
        name=row["name"],
        mechanism=Served(library, served, own_randomness=row["own_randomness"]),
        claim=PrivacyClaim(row["epsilon"], row["delta"], RELATIONS[row["relation"]], row["source"]),
        pairs=_pairs(row["pairs"]),
        method="fixed",
        **settings,
    )


def _dataset(side: Any) -> Any:
    return Labeled(side["X"], side["y"]) if isinstance(side, dict) and set(side) == {"X", "y"} else side
