"""State what no certificate says about an audited release: its repository, what was left out, what upstream knows."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

ONE_RESULT = "one released result, as the library returns it"
ALL_BITS = "one released floating-point number with all its bits; rounded to a few digits, it does not tell"
NOT_REPORTED = "not reported by this project, which has not searched the tracker for it"


@dataclass(frozen=True)
class About:
    """Facts about a library that its `audits.py` states as `ABOUT`.

    Parameters
    ----------
    repository : str
        Public repository, as `owner/name`; empty when there is none.
    not_audited : tuple of str
        Parts of the public interface that no check calls, each with the reason where it is not lack of time.
    upstream : mapping
        Shell pattern of names of checks -> what the library's maintainers know, with repository and issue number.
    access : mapping
        Shell pattern of names of checks -> what an adversary must see or choose, where it is not one result.
    """

    repository: str = ""
    not_audited: tuple[str, ...] = ()
    upstream: Mapping[str, str] = field(default_factory=dict)
    access: Mapping[str, str] = field(default_factory=dict)

    def known(self, name: str) -> str:
        """Return what upstream knows about the finding of a check."""
        return _matching(self.upstream, name) or NOT_REPORTED

    def needed(self, name: str, kind: str) -> str:
        """Return what an adversary needs for the finding of a check of this kind."""
        return _matching(self.access, name) or (ALL_BITS if kind == "precision" else ONE_RESULT)


def _matching(texts: Mapping[str, str], name: str) -> str:
    return next((text for pattern, text in texts.items() if fnmatch.fnmatchcase(name, pattern)), "")
