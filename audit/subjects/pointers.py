"""Point at what makes outputs depend on earlier calls: a counter or a clock in the output, a budget that is spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from audit.subjects.outputs import Outputs, blocks_of

COUNTS, SPENT = "counter: ", "spent: "  # how these anomalies begin; the place and the call follow
_FEWEST = 20  # numbers in a row that rise, one after the other: by chance with probability 1 / 20!


def counters_of(drawn: Sequence[Sequence[Outputs]]) -> Iterator[str]:
    """Yield the places of numbers that rise from each output to the next on every dataset.

    `drawn` has the calls on each dataset, in their order.
    """
    names = set.intersection(*({name for name, _ in _columns(calls)} for calls in drawn)) if drawn else set()
    for name in sorted(names):
        if all(_rises(column) for calls in drawn for found, column in _columns(calls) if found == name):
            yield f"output{name}"


def _columns(calls: Sequence[Outputs]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the single numbers that every output of some calls has, by name."""
    blocks = [blocks_of(call) for call in calls if call.symbols is None]
    if blocks and len(blocks) == len(calls):
        for name, first in blocks[0].items():
            if first.ndim == 1 and all(name in block and block[name].ndim == 1 for block in blocks):
                yield name, np.concatenate([block[name] for block in blocks])


def _rises(numbers: np.ndarray) -> bool:
    return len(numbers) >= _FEWEST and bool(np.all(np.diff(numbers) > 0))


def spent_from(drawn: Sequence[Sequence[Outputs]]) -> str | None:
    """Return from which call on a dataset on every output is the same exception, where none is before; else None."""
    for calls in drawn:
        raised = np.concatenate([_raised(call) for call in calls]) if calls else np.zeros(0, dtype=bool)
        first = int(raised.argmax()) if raised.any() else 0
        if first and raised[first:].all() and len(raised) - first >= _FEWEST:
            last = calls[-1].symbols
            return f"from output {first + 1} on it {last.table[0] if last else 'raised'}"
    return None


def _raised(outputs: Outputs) -> np.ndarray:
    symbols = outputs.symbols
    if symbols is None:
        return np.zeros(len(outputs), dtype=bool)
    codes = [code for code, text in enumerate(symbols.table) if text.startswith("raised ")]
    return np.isin(symbols.codes, codes)
