"""Search for a pair of datasets that breaks a stability map, and shrink it: exact, without statistics.

A dataset at a known distance has records removed, inserted, replaced or moved, or coordinates of a vector shifted.
"""

from __future__ import annotations

import copy
import math
import random
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning, NoSuchExample
from hypothesis.strategies import SearchStrategy

from audit.api import InvalidArgument, errors, sandbox, text
from audit.extensions.stability.lengths import ZERO, Length, is_frame, record_key, rows_of
from audit.extensions.stability.metrics import AnyMetric, PerPartition
from audit.extensions.stability.stated_maps import KINDS, StabilityMap, Violation, as_number, broken_link

ROUNDING = 1e-6  # excess that counts as rounding, in units of the map's bound at distance 1
_REPEATS = 8  # runs on each dataset of a pair before it is called a violation
_TEXT = 400  # characters of a value in a record

Edit = tuple[str, int, int]  # operation, place, and record
_NEIGHBORS = 8  # of a dataset: a search takes its time for drawing datasets
_PLACES = 1024  # at most, modulo the size of the dataset
_CODES = st.tuples(*[st.integers(0, 2**24 - 1)] * _NEIGHBORS)
_EDITS = {
    "symmetric": ("remove", "insert", "copy", "replace", "nudge", "move"),
    "insert_delete": ("remove", "insert", "copy", "replace", "nudge"),
    "change_one": ("replace", "nudge", "overwrite", "move"),
    "hamming": ("replace", "nudge", "overwrite"),
}
_PHASES = (Phase.generate, Phase.shrink)
_QUIET = settings(database=None, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
_SHIFTS = (1.0, 2.0, 0.5, 3.0, 10.0, 1e-9, 0.1)
_SHAPES = ("one", "all", "signs", "two")


class Search:
    """Draw datasets and neighbors until enough pairs were compared, or one breaks the map."""

    def __init__(
        self, transformation: Callable[[Any], Any], stated: StabilityMap, datasets: SearchStrategy[Any]
    ) -> None:
        self.transformation, self.stated = transformation, stated
        self._plans = plans(datasets, stated.distance_in)
        self.pairs = self.unstable = self.unstated = 0  # as in the evidence of the check
        self.violation: Violation | None = None
        self.example = ""
        self.failure: str | None = None  # of a distance or a predicate
        self._wanted: tuple[str, ...] = ()
        self._limit = 0
        self._shrinking = False
        self._sides: tuple[Any, ...] = ()  # of the last pair: both datasets and their outputs

    def run(self, pairs: int, seed: int, seconds: float | None = None) -> None:
        """Compare about `pairs` pairs; a violation by more than rounding is preferred to one by less.

        No comparison after `seconds` counts.
        """
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        source, self._limit = random.Random(seed), pairs
        for wanted in (KINDS, ("loss",)):
            first = self.violation
            if first is not None and first.kind != "rounding":
                break
            self._wanted, self._shrinking = wanted, False
            plan = self._find(source)
            if plan is None or self.failure:
                break
            self.violation = self._violation(plan) or first

    def _find(self, source: random.Random) -> EditPlan | None:
        """Return the smallest plan that shows the violation, or None."""
        while self.pairs < self._limit:
            before = self.pairs
            asked = settings(_QUIET, max_examples=max(20, (self._limit - before) // 6))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HypothesisWarning)  # of long columns, whose text it never shows
                    return find(self._plans, self._is_broken, settings=asked, random=source)
            except _OverError:
                return None
            except NoSuchExample:
                if self.pairs == before:  # the strategy has no further pair
                    return None
        return None

    def _is_broken(self, plan: EditPlan) -> bool:
        if not self._shrinking and self.pairs >= self._limit:
            return False
        if time.monotonic() > self._deadline and not self._shrinking:
            raise _OverError
        try:
            broken = self._violation(plan) is not None
        except (errors.Unusable, InvalidArgument) as error:
            self.failure = str(error)
            raise _OverError from error
        self._shrinking = self._shrinking or broken
        return broken

    def _violation(self, plan: EditPlan) -> Violation | None:
        left, why_not = plan.dataset, self.stated.domain_in
        if why_not and why_not(left):
            return None
        output = self._output(left)
        if not self._are_alike(output, self._output(left)):
            self._count_unstable(left)
            return None
        for right in neighbors(plan, self.stated.distance_in, why_not is not None):
            if not self._shrinking and self.pairs >= self._limit:
                break
            if why_not and why_not(right):
                continue
            found = self._compare(left, right, output)
            if found is not None and found.kind in self._wanted and self._repeats(left, right):
                return found
        return None

    def _count_unstable(self, dataset: Any) -> None:
        if not self._shrinking:
            self.unstable += 1
            self.example = self.example or _text(dataset)

    def _output(self, dataset: Any) -> Any:
        """Return an output, or the exception in its place."""
        try:
            return self.transformation(copy.copy(dataset))
        except BaseException as error:
            if not sandbox.is_of_subject(error):
                raise
            return _Raised(f"{type(error).__name__}: {text.describe_error(error)}")

    def _compare(self, left: Any, right: Any, output: Any) -> Violation | None:
        """Hold one pair to the contracts and to the map."""
        distance = self.stated.distance_in.between(left, right)
        if distance.raised == math.inf or (not distance.raised and record_key(left) == record_key(right)):
            return None
        other = self._output(right)
        self.pairs += not self._shrinking
        sides = self._sides = (left, right, output, other)
        if isinstance(output, _Raised) or isinstance(other, _Raised):
            return self._judge_exceptions(sides, distance)
        why_not = self.stated.domain_out
        if why_not and (said := why_not(output) or why_not(other)):
            return _violation("domain", sides, distance, said=said)
        try:
            allowed = self.stated.allowed(as_number(distance))
        except Exception:  # a map may overflow, or state nothing about a distance
            self.unstated += not self._shrinking
            return None
        reached = self.stated.distance_out.between(output, other)
        if not reached.exceeds(allowed):
            return None
        kind = "rounding" if self._is_rounding(reached, float(allowed)) else "loss"
        said = broken_link(self.transformation, left, right)
        return _violation(kind, sides, distance, reached, float(allowed), said)

    def _is_rounding(self, reached: Length, allowed: float) -> bool:
        """Return whether the excess is small against the change that one record may make."""
        try:
            unit = max(allowed, float(self.stated.allowed(1)))
        except Exception:
            unit = allowed
        return reached.rounded_up() - allowed <= ROUNDING * unit

    def _judge_exceptions(self, sides: tuple[Any, ...], distance: Length) -> Violation | None:
        """A declared domain forbids exceptions; without one, an exception on one side only tells the sides apart."""
        texts = [side.text for side in sides[2:] if isinstance(side, _Raised)]
        if self.stated.domain_in is None and len(texts) == 2:
            return None
        return _violation("exception", sides, distance, said=texts[0])

    def _are_alike(self, one: Any, other: Any) -> bool:
        """Return whether two outputs are equal, or 0 apart by the declared distance: rows or keys in another order."""
        if _text(one) == _text(other):
            return True
        if isinstance(one, _Raised) or isinstance(other, _Raised):
            return False
        try:
            return not self.stated.distance_out.between(one, other).raised
        except Exception:  # of outputs that the distance does not know
            return False

    def _repeats(self, left: Any, right: Any) -> bool:
        """Return whether further runs give the same outputs; else the transformation is not a function of its input."""
        for dataset, output in zip((left, right), self._sides[2:], strict=True):
            for _ in range(2 if self._shrinking else _REPEATS):
                if not self._are_alike(output, self._output(dataset)):
                    self._count_unstable(dataset)
                    return False
        return True


class _OverError(Exception):
    """The time for comparing pairs is over, or a distance cannot be measured."""


@dataclass(frozen=True)
class _Raised:
    text: str

    def __repr__(self) -> str:
        return f"raised {self.text}"


def _violation(
    kind: str, sides: tuple[Any, ...], distance: Length, reached: Length = ZERO, bound: float = 0.0, said: str = ""
) -> Violation:
    left, right, one, other = map(_text, sides)
    return Violation(
        kind, left, right, one, other, distance.rounded_up(), reached.rounded_up(), bound, text.printable(said)
    )


def _text(value: Any) -> str:
    shown = text.printable(repr(rows_of(value)))
    return shown if len(shown) <= _TEXT else f"{shown[: _TEXT - 3]}..."


@dataclass(frozen=True)
class EditPlan:
    """A dataset, one to draw records from, and codes of edits: a value that Hypothesis draws and shrinks."""

    dataset: Any
    donor: Any
    codes: tuple[int, ...]


def plans(datasets: st.SearchStrategy[Any], metric: AnyMetric) -> st.SearchStrategy[EditPlan]:
    """Return the strategy of plans; of partitions, in two of three datasets all records are equal, or a field of them.

    Where a statistic of all records decides the fate of each, few records near it move little. Many equal ones move
    at once, and a partition of equal records in the place of another one moves farthest.
    """
    if isinstance(metric, PerPartition):
        datasets = st.one_of(datasets, *[datasets.map(_repeat_record)] * 2)
    return st.builds(EditPlan, datasets, datasets, _CODES)


def _repeat_record(dataset: Any) -> Any:
    """Return partitions of the same sizes, all of one record; of every third dataset, tuples share the last field."""
    if not isinstance(dataset, Mapping) or not all(_is_sequence(part) for part in dataset.values()):
        return dataset
    records = [record for part in dataset.values() for record in part]
    if not records:
        return dataset
    first, parted = records[0], len(records) % 3 == 2 and all(isinstance(record, tuple) for record in records)
    return {
        key: like(part, [(*record[:-1], first[-1]) if parted else first for record in part])
        for key, part in dataset.items()
    }


def _edit_lists(plan: EditPlan, metric: AnyMetric) -> list[tuple[Edit, ...]]:
    """Return the edits of each neighbor: one, and of every third neighbor those of the two before it too."""
    names = _SHAPES if _is_norm(metric) else _EDITS.get(_innermost(metric).name, _EDITS["symmetric"])
    edits = []
    for code in plan.codes:
        rest, name = divmod(code, len(names))
        source, place = divmod(rest, _PLACES)
        edits.append((names[name], place, source))
    return [tuple(edits[index - 2 if index % 3 == 2 else index : index + 1]) for index in range(len(edits))]


def neighbors(plan: EditPlan, metric: AnyMetric, nudges: bool) -> list[Any]:
    """Return the neighbors of a plan's dataset. Their distance is the caller's to measure.

    Records come from datasets that were drawn; with `nudges` numbers beside them are tried too, which the caller must
    hold against the domain.
    """
    if _is_norm(metric):
        return [_shift(plan.dataset, edits[-1]) for edits in _edit_lists(plan, metric)]
    if metric.name == "discrete":
        return [plan.donor]
    if isinstance(metric, PerPartition) and isinstance(plan.dataset, Mapping):
        return [_repartition(plan, metric, edits, nudges) for edits in _edit_lists(plan, metric)]
    if not _is_sequence(plan.dataset):
        return [plan.donor]
    return [_apply_edits(plan.dataset, plan.donor, edits, nudges) for edits in _edit_lists(plan, metric)]


def like(original: Any, records: list[Any]) -> Any:
    """Return records as a dataset of the type of another: list, tuple, array, or frame."""
    if hasattr(original, "itertuples"):  # of pandas
        return type(original)(records, columns=original.columns).astype(original.dtypes)
    if hasattr(original, "rows"):  # of polars
        return type(original)(records, schema=original.schema, orient="row")
    if isinstance(original, np.ndarray):
        return np.array(records, dtype=original.dtype).reshape(len(records), *original.shape[1:])
    return type(original)(records)


def _is_norm(metric: AnyMetric) -> bool:
    return metric.name in ("absolute", "l0", "l1", "l2", "linf")


def _innermost(metric: AnyMetric) -> AnyMetric:
    return _innermost(metric.inner) if isinstance(metric, PerPartition) else metric


def _is_sequence(dataset: Any) -> bool:
    return isinstance(dataset, (list, tuple, np.ndarray)) or is_frame(dataset)


def _apply_edits(dataset: Any, donor: Any, edits: tuple[Edit, ...], nudges: bool) -> Any:
    records, given = list(rows_of(dataset)), list(rows_of(donor)) if _is_sequence(donor) else []
    for name, place, source in edits:
        _edit(records, given, name, place % max(len(records), 1), source, nudges)
    return like(dataset, records)


def _edit(records: list[Any], given: list[Any], name: str, place: int, source: int, nudges: bool) -> None:
    """Edit records in place, with those of another dataset; nothing where there is none to edit."""
    if name == "insert" and given:
        records.insert(place + source % 2, given[source % len(given)])
    if not records or name == "insert":
        return
    if name == "remove":
        del records[place]
    elif name == "copy":
        records.insert(place, records[source % len(records)])
    elif name == "overwrite":
        records[place] = records[source % len(records)]
    elif name == "move" and source % 4 == 0:
        records.reverse()
    elif name == "move":
        records.insert(source % len(records), records.pop(place))
    elif name == "nudge" and nudges:
        records[place] = _nudge(records[place], source)
    elif given:  # "replace", or a nudge that is not admitted
        records[place] = given[source % len(given)]


def _nudge(record: Any, source: int) -> Any:
    """Return the next number in some direction, or the negative; a record that is no number as it is."""
    up = source % 2 == 0
    if isinstance(record, (float, np.floating)):
        if source % 5 == 4:
            return -record
        return type(record)(np.nextafter(record, type(record)(math.inf if up else -math.inf)))
    if isinstance(record, (int, np.integer)) and not isinstance(record, bool):
        return record + (1 if up else -1)
    return record


def _shift(vector: Any, edit: Edit) -> Any:
    """Return a number or a vector with some coordinates moved."""
    shape, place, amount = edit
    single = not _is_sequence(vector)
    numbers = [vector] if single else list(vector)
    by = _SHIFTS[amount % len(_SHIFTS)] * (-1) ** (amount // len(_SHIFTS) % 2)
    several = {"one": 1, "two": 2}.get(shape, len(numbers))  # from the place on, or all
    for count in range(several if numbers else 0):
        index = (count if several == len(numbers) else place + count) % len(numbers)
        step = -by if shape == "signs" and count % 2 else by
        old = numbers[index]
        whole = isinstance(old, (int, np.integer))
        numbers[index] = old + (round(step) or 1) if whole else type(old)(old + step)
    return numbers[0] if single else like(vector, numbers)


def _repartition(plan: EditPlan, metric: PerPartition, edits: tuple[Edit, ...], nudges: bool) -> Any:
    """Edit the records of partitions, or drop and replace whole ones; a partition may be added or lost."""
    parts, given = dict(plan.dataset), dict(plan.donor)
    whole = _innermost(metric).name == "discrete"  # any change of a partition counts as one
    for name, place, source in edits:
        keys = list({**parts, **given})
        if not keys:
            break
        key, values = keys[source % len(keys)], list(given.values())
        if (whole or place % 8 == 7) and values:
            parts[key] = values[place % len(values)]
        else:
            own = parts.get(key, type(given[key])() if key in given else [])
            parts[key] = _apply_edits(own, given.get(key, own), ((name, place, source),), nudges)
        if whole and name == "remove":
            del parts[key]
    return parts
