"""The frame of a picture: axes, marks and words as inline SVG, drawn in the colours of the page by their classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from markupsafe import Markup

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 12, 44
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_DECADES = 7  # ticks of a logarithmic axis, at most


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, from where to where, and on which scale."""

    label: str
    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1; what is beyond them, or no number, lies on the nearer end."""
        if math.isnan(value):
            return 0.0
        if self.log:
            low, high, at = math.log(self.low), math.log(self.high), math.log(max(value, self.low))
        else:
            low, high, at = self.low, self.high, value
        return min(1.0, max(0.0, (min(at, high) - low) / (high - low)))

    def ticks(self) -> list[tuple[float, str]]:
        """Round values inside the ends, with their labels; an axis without a name shows places only, and has none."""
        if not self.label:
            return []
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
        step = max(1, math.ceil((last - first + 1) / _MOST_DECADES))
        decades = [10.0**power for power in range(first, last + 1, step)]
        if len(decades) > 1:
            return decades
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        between = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        inside = [value for value in between if self.low <= value <= self.high]
        return inside if len(inside) > 1 else self._steps()


@dataclass(frozen=True)
class Key:
    """An entry of the legend: the class of a mark, whether it is a line, and what it means."""

    style: str
    text: str
    form: str = "line"  # "line", "dot" or "area"


@dataclass
class Picture:
    """A picture under construction; `svg` is what comes of it.

    Parameters
    ----------
    title, description : str
        The text alternative: what is shown, and what is to be seen.
    x, y : Axis
    keys : list of Key
        The legend, for marks that need one.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    keys: list[Key] = field(default_factory=list)
    _marks: list[str] = field(default_factory=list)

    def line(self, points: Points, style: str, meaning: str = "") -> None:
        """A line through points; `meaning` enters the legend."""
        if len(points) > 1:
            self._marks.append(f'<path class="{style}" d="{self._path(points)}"/>')
            self._explain(Key(style, meaning))

    def area(self, points: Points, style: str, meaning: str = "") -> None:
        """A filled polygon."""
        self._marks.append(f'<path class="{style}" d="{self._path(points)}Z"/>')
        self._explain(Key(style, meaning, "area"))

    def dot(self, at: tuple[float, float], style: str, meaning: str = "") -> None:
        """A point."""
        x, y = self._place(at)
        self._marks.append(f'<circle class="{style}" cx="{x}" cy="{y}" r="3.2"/>')
        self._explain(Key(style, meaning, "dot"))

    def whisker(self, x: tuple[float, float], y: tuple[float, float], style: str) -> None:
        """An interval: a line between two corners, with a stop at each end where it can be seen."""
        self._marks.append(f'<path class="{style}" d="{self._path(((x[0], y[0]), (x[1], y[1])))}"/>')

    def across(self, y: float, style: str, meaning: str = "") -> None:
        """A level line over the whole width."""
        self.line(((self.x.low, y), (self.x.high, y)), style, meaning)

    def band(self, low: float, high: float, style: str, meaning: str = "") -> None:
        """A level band over the whole width."""
        left, right = self.x.low, self.x.high
        self.area(((left, low), (right, low), (right, high), (left, high)), style, meaning)

    def upright(self, x: float, style: str, meaning: str = "") -> None:
        """An upright line over the whole height."""
        self.line(((x, self.y.low), (x, self.y.high)), style, meaning)

    def row(self, y: float, text: str) -> None:
        """The name of a row, in the picture, above its marks."""
        _, level = self._place((self.x.low, y))
        self._marks.append(f'<text class="row" x="{_LEFT + 4}" y="{float(level) - 6:.1f}">{escape(text)}</text>')

    def svg(self, name: str) -> Markup:
        """The picture as an inline SVG element; `name` makes its ids unique in the page."""
        return Markup(  # every text in it has been escaped
            f'<svg class="picture" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-labelledby="{name}-t {name}-d">'
            f'<title id="{name}-t">{escape(self.title)}</title><desc id="{name}-d">{escape(self.description)}</desc>'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    def _explain(self, key: Key) -> None:
        if key.text and key not in self.keys:
            self.keys.append(key)

    def _place(self, at: tuple[float, float]) -> tuple[str, str]:
        x = _LEFT + self.x.share(at[0]) * (_WIDTH - _LEFT - _RIGHT)
        y = _HEIGHT - _BOTTOM - self.y.share(at[1]) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{x:.1f}", f"{y:.1f}"

    def _path(self, points: Iterable[tuple[float, float]]) -> str:
        return "M" + "L".join(" ".join(self._place(point)) for point in points)

    def _axes(self) -> str:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = []
        for value, text in self.x.ticks():
            x, _ = self._place((value, self.y.low))
            parts.append(f'<path class="grid" d="M{x} {_TOP}V{bottom}"/>')
            parts.append(f'<text class="tick" x="{x}" y="{bottom + 15}" text-anchor="middle">{text}</text>')
        for value, text in self.y.ticks():
            _, y = self._place((self.x.low, value))
            parts.append(f'<path class="grid" d="M{_LEFT} {y}H{right}"/>')
            parts.append(f'<text class="tick" x="{_LEFT - 7}" y="{float(y) + 4:.1f}" text-anchor="end">{text}</text>')
        middle_x, middle_y = (_LEFT + right) / 2, (_TOP + bottom) / 2
        words = (
            f'<text class="label" x="{middle_x}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(self.x.label)}</text>'
            f'<text class="label" transform="translate(13 {middle_y}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>"
        )
        return "".join(parts) + f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>' + words


def spanning(label: str, values: Iterable[float], log: bool = False, margin: float = 0.06) -> Axis:
    """An axis that shows all finite values with a margin; a logarithmic one shows the positive ones."""
    kept = [value for value in values if math.isfinite(value) and (value > 0 or not log)] or [1.0]
    low, high = min(kept), max(kept)
    if log:
        ratio = max(high / low, 10.0) ** margin
        return Axis(label, low / ratio, high * ratio, True)
    pad = (high - low) * margin or abs(high) * margin or 1.0
    return Axis(label, low - pad, high + pad)


def _short(value: float) -> str:
    """A tick's label."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if mantissa == "1.0" else f"{float(mantissa):g}·{power}"
    return f"{value:.4g}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
