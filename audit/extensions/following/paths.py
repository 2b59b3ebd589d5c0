"""The runs of one seed: genuine on one dataset, traced, forced, and plain on the other dataset with the moved noise.

Only the first and the last are believed: the genuine run and the run with moved noise must give the same output.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.extensions.following.alignment import GAUSSIAN, NO_SHIFT, OTHERWISE, SCALE, TWO_NUMBERS, Alignment, align
from audit.extensions.following.outputs import Form
from audit.extensions.following.record import RETURNED, UNEQUAL, Line, NotFollowed, Observation, Record, in_one_line
from audit.extensions.following.runs import Mechanism, call, has_raised
from audit.extensions.following.suppliers import PlainSupplier, Supplier, Tracer

_BY_VALUES = {GAUSSIAN, NO_SHIFT, OTHERWISE, SCALE, TWO_NUMBERS}  # reasons that values instead of comparisons may cure
UNLIKE = "the plain run with the moved noise gives another output"
_MOST_CHANGES = 64  # observations that are tried with another result, for one kind of output


@dataclass
class Path:
    """One followed run; `reason` says why it is bad."""

    form: Form
    has_raised: bool = False
    record: Record = field(default_factory=Record)
    other: Record = field(default_factory=Record)
    alignment: Alignment = field(default_factory=lambda: Alignment(np.zeros(0), np.zeros(0), np.zeros(0)))
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """True if the run with moved noise gave the same output."""
        return not self.reason

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
        self.values_only = False
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
        outputs: Any = [None]
        if certify:
            begun = time.monotonic()
            outputs = call(self.mechanism, self.start, seed)
            self.pace = min(self.pace, time.monotonic() - begun)
        path = Path(Form(outputs), has_raised(outputs))
        loose = Form(outputs, loose=True) if certify else None
        try:
            self._propose(path, seed, self.values_only, loose)
            if path.reason in _BY_VALUES and not self.values_only:
                self._try_values(path, seed, loose)
            if path.is_good and certify:
                self._replay(path, seed)
        except (NotFollowed, Exception) as error:
            path.reason = in_one_line(error)
        return path

    def _propose(self, path: Path, seed: int, values_only: bool, plain: Form | None) -> None:
        """Trace the run, force it on the other dataset and align the two; a plain run must have the same output."""
        path.record = record = Tracer(values_only=values_only)
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
        """Observe values instead of comparisons and products with data; keep to it where it helps."""
        reason = path.reason
        self._propose(path, seed, True, plain)
        self.values_only = path.is_good
        path.reason = path.reason and reason

    def _force(self, like: Record, form: Form, seed: int) -> Record:
        """Return the record of the other dataset, with at most one result changed by a rule on the output."""
        key = form.key
        unseen = [{}, *_list_changes(like.observations)] if self.learns else [self._commonest_change()]
        tried = [self._changes[key]] if key in self._changes else unseen
        reasons = []
        for change in tried:
            other = Tracer(forced=like.observations, values_only=like.values_only, changes=change)
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
        raise NotFollowed(reasons[0] if reasons else "the output depends on the data beside the observations")

    def _commonest_change(self) -> dict[int, int]:
        return max(self._changes.values(), key=[*self._changes.values()].count, default={})

    def _replay(self, path: Path, seed: int) -> None:
        given = [(shown.tag, shown.result) for shown in path.other.observations if shown.kind == "choice"]
        supplier = PlainSupplier(noise=path.record.split(path.alignment.noise), choices=given)
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
