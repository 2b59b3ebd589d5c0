"""The ledger of the code: which line draws the noise that pays, and which line makes it a number or a decision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audit.api import Count, Nonnegative


@dataclass(frozen=True)
class DrawEntry:
    """Draws of one line: law and scale, how far the noise moves at most, the cost of all of them.

    `spends` is in units of epsilon, for Gaussian noise in units of mu.
    """

    place: str  # file and number of the line
    code: str
    noise: str
    draws: Count
    moved: Count
    moves_by: Nonnegative
    spends: float
    is_gaussian: bool = False


@dataclass(frozen=True)
class ObservationEntry:
    """Observations of one line: values, decisions or choices, and the part of the cost that they force."""

    place: str
    code: str
    kind: str
    observations: Count
    price: float


@dataclass(frozen=True)
class NoiseLedger:
    """The cost of the worst followed run, by line of code; `epsilon` and `mu` are of this run, and no bound."""

    draws: tuple[DrawEntry, ...]
    observations: tuple[ObservationEntry, ...]
    epsilon: Nonnegative
    mu: Nonnegative
    claimed: Nonnegative | None = None
    reason: str = ""
    left_out: str = ""  # how many runs were not followed, why, and which line looked at noise last

    @property
    def cost(self) -> str:
        """The cost of the run in words."""
        parts = [f"epsilon {self.epsilon:.4g}"] if self.epsilon > 0 or not self.mu else []
        return ", ".join([*parts, *([f"mu {self.mu:.4g}"] if self.mu else [])])

    def __str__(self) -> str:
        if self.reason:
            return "\n".join([f"not followed: {self.reason}", *filter(None, [self.left_out])])
        head = ("line", "noise", "moves by", "spends")
        rows = [(_show(e), e.noise, f"{e.moves_by:.4g}", _amount(e.spends, e.is_gaussian)) for e in self.draws]
        claimed = "" if self.claimed is None else f"   claimed {'epsilon ' * bool(self.mu)}{self.claimed:.4g}"
        rows.append(("", "", "together", self.cost.removeprefix("epsilon ") + claimed))
        seen = [(_show(e), e.kind, str(e.observations), f"{e.price:.4g}") for e in self.observations]
        tables = [_table(head, rows), _table(("line", "observed", "times", "forces"), seen)]
        return "\n\n".join([*tables[: 1 + bool(seen)], *filter(None, [self.left_out])])


def _show(entry: DrawEntry | ObservationEntry) -> str:
    return f"{entry.place}  {entry.code}"


def _amount(spends: float, is_gaussian: bool) -> str:
    return f"mu {spends:.4g}" if is_gaussian else f"{spends:.4g}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    rows = [head, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
