"""Say how the record of a check is shown: in words, in facts and parts of its section on the page, and in pictures.

A view reads plain data of its kind, as a certificate holds it, and returns plain data: templates escape what they show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from audit.certificate.plots import Axis, Mark, Plot
from audit.text import interval, number

_SAME = 1e-4  # relative: computed numbers may differ in their last digits from machine to machine
_MOST_BOUNDS = 12  # on the page
_LOOSER_IF_LARGER = ("tolerance", "slack", "margin", "constant_margin", "beta")
_METHODS = {
    "evaluator": "computed without noise by an evaluator",
    "simulation": "simulated losses, with bounds that hold in finite samples",
    "stated values": "values computed and compared",
}

Record = Mapping[str, Any]
Changes = Iterator[tuple[str, bool]]  # what changed, and whether that is for the worse


class Part(NamedTuple):
    """A part of a check's section on the page: a table under its title, or a title over a text and code."""

    title: str
    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    code: str = ""
    code_label: str = ""  # what the code is, for who hears the page
    is_folded: bool = False  # shown when it is opened


@dataclass(frozen=True)
class RecordView:
    """Show the record of a check with stated terms; kinds that show more derive a view of their own."""

    record: Record

    table: ClassVar[str] = "stated"  # that lists it in a terminal: "stated", "privacy" or "randomness"
    relation: ClassVar[str | None] = None  # which datasets are neighbors, where the claim is about privacy

    @property
    def claimed(self) -> str:
        """The claim, short."""
        claim = self.record["claim"]
        return str(claim.get("summary") or claim.get("statement") or "–")

    @property
    def units(self) -> str:
        """The claim for the page, with Greek letters."""
        return self.claimed

    @property
    def found(self) -> str:
        """The main finding, short."""
        found = self.record.get("found")
        return _bound(found[-1]) if found else "–"

    @property
    def bound(self) -> Any:
        """The bound of epsilon, or the main finding."""
        return self.found

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
        """Yield what the page says beside claim, source, method and cost: names and texts."""
        return iter(())

    def parts(self) -> Iterator[Part]:
        """Yield the parts of the section on the page below its facts."""
        head = ("quantity", "from", "to")
        found = self.record.get("found", ())[-_MOST_BOUNDS:]
        rows = [(part["quantity"], number(part["lower"], 6), number(part["upper"], 6)) for part in found]
        if rows:
            yield Part("Bounds that the verdict rests on", head=head, rows=rows)

    def pictures(self) -> list[Plot]:
        """Return the pictures for which the evidence has something to show."""
        return [picture for picture in self.drawn() if picture is not None]

    def drawn(self) -> Iterator[Plot | None]:
        """Yield the pictures of the kind, None in place of one that would be empty."""
        yield _bounds(self.record)

    def changed_claim(self, new: Any) -> Changes:
        """Yield how the claim of a later record of the kind differs."""
        was, now = ({**record["claim"], "source": ""} for record in (self.record, new.record))
        if was == now:
            return
        if was.get("terms") == now.get("terms"):
            yield f"claimed {self.claimed}, now {new.claimed}", False
            return
        stated, states = was.get("terms", {}), now.get("terms", {})
        for key in sorted({*stated, *states}):
            before, after = stated.get(key), states.get(key)
            if before != after:  # larger margins are looser; any other change has to be looked at
                tighter = key in _LOOSER_IF_LARGER and float(after or 0) < float(before or 0)
                yield f"{key} of the claim was {plain(before)}, is {plain(after)}", not tighter

    def changed_numbers(self, new: Any) -> Changes:
        """Yield the quantities whose intervals in a later record of the kind lie apart from those of this one."""
        before = {part["quantity"]: part for part in self.record.get("found", ())}
        for part in new.record.get("found", ()):
            quantity = part["quantity"]
            if quantity not in before:
                continue
            was, now = ((float(each["lower"]), float(each["upper"])) for each in (before[quantity], part))
            grown, shrunk = now[0] > was[1] and apart(was[1], now[0]), now[1] < was[0] and apart(was[0], now[1])
            if grown or shrunk:
                wanted_large = "exponent" in quantity or new.record["claim"]["terms"].get("sense") == ">="
                yield f"{quantity} was in {interval(was)}, is in {interval(now)}", shrunk if wanted_large else grown


def apart(was: float, now: float) -> bool:
    """Return whether numbers differ by more than the machine they were computed on."""
    return not math.isclose(was, now, rel_tol=_SAME, abs_tol=1e-9)


def plain(value: Any) -> str:
    """Return a setting in words."""
    return number(value) if isinstance(value, float) else str(value)


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
