"""Say how the record of a check is shown: in words, in facts and parts of its section on the page, and in pictures.

A view reads plain data of its kind, as a certificate holds it, and returns plain data: templates escape their text.

Plots are plain data too: axes, marks and a legend, which the templates draw as SVG.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from audit.text import interval, number

ALLOWED = "allowed by the claim"  # the meaning of an area
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_DECADES = 7  # ticks of a logarithmic axis, at most
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Point = tuple[float, float]
Points = Sequence[Point]


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its ends, and its scale."""

    label: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False

    @classmethod
    def spanning(cls, label: str, values: Iterable[float], log: bool = False, margin: float = 0.06) -> Axis:
        """Return an axis that shows all finite values with a margin; a logarithmic one shows the positive ones."""
        kept = [value for value in values if math.isfinite(value) and (value > 0 or not log)] or [1.0]
        low, high = min(kept), max(kept)
        if log:
            ratio = max(high / low, 10.0) ** margin
            return cls(label, low / ratio, high * ratio, True)
        pad = (high - low) * margin or abs(high) * margin or 1.0
        return cls(label, low - pad, high + pad)

    def share(self, value: float) -> float:
        """Return where a value lies between the ends, 0 to 1; beyond them it lies on the nearer end."""
        if math.isnan(value):
            return 0.0
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return min(1.0, max(0.0, (at - low) / (high - low)))

    def ticks(self) -> list[tuple[float, str]]:
        """Return round values inside the ends, with their labels."""
        values = self._decades() if self.log else self._steps()
        return [(value, _short(value)) for value in values]

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(s * power for s in _STEPS if s * power >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]

    def _decades(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last > first:
            return [10.0**power for power in range(first, last + 1, math.ceil((last - first + 1) / _MOST_DECADES))]
        between = (digit * 10.0**power for power in range(last - 1, first + 1) for digit in (1, 2, 5))
        inside = [value for value in between if self.low <= value <= self.high]
        return inside if len(inside) > 1 else self._steps()


class Mark(NamedTuple):
    """A mark of a plot. Its text enters the legend."""

    form: str  # "line", "area" or "dot"
    style: str
    text: str
    points: Points


@dataclass
class Plot:
    """A plot under construction. Its title and its description are its text alternative."""

    width: ClassVar[int] = 420
    height: ClassVar[int] = 300
    left: ClassVar[int] = 54  # edges of the plane of the axes
    right: ClassVar[int] = 406
    top: ClassVar[int] = 12
    bottom: ClassVar[int] = 256

    title: str
    description: str
    x: Axis
    y: Axis
    marks: list[Mark] = field(default_factory=list)

    def line(self, points: Points, style: str, meaning: str = "") -> None:
        if len(points) > 1:
            self.marks.append(Mark("line", style, meaning, points))

    def area(self, points: Points, style: str, meaning: str) -> None:
        self.marks.append(Mark("area", style, meaning, points))

    def dot(self, at: Point, style: str, meaning: str) -> None:
        self.marks.append(Mark("dot", style, meaning, [at]))

    @property
    def keys(self) -> list[Mark]:
        """The legend: one mark of each form, style and meaning."""
        return list({mark[:3]: mark for mark in self.marks if mark.text}.values())

    def place(self, at: Point) -> tuple[float, float]:
        """Return where a point lies in the picture."""
        x = self.left + self.x.share(at[0]) * (self.right - self.left)
        return round(x, 1), round(self.bottom - self.y.share(at[1]) * (self.bottom - self.top), 1)

    def path(self, points: Points) -> str:
        """Return a path: the first point, and the steps to the others, which are short and compress well."""
        steps = np.diff([(0.0, 0.0), *map(self.place, points)], axis=0).round(1) + 0.0  # no -0
        return "m" + " ".join(f"{x:g} {y:g}" for x, y in steps.tolist())


def _short(value: float) -> str:
    """Return the label of a tick."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if mantissa == "1.0" else f"{float(mantissa):g}·{power}"
    return f"{value:g}"


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
    def main_finding(self) -> str:
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
        return iter(())


def _bound(part: Record) -> str:
    ends = part["lower"], part["upper"]
    is_point = number(ends[0]) == number(ends[1])
    value = number(ends[0]) if is_point else interval(ends)
    if part["quantity"][:1] in "<>=":  # a case: its quantity is named by the bound that it is held against
        return f"{value}, claimed {part['quantity']}"
    if ends[1] == "inf":
        return f"{part['quantity']} ≥ {number(ends[0])}"
    return f"{part['quantity']} {'=' if is_point else 'in'} {value}"
