"""Entries of this library's catalog: each becomes a check, with its remark or explanation."""

from __future__ import annotations

from typing import Any

from audit import AddRemove, Local, Substitution
from wild.entry import Entry, Pairs, Release

RELEASE = Release("diffprivlib", "diffprivlib", "diffprivlib 0.6.6", own_randomness=False)
REPLACED, ADDED, ANY_RECORD = Substitution(), AddRemove(), Local()
EPSILON = "Privacy parameter epsilon for the mechanism"


def entry(served: str, pairs: Pairs, *, says: str = EPSILON, where: str = "", **settings: Any) -> Entry:
    """Return one audited claim; `says` is a sentence of the docstring of `where`, or else of what is served."""
    source = f'docstring of {where or served}: "{says}"'
    return RELEASE.entry(served, pairs, source, **{"relation": REPLACED, **settings})
