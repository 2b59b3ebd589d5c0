"""The runs of one seed: genuine on one dataset, traced, forced, and plain on the other dataset with the moved noise.

Only the first and the last are believed: the genuine run and the run with moved noise must give the same output.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.extensions.following.alignment import GAUSSIAN, NO_SHIFT, OTHERWISE, SCALE, TWO_NUMBERS, Alignment, align
from audit.extensions.following.ledger import DrawEntry, NoiseLedger, ObservationEntry
from audit.extensions.following.record import (
    RETURNED,
    UNEQUAL,
    Draw,
    Line,
    NotFollowed,
    Observation,
    Record,
    in_one_line,
)
from audit.extensions.following.runs import Form, Mechanism, call, has_raised
from audit.extensions.following.sources import PlainSupplier, Supplier, Tracer

_BY_VALUES = {GAUSSIAN, NO_SHIFT, OTHERWISE, SCALE, TWO_NUMBERS}  # reasons that values instead of comparisons may cure
UNLIKE = "the plain run with the moved noise gives another output"
_BESIDE = "the output depends on the data beside the observations"
_UNKNOWN = Form([None])
_MOST_CHANGES = 64  # observations that are tried with another result, for one kind of output


@dataclass
class Path:
    """One followed run; `reason` says why it is bad."""

    form: Form
    has_raised: bool = False
    record: Record = field(default_factory=Record)
    other: Record = field(default_factory=Record)
    alignment: Alignment = field(default_factory=lambda: Alignment(np.zeros(0), np.zeros(0)))
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """True if the run with moved noise gave the same output."""
        return not self.reason

    @property
    def costs_the_same_back(self) -> bool:
        """True if only values of symmetric noise were seen: a shift back costs as much as one there."""
        are_values = all(shown.kind == "value" for shown in self.record.observations)
        return are_values and all(law.prices[0] == law.prices[1] for law in self.record.kinds)

    @property
    def last_seen(self) -> Line | None:
        """The line that looked at noise last before the output, or drew it last; None where no line did."""
        lines = [shown.line for shown in self.record.observations if shown.line != RETURNED]
        lines = lines or [draw.line for draw in self.record.draws]
        return lines[-1] if lines else None


class Follower:
    """Follows runs of one mechanism from one dataset to another, and remembers programs and changes."""

    def __init__(self, mechanism: Mechanism, start: Any, end: Any) -> None:
        self.mechanism, self.start, self.end = mechanism, start, end
        self.values_only = self.sums_first = self.keeps_integers = False
        self.pace = math.inf  # seconds of a genuine run
        self.learns = True  # changes of results; a run that certifies may not choose its own
        self._solved: dict[bytes, Any] = {}
        self._changes: dict[Any, dict[int, int]] = {}

    @property
    def has_changes(self) -> bool:
        """True if some result differs on the other dataset, by a rule on the output."""
        return any(self._changes.values())

    def follow(self, seed: int, certify: bool = True) -> Path:
        """Follow one run; without plain runs that certify it, its cost is an estimate."""
        path, loose = Path(_UNKNOWN), None
        if certify:
            begun = time.monotonic()
            outputs = call(self.mechanism, self.start, seed)
            self.pace = min(self.pace, time.monotonic() - begun)
            path, loose = Path(Form(outputs), has_raised(outputs)), Form(outputs, loose=True)
        try:
            self._propose(path, seed, loose)
            if path.reason in _BY_VALUES and not self.values_only:
                self._try_values(path, seed, loose)
            if path.is_good and certify:
                self._replay(path, seed)
        except (NotFollowed, Exception) as error:
            path.reason = in_one_line(error)
        if path.reason == _BESIDE and not self.keeps_integers and any(law.is_discrete for law in path.record.kinds):
            self.keeps_integers = True
            again = self.follow(seed, certify)
            self.keeps_integers = again.is_good
            return again if again.is_good else path
        return path

    def _propose(self, path: Path, seed: int, plain: Form | None) -> None:
        """Trace the run, force it on the other dataset and align the two; a plain run must have the same output."""
        path.record = record = Tracer(None, self.values_only, self.sums_first, self.keeps_integers)
        form = self._describe(self.start, seed, record, loose=True)
        if plain is not None and not form.equals(plain):
            path.reason = "the traced run gives another output"
            return
        path.other = self._force(record, form, seed)
        path.alignment = align(record, path.other, self._solved)
        path.reason = path.alignment.reason

    def _describe(self, dataset: Any, seed: int, supplier: Supplier, loose: bool = False) -> Form:
        return Form(call(self.mechanism, dataset, seed, supplier), loose=loose)

    def _try_values(self, path: Path, seed: int, plain: Form | None) -> None:
        """Observe values instead of comparisons and products with data, then sums as well; keep to what helps."""
        reason, self.values_only, is_good = path.reason, True, False
        try:
            self._propose(path, seed, plain)
            if path.reason in _BY_VALUES:
                self.sums_first = True
                self._propose(path, seed, plain)
            is_good = path.is_good
        finally:
            self.values_only, self.sums_first = is_good, is_good and self.sums_first
        path.reason = path.reason and reason

    def _force(self, like: Record, form: Form, seed: int) -> Record:
        """Return the record of the other dataset, with at most one result changed by a rule on the output."""
        key = form.key
        unseen = [{}, *_list_changes(like.observations)] if self.learns else [self._commonest_change()]
        tried = [self._changes[key]] if key in self._changes else unseen
        reasons = []
        for change in tried:
            modes = like.values_only, like.sums_first, like.keeps_integers
            other = Tracer(like.observations, *modes, changes=change)
            try:
                form2 = self._describe(self.end, seed, other, loose=True)
            except NotFollowed as error:
                reasons.append(str(error))
                continue
            if len(other.observations) == len(like.observations) and form2.equals(form):
                if self.learns:
                    self._changes[key] = change
                return other
            reasons += [UNEQUAL] * (len(other.observations) != len(like.observations))
        if self.learns:
            self._changes.setdefault(key, {})
        raise NotFollowed(reasons[0] if reasons else _BESIDE)

    def _commonest_change(self) -> dict[int, int]:
        return max(self._changes.values(), key=[*self._changes.values()].count, default={})

    def _replay(self, path: Path, seed: int) -> None:
        given = [(shown.tag, shown.result) for shown in path.other.observations if shown.kind == "choice"]
        supplier = PlainSupplier(path.record.as_drawn(path.alignment.noise), choices=given)
        if not self._describe(self.end, seed, supplier).equals(path.form):
            path.reason = UNLIKE


def _list_changes(observations: list[Observation]) -> list[dict[int, int]]:
    changes = []
    for place, shown in enumerate(observations):
        if shown.kind == "truth":
            changes += [{place: element} for element in range(min(np.size(shown.result), _MOST_CHANGES))]
        elif shown.kind == "choice" and np.ndim(shown.result) == 0:
            changes += [{place: step} for step in range(1, min(shown.options, _MOST_CHANGES))]
    return changes[:_MOST_CHANGES]


# the ledger of the code

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
    spends, shift = alignment.spends, alignment.noise - record.noise
    by_line: dict[tuple[Line, str], list[Draw]] = {}
    for draw in record.draws:
        by_line.setdefault((draw.line, draw.law.name), []).append(draw)
    draws = [_enter_draws(group, spends, shift) for group in by_line.values()]
    for shown, other in zip(record.observations, path.other.observations, strict=True):
        if shown.kind == "choice":
            price = shown.measure(shown.result) - other.measure(other.result)
            draws.append(DrawEntry(*_locate(shown.line), "choice", 1, int(price != 0), 0.0, float(price)))
    by_observation = tuple(
        ObservationEntry(*_locate(line), _KINDS[kind], count, price) for line, kind, count, price in _price_lines(path)
    )
    return NoiseLedger(tuple(draws), by_observation, max(0.0, alignment.cost), math.sqrt(alignment.square), claimed)


def _price_lines(path: Path) -> list[tuple[Line, str, int, float]]:
    """Return how often each line observed noise, and by how much this raised the cost of what was observed before.

    Lines are in the order in which they first observed any.
    """
    names = [(shown.line, shown.kind) for shown in path.record.observations]
    counts, before, priced = Counter(names), 0.0, list[tuple[Line, str, int, float]]()
    for number, name in enumerate(counts, 1):
        known = set(itertools.islice(counts, number))
        kept = [each in known for each in names]
        is_whole = number == len(counts)
        part = path.alignment if is_whole else align(_restrict(path.record, kept), _restrict(path.other, kept))
        cost = before if part.reason or math.isinf(before) else part.cost + part.square
        priced.append((*name, counts[name], cost - before if cost != before else 0.0))
        before = cost
    return priced


def _restrict(record: Record, kept: list[bool]) -> Record:
    """Return a record with some observations alone."""
    part = copy.copy(record)
    part.observations = list(itertools.compress(record.observations, kept))
    return part


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
