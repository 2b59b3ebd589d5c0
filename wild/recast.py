"""Audit another release of a library by the checks of one that is audited already."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

from audit import Verdict
from wild.about import About
from wild.mechanism import Served


class Recast(NamedTuple):
    """Hold what the `audits.py` of another release defines."""

    checks: list[Any]
    notes: dict[str, str]
    about: About


def recast(
    audits: ModuleType,
    library: str,
    prefix: str,
    release: tuple[str, str],
    kept: Sequence[str] = ("*",),
    expected: Mapping[str, Verdict] | None = None,
) -> Recast:
    """Return the checks whose names match, for another release, with what explains them.

    Parameters
    ----------
    audits : module
        The `audits.py` of the release that is audited already.
    library : str
        The folder of the other release, whose `served.py` has the same names.
    prefix : str
        Name of the other release in the names of the checks, before the slash.
    release : (str, str)
        What sources call the one release, and what they are to call the other.
    kept : sequence of str
        Shell patterns of the part of the names after the slash.
    expected : mapping, optional
        Shell pattern -> the verdict that is expected of the other release, where it differs.
    """
    checks, notes = [], {}
    for check in audits.CHECKS:
        name = check.name.partition("/")[2]
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in kept):
            continue
        differs = [said for pattern, said in (expected or {}).items() if fnmatch.fnmatchcase(name, pattern)]
        old = check.mechanism
        other = replace(
            check,
            name=f"{prefix}/{name}",
            mechanism=Served(library, old.name, own_randomness=old.own_randomness),
            claim=replace(check.claim, source=check.claim.source.replace(*release)),
            expected=differs[0] if differs else check.expected,
        )
        checks.append(other)
        if check.name in audits.NOTES and not differs:
            notes[other.name] = audits.NOTES[check.name]
    return Recast(checks, notes, _about(audits.ABOUT, [check.name for check in checks], release[0]))


def _about(other: About, names: Sequence[str], audited: str) -> About:
    def matching(texts: Mapping[str, str]) -> dict[str, str]:
        return {pattern: text for pattern, text in texts.items() if fnmatch.filter(names, pattern)}

    gaps = (
        f"All but {len(names)} of the checks of {audited}, whose page lists what neither release was audited for.",
        f"The causes are those in {audited}: the lines of this release were not read one by one.",
    )
    return replace(other, not_audited=gaps, upstream=matching(other.upstream), access=matching(other.access))
