"""The ledger of the code: which line draws the noise that pays, and which line makes it a number or a decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from audit.api import validate

_ROUNDED = 1e-6  # relative, of sums of costs


@dataclass(frozen=True)
class DrawEntry:
    """Draws of one line: law and scale, how far the noise moves at most, the cost of all of them.

    `spends` is in units of epsilon, for Gaussian noise in units of mu.
    """

    place: str  # file and number of the line
    code: str
    noise: str
    draws: validate.Count
    moved: validate.Count
    moves_by: validate.Nonnegative
    spends: float
    is_gaussian: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        spends = f"mu {self.spends:.4g}" if self.is_gaussian else f"{self.spends:.4g}"
        return f"{self.place}  {self.code}", self.noise, f"{self.moves_by:.4g}", spends


@dataclass(frozen=True)
class ObservationEntry:
    """Observations of one line: values, decisions or choices, and what they add to the cost of earlier lines."""

    place: str
    code: str
    kind: str
    observations: validate.Count
    price: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        return f"{self.place}  {self.code}", self.kind, str(self.observations), f"{self.price:.4g}"


DRAWS = ("line", "noise", "moves by", "spends")  # heads of the two tables
OBSERVATIONS = ("line", "observed", "times", "forces")


@dataclass(frozen=True)
class NoiseLedger:
    """The cost of the worst followed run, by line of code; `epsilon` and `mu` are of this run, and no bound."""

    draws: tuple[DrawEntry, ...]
    observations: tuple[ObservationEntry, ...]
    epsilon: validate.Nonnegative
    mu: validate.Nonnegative
    claimed: validate.Nonnegative | None = None
    reason: str = ""
    left_out: str = ""  # how many runs were not followed, why, and which line looked at noise last

    @property
    def cost(self) -> str:
        """The cost of the run in words."""
        parts = [f"epsilon {self.epsilon:.4g}"] if self.epsilon > 0 or not self.mu else []
        return ", ".join([*parts, *([f"mu {self.mu:.4g}"] if self.mu else [])])

    @property
    def exceeds(self) -> bool:
        """True where its lines spend more than the run that it is of."""
        spent = math.fsum(entry.spends**2 if entry.is_gaussian else entry.spends for entry in self.draws)
        return spent > (self.epsilon + self.mu**2) * (1 + _ROUNDED) + _ROUNDED

    def __str__(self) -> str:
        if self.reason:
            return "\n".join(filter(None, [f"not followed: {self.reason}", self.left_out]))
        return "\n\n".join(filter(None, [*map(_write_table, self._list_tables()), self.left_out]))

    def _repr_html_(self) -> str:
        if self.reason:
            return f"<p>{escape(str(self))}</p>"
        return "\n".join([*map(_write_html, self._list_tables()), f"<p>{escape(self.left_out)}</p>"])

    def _list_tables(self) -> list[list[tuple[str, ...]]]:
        claimed = "" if self.claimed is None else f"   claimed {'epsilon ' * bool(self.mu)}{self.claimed:.4g}"
        sums = ("", "", "together", self.cost.removeprefix("epsilon ") + claimed)
        observations = [OBSERVATIONS, *(entry.cells for entry in self.observations)]
        return [[DRAWS, *(entry.cells for entry in self.draws), sums], *([observations] if self.observations else [])]


def _write_html(rows: list[tuple[str, ...]]) -> str:
    """Return a table for notebooks; the lines of code keep their spaces."""
    head, *others = [[escape(cell) for cell in row] for row in rows]
    body = (f"<tr><td><code>{line}</code></td><td>{'</td><td>'.join(rest)}</td></tr>" for line, *rest in others)
    return f"<table><tr><th>{'</th><th>'.join(head)}</th></tr>{''.join(body)}</table>"


def _write_table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
