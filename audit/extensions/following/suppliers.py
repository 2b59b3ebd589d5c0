"""Suppliers of the generators of a run: traced noise that is recorded, or plain noise that is moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import NotFollowed, Record
from audit.extensions.following.traced import observe, trace_noise

Sample = Callable[[Any], Any]


class Supplier(Protocol):
    """Supplier of the numbers of a run's generators."""

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return `loc + scale * unit noise`."""

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return the result of a choice."""

    def fail(self, reason: str) -> Any:
        """Stop the run."""


def _shape_of(loc: Any, scale: Any, size: Any) -> tuple[int, ...]:
    if size is None:
        if isinstance(loc, (int, float)) and isinstance(scale, (int, float)):
            return ()
        return np.broadcast_shapes(np.shape(loc), np.shape(scale))
    return (int(size),) if np.ndim(size) == 0 else tuple(int(length) for length in size)


class TracedSupplier:
    """Supplies traced noise and records it."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def fail(self, reason: str) -> Any:
        """Stop the run."""
        return self.record.fail(reason)

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return traced noise; a scale that is noise itself is observed."""
        scale = np.asarray(observe(scale), float)
        if (scale < 0).any():
            raise ValueError("scale < 0")
        shape = _shape_of(loc, scale, observe(size))
        unit = np.zeros(shape) if self.record.forced is not None else np.asarray(sample(shape), float)
        first = self.record.add_draw(law, unit, float(scale.flat[0]) if scale.size else 0.0)
        noise = trace_noise(self.record, first, scale, shape, law.is_discrete)
        return noise if isinstance(loc, (int, float)) and loc == 0 else loc + noise

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return a choice, which is observed."""
        result = self.record.choose(tag, sample, log_probability, options)
        return result.copy() if isinstance(result, np.ndarray) else result


@dataclass(frozen=True)
class Shift:
    """The shift of one draw, of unit noise of this law: one array, or one for each of several outputs."""

    law: NoiseLaw
    table: np.ndarray  # (outputs, *shape of the draw at size 1)


class PlainSupplier:
    """Supplies plain numbers: given noise, or the twin's noise moved by a shift of each draw.

    `rows` are the outputs' places in the tables of shifts, one for each row of a vectorized call. `loss` adds up the
    exact log ratio of the densities, by row.
    """

    def __init__(
        self,
        noise: Sequence[Any] = (),
        shifts: Sequence[Shift | None] = (),
        choices: Sequence[Any] = (),
        rows: np.ndarray | None = None,
    ) -> None:
        self.noise, self.shifts, self.choices, self.rows = noise, shifts, choices, rows
        self.loss = np.zeros(1 if rows is None else len(rows))
        self.drawn = self.chosen = 0
        self.failure = ""

    def fail(self, reason: str) -> Any:
        """Stop the run."""
        self.failure = self.failure or reason
        raise NotFollowed(self.failure)

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return plain noise."""
        if scale < 0 if isinstance(scale, (int, float)) else np.any(np.asarray(scale) < 0):
            raise ValueError("scale < 0")
        shape = _shape_of(loc, scale, size)
        unit, place = np.asarray(sample(shape), float), self.drawn
        self.drawn += 1
        self._require_rows(shape)
        if place < len(self.noise):
            unit = np.array(self.noise[place])
            if np.shape(unit) != shape:
                self.fail("the other dataset draws other noise")
        elif place < len(self.shifts) and self.shifts[place] is not None:
            unit = self._move(self.shifts[place], law, unit)
        if law.is_discrete:
            whole = np.round(unit).astype(np.int64)
            return whole if shape else int(whole)
        if not shape:
            return float(loc + scale * float(unit))
        unit *= scale
        return loc + unit if np.ndim(loc) or loc else unit

    def _require_rows(self, shape: tuple[int, ...]) -> None:
        if self.rows is not None and len(self.rows) not in shape:
            self.fail("noise is shared by the outputs of one call")

    def _move(self, shift: Any, law: NoiseLaw, unit: np.ndarray) -> np.ndarray:
        """Move the numbers that have a shift, and add the cost of this to each row; few of a wide draw have one."""
        shape = shift.table.shape[1:]
        axis, table = 0, shift.table
        if self.rows is not None:
            count = len(self.rows)
            axes = [i for i, length in enumerate(unit.shape) if length == count and shape[i : i + 1] == (1,)]
            if len(axes) != 1 or unit.ndim != len(shape):
                self.fail("rows of one call are not followed")
            axis = axes[0]
            shape, table = (*shape[:axis], count, *shape[axis + 1 :]), table.squeeze(axis + 1)
        if shift.law != law or shape != unit.shape:
            self.fail("the other dataset draws other noise")
        hit = (table != 0).any(axis=0).nonzero() if table.ndim > 1 else ()
        if self.rows is None:
            by_row, moves = unit[None], table[(slice(1), *hit)]
        else:
            by_row, moves = np.moveaxis(unit, axis, 0), table[(slice(None), *hit)][self.rows]
        before = by_row[(slice(None), *hit)]
        after = before + moves
        with np.errstate(invalid="ignore"):
            loss = np.where(moves != 0, law.log_density(before) - law.log_density(after), 0.0)
        by_row[(slice(None), *hit)] = after  # `before` may be a part of it
        self.loss += loss.reshape(len(self.loss), -1).sum(axis=1)
        return unit

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
