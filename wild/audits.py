"""The audits of a library as data, and those of another release of it by the same checks.

`wild/<library>/audits.toml` has a table for each check: name, key of `MECHANISMS` where that is not in the name, claim,
source, pairs as Python literals, and settings; and one for those whose parameters are searched (`searched.py`). A
release with `[sibling]` in place of checks is audited by those of the release that it names.
"""

from __future__ import annotations

import ast
import fnmatch
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from audit import AddRemove, Distance, Group, Labeled, Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Substitution
from wild.environments import AUDITS, CATALOGUE
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
class Sibling:
    """Another release of a library, with the same names in `served.py`.

    Parameters
    ----------
    library : str
        The folder of the other release.
    of : str
        The folder of the release whose checks it takes.
    prefix : str
        Name of the other release in the names of the checks, before the slash.
    release : (str, str)
        What sources call the one release, and what they are to call the other.
    kept : sequence of str
        Shell patterns of the part of the names after the slash.
    """

    library: str
    of: str
    prefix: str
    release: tuple[str, str]
    kept: Sequence[str] = ("*",)

    def cast(self, checks: Sequence[Any]) -> list[Any]:
        """Return checks of the one release for this one."""
        return [
            replace(
                check,
                name=f"{self.prefix}/{_own_name(check)}",
                mechanism=Served(self.library, check.mechanism.name, own_randomness=check.mechanism.own_randomness),
                claim=replace(check.claim, source=check.claim.source.replace(*self.release)),
            )
            for check in checks
        ]

    def audits(self) -> Audits:
        """Return the checks whose names match, and what was left out."""
        there = audits_of(self.of)
        matching = [
            check for check in there.checks if any(fnmatch.fnmatchcase(_own_name(check), kept) for kept in self.kept)
        ]
        gaps = (
            f"All but {len(matching)} of the checks of {self.release[0]}, whose page lists what neither release was "
            "audited for.",
            f"The causes are those in {self.release[0]}: the lines of this release were not read one by one.",
        )
        return Audits(self.cast(matching), there.repository, gaps, self)


class Audits(NamedTuple):
    """Hold the checks of a release, and what no certificate says: its public repository, and what was not audited."""

    checks: list[Any]
    repository: str = ""
    not_audited: tuple[str, ...] = ()
    sibling: Sibling | None = None


@cache
def audits_of(library: str) -> Audits:
    """Return the audits of a library."""
    data = tomllib.loads((CATALOGUE / library / AUDITS).read_text(encoding="utf-8"))
    if (sibling := data.get("sibling")) is not None:
        return Sibling(library, **{**sibling, "release": tuple(sibling["release"])}).audits()
    checks = checks_of(data, library)
    return Audits(checks, data.get("repository", ""), tuple(data["not_audited"]))


def checks_of(data: Mapping[str, Any], library: str) -> list[Any]:
    """Return the checks of a table, of the mechanisms of a library."""
    checks = [_check({**_CLAIM, **data.get("default", {}), **row}, library) for row in data.get("check", ())]
    for row in ({"own_randomness": True, **row} for row in data.get("search", ())):
        pairs = row["pairs"] if isinstance(row["pairs"], str) else _pairs(row["pairs"])
        checks += searches_of(row, library, RELATIONS[row["relation"]], pairs)
    return checks


def _pairs(literals: Sequence[str]) -> list[tuple[Any, ...]]:
    return [tuple(_dataset(side) for side in ast.literal_eval(pair)) for pair in literals]


def _check(row: Mapping[str, Any], library: str) -> Any:
    served = row.get("served", row["name"].partition("/")[2].partition(" eps=")[0])
    settings = {name: row[name] for name in ("budget", "tolerance") if name in row}
    settings |= {} if row["bits"] else {"method": "fixed"}
    settings |= {"query": sum} if row.get("query") == "sum" else {}
    return (PrecisionCheck if row["bits"] else PrivacyCheck)(
        name=row["name"],
        mechanism=Served(library, served, own_randomness=row["own_randomness"]),
        claim=PrivacyClaim(row["epsilon"], row["delta"], RELATIONS[row["relation"]], row["source"]),
        pairs=_pairs(row["pairs"]),
        **settings,
    )


def _dataset(side: Any) -> Any:
    return Labeled(side["X"], side["y"]) if isinstance(side, dict) and set(side) == {"X", "y"} else side


def _own_name(check: Any) -> str:
    """Return the name of a check without its library: the same for all releases."""
    return str(check.name).partition("/")[2]
