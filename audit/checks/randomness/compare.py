"""The eight comparisons: which outputs are held against which.

Distances that a kind needs are chosen on one part of the outputs, and the comparisons are made on another.
"""

from __future__ import annotations

import numpy as np

from audit.checks.randomness.drawing import CALLS
from audit.checks.randomness.evidence import IN_WORKERS, Comparison
from audit.checks.randomness.swaps import (
    Values,
    concordance,
    count,
    equality,
    group_concordance,
    group_equality,
    opposite,
)

_LONGEST_SERIAL = 32
_SHARE_OF_LAGS = 0.75  # distances up to this part of the sequence are tried

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def compare_all(
    calls: Values, long: Values, workers: tuple[Values, Values] | None, rng: np.random.Generator
) -> tuple[Comparison, ...]:
    """All comparisons; those of the workers only where there are some.

    Parameters
    ----------
    calls : Values
        Of the short calls one after the other, all of one size.
    long : Values
        Of the long call.
    rng : numpy Generator
        Pairs places, splits calls into halves, and numbers the codes where a distance is chosen.
    """
    found = [_same_place(calls, rng), *_groups(calls, rng)]
    found += [_period("short period", calls, rng), _period("short period within a call", long, rng)]
    found.append(_serial(calls, long))
    if workers is not None:
        found.append(_in_workers(*workers, rng))
    return tuple(found)


def _same_place(calls: Values, rng: np.random.Generator) -> Comparison:
    """A place of a call against the same place of the next one, and so at another place; the places drawn in pairs."""
    rows = np.arange(len(calls)).reshape(CALLS, -1)
    rows = rows[:, rng.permutation(rows.shape[1])]
    half = rows.shape[1] // 2
    first, second = rows[0::2], rows[1::2]
    quads = (first[:, :half], second[:, :half], first[:, half:], second[:, half:])
    return count("same noise in every call", equality(calls, *(part.ravel() for part in quads)))


def _in_workers(first: Values, second: Values, rng: np.random.Generator) -> Comparison:
    """The same with two workers in place of two calls."""
    both = Values(np.concatenate([first.codes, second.codes]), np.concatenate([first.ranks, second.ranks]))
    size, places = len(first), rng.permutation(len(first))
    one, other = places[: size // 2], places[size // 2 :]
    return count(IN_WORKERS, equality(both, one, size + one, other, size + other))


def _groups(calls: Values, rng: np.random.Generator) -> list[Comparison]:
    """Halves of two calls, split at random: alike within a call, by values or by ranks, or alike between the calls."""
    rows = np.arange(len(calls)).reshape(CALLS, -1)
    half = rows.shape[1] // 2
    by_value, by_rank = [], []
    for first, second in zip(rows[0::2], rows[1::2], strict=True):
        a, b = rng.permutation(first), rng.permutation(second)
        parts = [calls[part] for part in (a[:half], a[half:], b[:half], b[half:])]
        by_value.append(group_equality(*parts))
        by_rank.append(group_concordance(*parts))
    values, ranks = (np.array(scores).T for scores in (by_value, by_rank))
    within = count("repeats within a call", (values[0], values[1]))
    return [
        opposite("reused between calls", within),
        within,
        count("shared within a call", (ranks[0], ranks[1])),
    ]


def _period(kind: str, sequence: Values, rng: np.random.Generator) -> Comparison:
    """Outputs at the distance at which those of the first half repeat most, in the second half."""
    half = len(sequence) // 2
    numbered = [rng.standard_normal(codes.max() + 1)[codes] for codes in sequence.codes.T]
    training = sum(_autocorrelation(part[:half] - part.mean()) for part in numbered)
    lag = 1 + int(np.argmax(np.asarray(training)[1 : int(_SHARE_OF_LAGS * half)]))
    first = half + rng.permutation(_partners(half, lag, _start(sequence[:half], lag) - half))
    pairs = len(first) // 2
    rows = (first[:pairs], first[:pairs] + lag, first[pairs : 2 * pairs], first[pairs : 2 * pairs] + lag)
    return count(kind, equality(sequence, *rows), lag)


def _start(training: Values, lag: int) -> int:
    """Where the pairs (t, t + lag) begin, modulo 2 lag, that agree most; the end where the lag leaves no choice."""
    size = len(training)
    if 4 * lag > size:
        return size
    agree = (training.codes[:-lag] == training.codes[lag:]).sum(axis=1)
    folded = np.bincount(np.arange(size - lag) % (2 * lag), weights=agree, minlength=2 * lag)
    sums = np.cumsum(np.concatenate([[0.0], folded, folded]))
    return int(np.argmax(sums[lag : 3 * lag] - sums[: 2 * lag]))


def _partners(size: int, lag: int, start: int = 0) -> np.ndarray:
    """First places of disjoint pairs (t, t + lag) among `size` ones; lag of them from `start`, modulo 2 lag."""
    places = np.arange(max(0, size - lag))
    return places[(places - start) // lag % 2 == 0]


def _serial(calls: Values, long: Values) -> Comparison:
    """Ranks at the distance at which those of the long call are most correlated, within the short calls."""
    rows = np.arange(len(calls)).reshape(CALLS, -1)
    longest = min(_LONGEST_SERIAL, rows.shape[1] // 2)
    correlation = _autocorrelation(long.ranks - long.ranks.mean())[1 : longest + 1]
    lag = 1 + int(np.argmax(np.abs(correlation)))
    first = _partners(rows.shape[1], lag)
    pairs = len(first) // 2
    columns = (first[:pairs], first[:pairs] + lag, first[pairs : 2 * pairs], first[pairs : 2 * pairs] + lag)
    scores, most = concordance(calls, *(rows[:, part].ravel() for part in columns))
    return count("serial correlation", (scores * np.sign(correlation[lag - 1]), most), lag)


def _autocorrelation(values: np.ndarray) -> np.ndarray:
    """Mean of x_t x_(t + lag) over t, in units of its deviation, for every lag; by the fast Fourier transform."""
    spectrum = np.fft.rfft(values, 2 * len(values))
    sums = np.fft.irfft(np.abs(spectrum) ** 2)[: len(values)]
    return np.asarray(sums / np.sqrt(np.arange(len(values), 0, -1)))
