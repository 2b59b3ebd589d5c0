"""Suppliers of the generators of a run: traced noise that is recorded, or plain noise that is moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import NotFollowed, Record
from audit.extensions.following.traced import observe, trace_noise

Sample = Callable[[Any], Any]


def _shape_of(loc: Any, scale: Any, size: Any) -> tuple[int, ...]:
    """Return the shape of a draw; raise for a negative scale, as generators do."""
    are_numbers = isinstance(loc, (int, float)) and isinstance(scale, (int, float))
    if scale < 0 if are_numbers else np.any(np.asarray(scale) < 0):
        raise ValueError("scale < 0")
    if size is None:
        return () if are_numbers else np.broadcast_shapes(np.shape(loc), np.shape(scale))
    return (int(size),) if np.ndim(size) == 0 else tuple(int(length) for length in size)


class Tracer(Record):
    """Supplies traced noise and records it."""

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return `loc + scale * noise`, traced; a scale that is noise itself is observed."""
        scale = np.asarray(observe(scale), float)
        shape = _shape_of(loc, scale, observe(size))
        unit = np.zeros(shape) if self.forced is not None else np.asarray(sample(shape), float)
        first = self.add_draw(law, unit, float(scale.flat[0]) if scale.size else 0.0)
        noise = trace_noise(self, first, scale, shape, law.is_discrete)
        return noise if isinstance(loc, (int, float)) and loc == 0 else loc + noise


@dataclass(frozen=True)
class Shift:
    """The shift of one draw, of unit noise of this law: one array for each of several outputs."""

    law: NoiseLaw
    table: np.ndarray  # (outputs, *shape of the draw at size 1)


class PlainSupplier:
    """Supplies plain numbers: given noise, or the twin's noise moved by a shift of each draw.

    `rows` are the outputs' places in the tables of shifts, one for each output of the call. `loss` adds up the exact
    log ratio of the densities, by output.
    """

    def __init__(
        self,
        noise: Sequence[Any] = (),
        shifts: Sequence[Shift | None] = (),
        choices: Sequence[Any] = (),
        rows: Sequence[int] = (0,),
    ) -> None:
        self.noise, self.shifts, self.choices, self.rows = noise, shifts, choices, np.asarray(rows)
        self.loss = np.zeros(len(rows))
        self.drawn = self.chosen = 0
        self.failure = ""

    def fail(self, reason: str) -> Any:
        """Stop the run."""
        self.failure = self.failure or reason
        raise NotFollowed(self.failure)

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return plain noise."""
        shape = _shape_of(loc, scale, size)
        unit, place = np.asarray(sample(shape), float), self.drawn
        self.drawn += 1
        self._require_rows(shape)
        if place < len(self.noise):
            unit = np.array(self.noise[place])
            if unit.shape != shape:
                self.fail("the other dataset draws other noise")
        elif place < len(self.shifts) and self.shifts[place] is not None:
            self._move(self.shifts[place], law, unit)
        if law.is_discrete:
            whole = np.round(unit).astype(np.int64)
            return whole if shape else int(whole)
        if not shape:
            return float(loc + scale * float(unit))
        unit *= scale
        return loc + unit if np.ndim(loc) or loc else unit

    def _require_rows(self, shape: tuple[int, ...]) -> None:
        if 1 < len(self.rows) not in shape:
            self.fail("noise is shared by the outputs of one call")

    def _move(self, shift: Any, law: NoiseLaw, unit: np.ndarray) -> None:
        """Move the numbers that have a shift, and add the cost of this to each row; few of a wide draw have one."""
        count, shape, table, by_row = len(self.rows), shift.table.shape[1:], shift.table, unit[None]
        if count > 1:
            axes = [i for i, length in enumerate(unit.shape) if length == count and shape[i : i + 1] == (1,)]
            if len(axes) != 1 or unit.ndim != len(shape):
                self.fail("rows of one call are not followed")
            by_row, table = np.moveaxis(unit, axes[0], 0), table.squeeze(axes[0] + 1)
        if shift.law != law or table.shape[1:] != by_row.shape[1:]:
            self.fail("the other dataset draws other noise")
        moved = (slice(None), *((table != 0).any(axis=0).nonzero() if table.ndim > 1 else ()))
        moves, before = table[moved][self.rows], by_row[moved]
        after = before + moves
        with np.errstate(invalid="ignore"):
            loss = np.where(moves != 0, law.log_density(before) - law.log_density(after), 0.0)
        by_row[moved] = after
        self.loss += loss.reshape(count, -1).sum(axis=1)

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return a choice, or the one that is given."""
        result, place = sample(), self.chosen
        self.chosen += 1
        self._require_rows(np.shape(result))
        if place >= len(self.choices):
            return result
        given_tag, given = self.choices[place]
        if given_tag != tag:
            self.fail("the other dataset makes other choices")
        return given.copy() if isinstance(given, np.ndarray) else given


Supplier = Tracer | PlainSupplier
