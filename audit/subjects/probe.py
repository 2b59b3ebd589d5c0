"""The probe: a few small calls before the budget is spent, to see whether the calls are independent releases.

The guess game needs independent runs. The probe looks for what breaks that: the same outputs whatever the seed,
other outputs under the same seed (state, or randomness of its own), noise shared by the outputs of one call, and
a drift over the calls. What it finds bars a PASS or the whole verdict; it never decides a FAIL.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from scipy import stats

from audit.base.errors import WrongLength
from audit.subjects.blocks import Block, Stream
from audit.subjects.outputs import BadLength, Outputs
from audit.subjects.subject import Subject, SubjectFailed

CALLS = 8
CALL_SIZE = 64
_LARGE = 1e12  # infinities of a vector are cut here, so that its sum stays a number
HOMOGENEITY_LEVEL = 1e-9  # false-alarm level of the test for dependence between the outputs of one call


def probe_cost(budget: int) -> int:
    """Outputs a side that the probe draws: nothing when the budget is too small to spare them."""
    return CALLS * CALL_SIZE if budget >= 20 * CALLS * CALL_SIZE else 0


def probe_length(subject: Subject, dataset: Any, stream: Stream) -> int:
    """The numbers in one output; raise `WrongLength` when a first, small call does not return the size asked for."""
    try:
        outputs, _ = subject.draw(Block(dataset, 2, stream.seed()))
    except BadLength as error:
        raise WrongLength(f"`mechanism` must return one output for each of `size`: it {error}") from None
    except SubjectFailed:
        return 1  # it will fail again in the training stage, where it is recorded
    return max(1, outputs.numbers.size // 2)


def probe_independence(subject: Subject, dataset: Any, stream: Stream) -> tuple[list[str], int]:
    """Look for dependence between runs on one dataset.

    Returns
    -------
    tuple of (list of str, int)
        What was found, from the vocabulary "state", "own randomness"; and the number of outputs drawn.
    """
    drawn = [subject.draw(Block(dataset, CALL_SIZE, stream.child(call).seed()))[0] for call in range(CALLS)]
    found = []
    if _dependent([_ranks_input(outputs) for outputs in drawn]):
        found.append("state")
    cost = CALLS * CALL_SIZE
    if not subject.own_randomness:
        again, _ = subject.draw(Block(dataset, CALL_SIZE, stream.child(0).seed()))
        cost += CALL_SIZE
        if not _identical(drawn[0], again):
            found.append("own randomness")
    return found, cost


def _ranks_input(outputs: Outputs) -> np.ndarray:
    """One number an output: itself, the sum of a vector, or a code for a symbol."""
    numbers = outputs.numbers if outputs.is_scalar else np.clip(outputs.numbers, -_LARGE, _LARGE).sum(axis=1)
    if outputs.symbols is None:
        return numbers
    codes = np.array([*map(_small_hash, outputs.symbols.table), 0.0])[outputs.symbols.codes]
    return np.where(np.isnan(numbers), codes, numbers)


def _small_hash(text: str) -> float:
    """A number for a text, the same in every process."""
    return float(zlib.crc32(text.encode(errors="surrogatepass")))


def _dependent(calls: list[np.ndarray]) -> bool:
    """Whether outputs of one call are more alike than outputs of different calls."""
    pooled = np.concatenate(calls)
    if len(np.unique(pooled)) == 1:
        return False
    if all(len(np.unique(call)) == 1 for call in calls):
        return len(np.unique([call[0] for call in calls])) > 1
    return bool(stats.kruskal(*calls).pvalue < HOMOGENEITY_LEVEL)


def _identical(a: Outputs, b: Outputs) -> bool:
    if a.numbers.shape != b.numbers.shape or not np.array_equal(a.numbers, b.numbers, equal_nan=True):
        return False
    if a.symbols is None or b.symbols is None:
        return a.symbols is b.symbols
    return all(a.symbols.at(row) == b.symbols.at(row) for row in range(len(a)))
