"""Write the ledger of the code from followed runs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from audit.api import integer
from audit.extensions.following.ledger import DrawEntry, NoiseLedger, ObservationEntry
from audit.extensions.following.paths import Follower, Path
from audit.extensions.following.record import Draw, Line, NotFollowed, in_one_line
from audit.extensions.following.runs import Mechanism
from audit.extensions.following.sources import keep_states

_WIDEST = 46  # characters of a line of source text
_KINDS = {"value": "value", "truth": "decision", "place": "place or order", "choice": "choice"}


def explain(
    mechanism: Mechanism, left: Any, right: Any, *, runs: int = 20, seed: int = 0, claimed: float | None = None
) -> NoiseLedger:
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
    NoiseLedger
        Draws of noise by line: law, how far the value moves, its cost. `reason` says why the noise was not
        followed, where it was not: other randomness, noise that depends on the data, code that looks at the noise.
        `left_out` says how many runs are not in it, and which line looked at noise last in them.

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
    integer(runs, "runs", at_least=1)
    followers = Follower(mechanism, left, right), Follower(mechanism, right, left)
    with keep_states():
        try:
            paths = [follower.follow(seed + run) for follower in followers for run in range(runs)]
        except (NotFollowed, Exception) as error:
            return NoiseLedger((), (), math.inf, 0.0, claimed, in_one_line(error))
    good = [path for path in paths if path.is_good]
    left_out = describe_bad(paths)
    if not good:
        return NoiseLedger((), (), math.inf, 0.0, claimed, paths[0].reason, left_out)
    return replace(write_ledger(max(good, key=spent_on), claimed), left_out=left_out)


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
    spends, shift = alignment.spends, alignment.noise - record.noise
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
