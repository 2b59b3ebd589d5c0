"""Write the ledger of the code from followed runs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from audit.extensions.following.ledger import DrawEntry, NoiseLedger, ObservationEntry
from audit.extensions.following.paths import Path
from audit.extensions.following.record import Draw, Line

_WIDEST = 46  # characters of a line of source text
_KINDS = {"value": "value", "truth": "decision", "place": "place or order", "choice": "choice"}


def describe_bad(paths: list[Path]) -> str:
    """Return the commonest reason of runs that were not followed, and the line that looked at noise last in them."""
    bad = Counter((path.reason, path.last_seen) for path in paths if not path.is_good)
    if not bad:
        return ""
    reason, line = bad.most_common(1)[0][0]
    place = "" if line is None else f", after {line}  {_locate(line)[1]}"
    return f"{bad.total()} of {len(paths)} runs are not followed: {reason}{place}"


def spent_on(path: Path) -> float:
    """Return the cost of a run, with that of Gaussian noise in units of mu."""
    return path.alignment.cost + math.sqrt(path.alignment.square)


def write_ledger(path: Path, claimed: float | None = None) -> NoiseLedger:
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
            draws.append(DrawEntry(*_locate(shown.line), "choice", 1, int(price != 0), 0.0, float(price)))
    by_observation = tuple(
        ObservationEntry(*_locate(line), _KINDS[kind], len(each), sum(each)) for (line, kind), each in seen.items()
    )
    return NoiseLedger(tuple(draws), by_observation, max(0.0, alignment.cost), math.sqrt(alignment.square), claimed)


def _locate(line: Line) -> tuple[str, str]:
    text = line.text
    return str(line), text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _enter_draws(group: list[Draw], spends: np.ndarray, shift: np.ndarray) -> DrawEntry:
    scales = [draw.scale for draw in group]
    law = group[0].law
    low, high = min(scales), max(scales)
    scale = f"{low:.4g}" if high - low <= 1e-12 * high else f"{low:.4g} .. {high:.4g}"
    moves = [np.abs(shift[d.places]) * (d.scale if not law.is_discrete else 1) for d in group]
    moved = np.concatenate(moves)
    moved = np.where(moved > 1e-12, moved, 0.0)
    spent = sum(float(spends[draw.places].sum()) for draw in group)
    noise = f"{law.name.capitalize()}({scale})" if not law.parameter else f"{law} scaled by {scale}"
    return DrawEntry(
        *_locate(group[0].line), noise, moved.size, int(np.count_nonzero(moved)), float(moved.max(initial=0.0)),
        math.sqrt(spent) if law.is_normal else spent, law.is_normal,
    )  # fmt: skip
