"""Compare two certificates: regressions, and other changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.api import BASES, summary

_BASES = [*BASES]

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One difference: the check, the change, and whether that is for the worse."""

    check: str
    what: str
    is_regression: bool = True

    def __str__(self) -> str:
        return f"{'worse' if self.is_regression else 'other'}  {self.check}: {self.what}"


def list_changes(old: Record, new: Record) -> list[Change]:
    """Return the differences of two certificates, regressions first."""
    before = {check["name"]: check for check in old["checks"]}
    after = {check["name"]: check for check in new["checks"]}
    lost = [Change(name, "no longer checked") for name in before if name not in after]
    more = [Change(name, "is new", False) for name in after if name not in before]
    both = [name for name in before if name in after]
    seen = [Change(name, *found) for name in both for found in _compare(before[name], after[name])]
    return sorted([*lost, *seen, *more], key=lambda change: not change.is_regression)


def _compare(old: Record, new: Record) -> Iterator[tuple[str, bool]]:
    """Yield each change, and whether it is for the worse; another claim needs a review."""
    if (old["verdict"], old["basis"]) != (new["verdict"], new["basis"]):
        stood, stands = summary.standing_of(old), summary.standing_of(new)
        weaker = stands is stood and _BASES.index(old["basis"]) < _BASES.index(new["basis"])
        said = f"{old['verdict']} ({old['basis']}) became {new['verdict']} ({new['basis']}): {new['reason']}"
        yield said, stands.severity > stood.severity or weaker
    if old["expected"] != new["expected"]:
        yield f"expected {old['expected']}, now expected {new['expected']}", new["expected"] != "PASS"
    was, now = ({**record["claim"], "source": ""} for record in (old, new))
    if was != now:
        yield f"claimed {summary.find_view(old).claimed}, now {summary.find_view(new).claimed}", True
    before, after = (record["settings"].get("tolerance") for record in (old, new))
    if before != after:
        yield f"tolerance was {before}, is {after}", after is not None and after > (before or 0)
