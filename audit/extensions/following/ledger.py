"""The ledger of the code: which line draws the noise that pays, and which line makes it a number or a decision."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import InvalidArgument
from audit.extensions.following.paths import Follower, Path
from audit.extensions.following.record import Draw, Line, NotFollowed, in_one_line
from audit.extensions.following.runs import Mechanism
from audit.extensions.following.sources import keep_states

_WIDEST = 46  # characters of a line of source text


@dataclass(frozen=True)
class DrawEntry:
    """Draws of one line: law and scale, how far the noise moves at most, what all of them spend.

    `spends` is in units of epsilon, for Gaussian noise in units of mu.
    """

    line: Line
    noise: str
    draws: int
    moved: int
    moves_by: float
    spends: float
    is_gaussian: bool = False


@dataclass(frozen=True)
class ObservationEntry:
    """Observations of one line: values, decisions or choices, and the part of the cost that they force."""

    line: Line
    kind: str
    observations: int
    price: float


@dataclass(frozen=True)
class Ledger:
    """What the worst followed run spends, by line of code; `epsilon` and `mu` are of this run, and no bound."""

    draws: tuple[DrawEntry, ...]
    observations: tuple[ObservationEntry, ...]
    epsilon: float
    mu: float
    claimed: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"not followed: {self.reason}"
        head = ("line", "noise", "moves by", "spends")
        rows = [(_show(e.line), e.noise, f"{e.moves_by:.4g}", _amount(e.spends, e.is_gaussian)) for e in self.draws]
        parts = [f"{self.epsilon:.4g}"] if self.epsilon > 0 or not self.mu else []
        together = ", ".join([*parts, *([f"mu {self.mu:.4g}"] if self.mu else [])])
        claimed = "" if self.claimed is None else f"   claimed {self.claimed:.4g}"
        rows.append(("", "", "together", together + claimed))
        seen = [(_show(e.line), e.kind, str(e.observations), f"{e.price:.4g}") for e in self.observations]
        tables = [_table(head, rows), _table(("line", "observed", "times", "forces"), seen)]
        return "\n\n".join(tables[: 1 + bool(seen)])


def _show(line: Line) -> str:
    text = line.text if len(line.text) <= _WIDEST else line.text[: _WIDEST - 3] + "..."
    return f"{line}  {text}"


def _amount(spends: float, is_gaussian: bool) -> str:
    return f"mu {spends:.4g}" if is_gaussian else f"{spends:.4g}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    rows = [head, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def explain(
    mechanism: Mechanism, left: Any, right: Any, *, runs: int = 20, seed: int = 0, claimed: float | None = None
) -> Ledger:
    """Return which line of code spends how much epsilon: the ledger of the worst of some followed runs.

    It is an estimate for a person who reads the code, and bounds nothing. `audit.extensions.following.follow` returns
    an upper confidence bound.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> outputs`, or `audit.per_call(function)`. The code is run as it is.
    left, right : object
        The pair of datasets; both directions are followed.
    runs : int >= 1, default 20
        Runs in each direction.
    seed : int >= 0, default 0
        The same seed gives the same ledger.
    claimed : float, optional
        Printed beside the sum.

    Returns
    -------
    Ledger
        Draws of noise by line: law, how far the value moves, what it spends. `reason` says why the noise was not
        followed, where it was not: other randomness, noise that depends on the data, code that looks at the noise.

    Raises
    ------
    InvalidArgument
        If `runs` is not a positive integer.

    References
    ----------
    Zhang & Kifer (2017), LightDP: randomness alignments. Wang, Ding, Wang, Kifer & Zhang (2019), Proving differential
    privacy with shadow execution: the shift that depends on the run.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> def total(data, rng):
    ...     return data.sum() + rng.laplace(scale=2.0)
    >>> ledger = audit.explain(audit.per_call(total), np.zeros(3), np.array([1.0, 0.0, 0.0]))
    >>> [(draw.noise, float(draw.spends)) for draw in ledger.draws]
    [('Laplace(2)', 0.5)]
    """
    if not isinstance(runs, int) or runs < 1:
        raise InvalidArgument.of("runs", "be a positive integer", runs)
    followers = Follower(mechanism, left, right), Follower(mechanism, right, left)
    with keep_states():
        try:
            paths = [follower.follow(seed + run) for follower in followers for run in range(runs)]
        except (NotFollowed, Exception) as error:
            return Ledger((), (), math.inf, 0.0, claimed, in_one_line(error))
    good = [path for path in paths if path.is_good]
    if not good:
        return Ledger((), (), math.inf, 0.0, claimed, paths[0].reason)
    return write_ledger(max(good, key=_spent), claimed)


def _spent(path: Path) -> float:
    return path.alignment.cost + math.sqrt(path.alignment.square)


def write_ledger(path: Path, claimed: float | None = None) -> Ledger:
    """Return the ledger of one followed run."""
    record, alignment = path.record, path.alignment
    spends, shift = alignment.spends.copy(), alignment.noise - record.noise
    for child, (parent, _) in reversed(record.parents.items()):
        spends[parent], shift[parent] = spends[child], shift[child]
    by_line: dict[tuple[Line, str], list[Draw]] = {}
    for draw in record.draws:
        by_line.setdefault((draw.line, draw.law.name), []).append(draw)
    draws = [_enter_draws(group, spends, shift) for group in by_line.values()]
    seen: dict[tuple[Line, str], list[float]] = {}
    for shown, price in zip(record.observations, alignment.prices, strict=True):
        seen.setdefault((shown.line, shown.kind), []).append(float(price))
        if shown.kind == "choice":
            draws.append(DrawEntry(shown.line, "choice", 1, int(price != 0), 0.0, float(price)))
    observations = tuple(
        ObservationEntry(line, _KINDS[kind], len(prices), sum(prices)) for (line, kind), prices in seen.items()
    )
    return Ledger(tuple(draws), observations, max(0.0, alignment.cost), math.sqrt(alignment.square), claimed)


_KINDS = {"value": "value", "truth": "decision", "place": "place or order", "choice": "choice"}


def _enter_draws(group: list[Draw], spends: np.ndarray, shift: np.ndarray) -> DrawEntry:
    scales = [draw.scale for draw in group]
    law = group[0].law
    low, high = min(scales), max(scales)
    scale = f"{low:.4g}" if high - low <= 1e-12 * high else f"{low:.4g} .. {high:.4g}"
    moves = [np.abs(shift[d.first : d.first + d.count]) * (d.scale if not law.is_discrete else 1) for d in group]
    moved = np.concatenate(moves)
    spent = sum(float(spends[draw.first : draw.first + draw.count].sum()) for draw in group)
    noise = f"{law.name.capitalize()}({scale})" if not law.parameter else f"{law} scaled by {scale}"
    return DrawEntry(
        group[0].line, noise, moved.size, int((moved > 1e-12).sum()), float(moved.max(initial=0.0)),
        math.sqrt(spent) if law.is_normal else spent, law.is_normal,
    )  # fmt: skip
