"""Plots as inline SVG: axes, marks and a legend, in the colors that the page gives to their classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from markupsafe import Markup

Point = tuple[float, float]
Points = Sequence[Point]

_WIDTH, _HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 406, 12, 256  # edges of the plane of the axes
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_DECADES = 7  # ticks of a logarithmic axis, at most
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, from where to where, and on which scale. Without a label it has no ticks."""

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
        low, high, at = self.low, self.high, max(value, self.low)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return min(1.0, max(0.0, (min(at, high) - low) / (high - low)))

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


@dataclass(frozen=True)
class Key:
    """An entry of the legend: the class and the form of a mark ("line", "dot" or "area"), and what it means."""

    style: str
    text: str
    form: str


@dataclass
class Plot:
    """A plot under construction. Its title and description are its text alternative; `svg` draws it."""

    title: str
    description: str
    x: Axis
    y: Axis
    keys: list[Key] = field(default_factory=list)
    _marks: list[str] = field(default_factory=list)

    def line(self, points: Points, style: str, meaning: str = "") -> None:
        """Add a line through points; `meaning` enters the legend."""
        if len(points) > 1:
            self._add(f'<path class="{style}" d="{self._path(points)}"/>', Key(style, meaning, "line"))

    def level(self, y: float, style: str, meaning: str) -> None:
        """Add a horizontal line over the whole width."""
        self.line([(self.x.low, y), (self.x.high, y)], style, meaning)

    def area(self, points: Points, style: str, meaning: str) -> None:
        """Add a filled polygon."""
        self._add(f'<path class="{style}" d="{self._path(points)}Z"/>', Key(style, meaning, "area"))

    def band(self, low: float, high: float, style: str, meaning: str) -> None:
        """Add a horizontal band over the whole width."""
        left, right = self.x.low, self.x.high
        self.area([(left, low), (right, low), (right, high), (left, high)], style, meaning)

    def dot(self, at: Point, style: str, meaning: str) -> None:
        """Add a point."""
        x, y = self._place(at)
        self._add(f'<circle class="{style}" cx="{x}" cy="{y}" r="3.2"/>', Key(style, meaning, "dot"))

    def row(self, y: float, text: str) -> None:
        """Add the name of a row, above its marks."""
        _, level = self._place((self.x.low, y))
        self._marks.append(f'<text class="row" x="{_LEFT + 4}" y="{float(level) - 6:.1f}">{escape(text)}</text>')

    def svg(self, name: str) -> Markup:
        """Return an inline SVG element; `name` makes its ids unique in the page."""
        return Markup(  # every text in it has been escaped
            f'<svg class="picture" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">'
            f'<title id="{name}-t">{escape(self.title)}</title><desc id="{name}-d">{escape(self.description)}</desc>'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    def _add(self, mark: str, key: Key) -> None:
        self._marks.append(mark)
        if key.text and key not in self.keys:
            self.keys.append(key)

    def _place(self, at: Point) -> tuple[str, str]:
        x = _LEFT + self.x.share(at[0]) * (_RIGHT - _LEFT)
        y = _BOTTOM - self.y.share(at[1]) * (_BOTTOM - _TOP)
        return f"{x:.1f}", f"{y:.1f}"

    def _path(self, points: Points) -> str:
        return "M" + "L".join(" ".join(self._place(point)) for point in points)

    def _axes(self) -> str:
        parts = []
        for value, text in self.x.ticks():
            x, _ = self._place((value, self.y.low))
            parts.append(f'<path class="grid" d="M{x} {_TOP}V{_BOTTOM}"/>')
            parts.append(f'<text class="tick" x="{x}" y="{_BOTTOM + 15}" text-anchor="middle">{text}</text>')
        for value, text in self.y.ticks():
            _, y = self._place((self.x.low, value))
            parts.append(f'<path class="grid" d="M{_LEFT} {y}H{_RIGHT}"/>')
            parts.append(f'<text class="tick" x="{_LEFT - 7}" y="{float(y) + 4:.1f}" text-anchor="end">{text}</text>')
        middle_x, middle_y = (_LEFT + _RIGHT) / 2, (_TOP + _BOTTOM) / 2
        parts += [
            f'<path class="axis" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>',
            f'<text class="label" x="{middle_x}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(self.x.label)}</text>',
            f'<text class="label" transform="translate(13 {middle_y}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>",
        ]
        return "".join(parts)


def _short(value: float) -> str:
    """Return the label of a tick."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if mantissa == "1.0" else f"{float(mantissa):g}·{power}"
    return f"{value:g}"
