"""Plots as plain data: axes, marks and a legend. The templates draw them as SVG, in the colors of their classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

ALLOWED = "allowed by the claim"  # the meaning of an area
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_DECADES = 7  # ticks of a logarithmic axis, at most
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Point = tuple[float, float]
Points = Sequence[Point]


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its ends, and its scale. Without a label it has no ticks."""

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
        values = [] if not self.label else self._decades() if self.log else self._steps()
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
    """A mark of a plot. Its text enters the legend, unless the mark is the name of a row."""

    form: str  # "line", "area", "dot" or "row"
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
        return list({mark[:3]: mark for mark in self.marks if mark.text and mark.form != "row"}.values())

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
