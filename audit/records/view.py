"""Say how the record of a check is shown: in words, in facts and parts of its section on the page, and in pictures.

A view reads plain data of its kind, as a certificate holds it, and returns plain data: templates escape what they show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from audit.records.plots import Axis, Mark, Plot
from audit.text import interval, number

_MOST_BOUNDS = 12  # on the page
_METHODS = {
    "evaluator": "computed without noise by an evaluator",
    "simulation": "simulated losses, with bounds that hold in finite samples",
    "stated values": "values computed and compared",
}

Record = Mapping[str, Any]


class Part(NamedTuple):
    """A part of a check's section on the page: a table under its title, or a title over a text and code."""

    title: str
    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    code: str = ""
    code_label: str = ""  # the name of the code, for listeners
    is_folded: bool = False  # shown when it is opened


@dataclass(frozen=True)
class RecordView:
    """Show the record of a check with stated terms; kinds that show more derive a view of their own."""

    record: Record

    table: ClassVar[str] = "stated"  # that lists it in a terminal: "stated" or "privacy"
    relation: ClassVar[str | None] = None  # which datasets are neighbors, where the claim is about privacy

    @property
    def claimed(self) -> str:
        """The claim, short."""
        claim = self.record["claim"]
        return str(claim.get("summary") or claim.get("statement") or "–")

    @property
    def found(self) -> str:
        """The main finding, short."""
        found = self.record.get("found")
        return _bound(found[-1]) if found else "–"

    @property
    def reason(self) -> str:
        """The reason for the verdict in one clause; the record's own says all of it."""
        return str(self.record["reason"])

    @property
    def basis(self) -> str:
        """The basis of the verdict; empty where there is none."""
        return str(self.record["basis"]).replace("none", "")

    @property
    def floats(self) -> str:
        """The outcome for floating-point numbers: "not audited" or a verdict; empty without such outputs."""
        return ""

    @property
    def method(self) -> str:
        """The way in which the evidence was gathered."""
        used = self.record["evidence"]["uses"]
        return _METHODS.get(used, used)

    @property
    def counterexample(self) -> str:
        """The counterexample as lines of text; empty where the reason says it."""
        return ""

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield the text of the page beside claim, source, method and cost: names and texts."""
        return iter(())

    def parts(self) -> Iterator[Part]:
        """Yield the parts of the section on the page below its facts."""
        head = ("quantity", "from", "to")
        found = self.record.get("found", ())[-_MOST_BOUNDS:]
        rows = [(part["quantity"], number(part["lower"], 6), number(part["upper"], 6)) for part in found]
        if rows:
            yield Part("Bounds that the verdict rests on", head=head, rows=rows)

    def list_pictures(self) -> list[Plot]:
        """Return the pictures for which the evidence has something to show."""
        return [picture for picture in self.draw_pictures() if picture is not None]

    def draw_pictures(self) -> Iterator[Plot | None]:
        """Yield the pictures of the kind, None in place of one that would be empty."""
        yield _bounds(self.record)


def _bound(part: Record) -> str:
    ends = part["lower"], part["upper"]
    is_point = number(ends[0]) == number(ends[1])
    value = number(ends[0]) if is_point else interval(ends)
    if part["quantity"][:1] in "<>=":  # a case: its quantity is named by the bound that it is held against
        return f"{value}, claimed {part['quantity']}"
    if ends[1] == "inf":
        return f"{part['quantity']} ≥ {number(ends[0])}"
    return f"{part['quantity']} {'=' if is_point else 'in'} {value}"


def _bounds(record: Record) -> Plot | None:
    """The bounds that a verdict rests on, for a kind of check without a picture of its own."""
    found = [(part["quantity"], float(part["lower"]), float(part["upper"])) for part in record.get("found", ())]
    shown = [part for part in found if math.isfinite(part[1]) and math.isfinite(part[2])]
    if not shown:
        return None
    axes = Axis.spanning("value", [end for _, *ends in shown for end in ends]), Axis("", high=float(len(shown)))
    plot = Plot("Bounds that the verdict rests on", record["reason"], *axes)
    for place, (quantity, low, high) in enumerate(reversed(shown)):
        y = place + 0.35
        plot.marks.append(Mark("row", "row", quantity, [(plot.x.low, y)]))
        plot.line([(low, y), (high, y)], "measured wide")
        plot.dot(((low + high) / 2, y), "measured-dot", "bounds, right together")
    return plot
