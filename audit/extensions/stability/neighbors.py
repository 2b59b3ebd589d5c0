"""Datasets at a known distance from another: records removed, inserted, replaced and moved; vectors shifted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit.extensions.stability.metrics import AnyMetric, PerPartition

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
_SHIFTS = (1.0, 2.0, 0.5, 3.0, 10.0, 1e-9, 0.1)
_SHAPES = ("one", "all", "signs", "two")


@dataclass(frozen=True)
class Plan:
    """A dataset, one to draw records from, and codes of edits: a value that Hypothesis draws and shrinks."""

    dataset: Any
    donor: Any
    codes: tuple[int, ...]


def plans(datasets: st.SearchStrategy[Any], metric: AnyMetric) -> st.SearchStrategy[Plan]:
    """Return the strategy of plans; of partitions, in two of three datasets all records are equal, or a field of them.

    Where a statistic of all records decides the fate of each, few records near it move little. Many equal ones move
    at once, and a partition of equal records in the place of another one moves farthest.
    """
    drawn = (
        st.one_of(datasets, datasets.map(_repeated), datasets.map(_repeated))
        if isinstance(metric, PerPartition)
        else datasets
    )
    return st.builds(Plan, drawn, drawn, _CODES)


def _repeated(dataset: Any) -> Any:
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


def _edit_lists(plan: Plan, metric: AnyMetric) -> list[tuple[Edit, ...]]:
    """Return the edits of each neighbor: one, and of every third neighbor those of the two before it too."""
    names = _SHAPES if _is_norm(metric) else _EDITS.get(_innermost(metric).name, _EDITS["symmetric"])
    edits = []
    for code in plan.codes:
        rest, name = divmod(code, len(names))
        source, place = divmod(rest, _PLACES)
        edits.append((names[name], place, source))
    return [tuple(edits[index - 2 if index % 3 == 2 else index : index + 1]) for index in range(len(edits))]


def neighbors(plan: Plan, metric: AnyMetric, nudges: bool, sized: bool = False) -> list[Any]:
    """Return the neighbors of a plan's dataset. Their distance is the caller's to measure.

    Records come from datasets that were drawn; with `nudges` numbers beside them are tried too, which the caller must
    hold against the domain. With `sized` a neighbor keeps the number of records.
    """
    if _is_norm(metric):
        return [_shifted(plan.dataset, edits[-1]) for edits in _edit_lists(plan, metric)]
    if metric.name == "discrete":
        return [plan.donor]
    if isinstance(metric, PerPartition):
        return [_repartitioned(plan, metric, edits, nudges) for edits in _edit_lists(plan, metric)]
    if not _is_sequence(plan.dataset):
        return [plan.donor]
    edited = [_edited(plan.dataset, plan.donor, edits, nudges) for edits in _edit_lists(plan, metric)]
    return [_resized(records, plan.dataset) for records in edited] if sized else edited


def like(original: Any, records: list[Any]) -> Any:
    """Return records as a dataset of the type of another: list, tuple or array."""
    if isinstance(original, np.ndarray):
        return np.array(records, dtype=original.dtype).reshape(len(records), *original.shape[1:])
    return type(original)(records)


def _is_norm(metric: AnyMetric) -> bool:
    return metric.name in ("absolute", "l0", "l1", "l2", "linf")


def _innermost(metric: AnyMetric) -> AnyMetric:
    return _innermost(metric.inner) if isinstance(metric, PerPartition) else metric


def _is_sequence(dataset: Any) -> bool:
    return isinstance(dataset, (list, tuple, np.ndarray))


def _edited(dataset: Any, donor: Any, edits: tuple[Edit, ...], nudges: bool) -> Any:
    records, given = list(dataset), list(donor) if _is_sequence(donor) else []
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
        records[place] = _nudged(records[place], source)
    elif given:  # "replace", or a nudge that is not admitted
        records[place] = given[source % len(given)]


def _nudged(record: Any, source: int) -> Any:
    """Return the next number in some direction, or the negative; a record that is no number as it is."""
    up = source % 2 == 0
    if isinstance(record, (float, np.floating)):
        return (
            -record
            if source % 5 == 4
            else type(record)(np.nextafter(record, type(record)(math.inf if up else -math.inf)))
        )
    if isinstance(record, (int, np.integer)) and not isinstance(record, bool):
        return record + (1 if up else -1)
    return record


def _resized(records: Any, original: Any) -> Any:
    """Return records with the last ones dropped, or the first ones repeated, up to the number of the original."""
    kept, size = list(records)[: len(original)], len(original)
    return like(original, kept + list(original)[: size - len(kept)])


def _shifted(vector: Any, edit: Edit) -> Any:
    """Return a number or a vector with some coordinates moved."""
    shape, place, amount = edit
    single = not _is_sequence(vector)
    numbers = [vector] if single else list(vector)
    by = _SHIFTS[amount % len(_SHIFTS)] * (-1) ** (amount // len(_SHIFTS) % 2)
    places = {
        "one": [place % max(len(numbers), 1)],
        "two": [place % max(len(numbers), 1), (place + 1) % max(len(numbers), 1)],
    }.get(shape, range(len(numbers)))
    for count, index in enumerate(places if numbers else ()):
        step = -by if shape == "signs" and count % 2 else by
        old = numbers[index]
        whole = isinstance(old, (int, np.integer))
        numbers[index] = old + (round(step) or 1) if whole else type(old)(old + step)
    return numbers[0] if single else like(vector, numbers)


def _repartitioned(plan: Plan, metric: PerPartition, edits: tuple[Edit, ...], nudges: bool) -> Any:
    """Edit the records of partitions, or drop and replace whole ones; a partition may be added or lost."""
    keyed = isinstance(plan.dataset, Mapping)
    parts = dict(plan.dataset) if keyed else dict(enumerate(plan.dataset))
    given = dict(plan.donor) if keyed else dict(enumerate(plan.donor))
    whole = _innermost(metric).name == "discrete"  # any change of a partition counts as one
    for name, place, source in edits:
        keys = [*parts, *(key for key in given if key not in parts and keyed)]
        if not keys:
            break
        key, values = keys[source % len(keys)], list(given.values())
        if (whole or place % 8 == 7) and values:
            parts[key] = values[place % len(values)]
        else:
            own = parts.get(key, type(given[key])() if key in given else [])
            parts[key] = _edited(own, given.get(key, own), ((name, place, source),), nudges)
        if whole and name == "remove" and keyed:
            del parts[key]
    return parts if keyed else like(plan.dataset, list(parts.values()))
