"""Audit another release of a library by the checks of one that is audited already."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple

from wild.about import About
from wild.mechanism import Served


class Recast(NamedTuple):
    """Hold what the `audits.py` of another release defines."""

    checks: list[Any]
    notes: dict[str, str]
    about: About


@dataclass(frozen=True)
class Sibling:
    """Another release of a library.

    Parameters
    ----------
    library : str
        The folder of the other release, whose `served.py` has the same names.
    prefix : str
        Name of the other release in the names of the checks, before the slash.
    release : (str, str)
        What sources call the one release, and what they are to call the other.
    """

    library: str
    prefix: str
    release: tuple[str, str]

    def cast(self, checks: Sequence[Any]) -> list[Any]:
        """Return checks of the one release for this one."""
        return [
            replace(
                check,
                name=self._named(check.name),
                mechanism=Served(self.library, check.mechanism.name, own_randomness=check.mechanism.own_randomness),
                claim=replace(check.claim, source=check.claim.source.replace(*self.release)),
            )
            for check in checks
        ]

    def recast(self, audits: ModuleType, kept: Sequence[str] = ("*",)) -> Recast:
        """Return the checks of an `audits.py` whose names match, with what explains them.

        Parameters
        ----------
        audits : module
            Of the release that is audited already.
        kept : sequence of str
            Shell patterns of the part of the names after the slash.
        """
        matching = [
            check
            for check in audits.CHECKS
            if any(fnmatch.fnmatchcase(check.name.partition("/")[2], pattern) for pattern in kept)
        ]
        old = getattr(audits, "NOTES", {})
        notes = {self._named(check.name): old[check.name] for check in matching if check.name in old}
        gaps = (
            f"All but {len(matching)} of the checks of {self.release[0]}, whose page lists what neither release was "
            "audited for.",
            f"The causes are those in {self.release[0]}: the lines of this release were not read one by one.",
        )
        return Recast(self.cast(matching), notes, replace(audits.ABOUT, not_audited=gaps))

    def _named(self, name: str) -> str:
        return f"{self.prefix}/{name.partition('/')[2]}"
