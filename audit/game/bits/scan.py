"""Search two samples of numbers for periods, by peaks of their characteristic functions.

The characteristic function of numbers that prefer some residues modulo P has a peak at 1 / P, as narrow as one over the
spread of the numbers. A search of all frequencies up to 1 / P therefore takes spread / P steps, too many for short
periods. Differences between numbers of nearby ranks have the same periods and a small spread: their peaks are wide, a
short Fourier transform finds them, and they are followed to larger and larger differences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from audit.game import tuning

Sides = tuple[np.ndarray, np.ndarray]  # sorted numbers of either side


def frequencies(sides: Sides, thin: Sides, lowest: float) -> Iterator[float]:
    """Yield frequencies above the lowest at which either side has a peak.

    `thin` holds few of the numbers of `sides`, sorted as well.
    """
    low, high = np.quantile(np.concatenate(thin), (0.01, 0.99))
    peak = None if low == high else _peak([side - low for side in thin], high - low, lowest)
    if peak is not None:
        yield _sharpened(peak, 1 / (high - low), thin)
    for lag, share in tuning.SCANS:
        yield from _of_gaps(sides, thin, lag, share, lowest)


def shortest_scanned(sides: Sides) -> float:
    """Return the shortest period that `frequencies` finds."""
    _, reach = _gaps(sides, *tuning.SCANS[-1])
    return 4 * reach / tuning.SCAN_BINS


def _of_gaps(sides: Sides, thin: Sides, lag: int, share: float, lowest: float) -> Iterator[float]:
    """Yield the peak of the gaps of one size, followed to gaps of the size of the whole sample."""
    gaps, reach = _gaps(sides, lag, share)
    if not len(gaps):
        return
    peak = _peak([gaps], reach, max(lowest, tuning.SMOOTH_BINS / reach))
    if peak is None:
        return
    width = 1 / reach
    if share < 0.5:  # small gaps: all of this rank come before those of larger ranks
        peak, width = _highest(peak, width, [_gaps(sides, lag)[0]])
    while lag < len(sides[0]) // 8:
        lag *= tuning.LAG_GROWTH
        peak, width = _highest(peak, width, [_gaps(sides, lag)[0]])
    yield _sharpened(peak, width, thin)


def _gaps(sides: Sides, lag: int, share: float = 0.9) -> tuple[np.ndarray, float]:
    """Return differences between numbers whose ranks differ by `lag`, the smallest ones, and the largest of these."""
    gaps = np.concatenate([side[lag:] - side[:-lag] for side in sides])
    gaps = gaps[:: max(1, int(share * len(gaps)) // tuning.SCAN_GAPS)]
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return gaps, np.inf
    reach = float(np.quantile(gaps, share))
    return gaps[gaps < reach], reach


def _peak(samples: Sequence[np.ndarray], reach: float, lowest: float) -> float | None:
    """Return the frequency above the lowest with the largest sum of powers; None if chance explains it."""
    power = np.zeros(tuning.SCAN_BINS // 2 + 1)
    for sample in samples:
        inside = sample[(sample >= 0) & (sample < reach)]
        bins = (inside * (tuning.SCAN_BINS / reach)).astype(np.int64)
        counts = np.bincount(bins, minlength=tuning.SCAN_BINS)[: tuning.SCAN_BINS]
        power += np.abs(np.fft.rfft(counts)) ** 2 / max(1, len(inside))
    first = int(lowest * reach) + 1
    if first >= len(power):
        return None
    best = first + int(np.argmax(power[first:]))
    return best / reach if power[best] > tuning.PEAK_POWER + len(samples) else None


def _highest(frequency: float, width: float, samples: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the best frequency within `width` of another, and the width of the steps that were tried."""
    tried = frequency + np.linspace(-width, width, 2 * tuning.SCAN_STEPS + 1)
    height = np.zeros(len(tried))
    for sample in samples:
        some = sample[:: 1 + len(sample) // tuning.SCAN_POINTS]
        height += np.abs(np.exp(2j * np.pi * np.outer(tried, some)).sum(axis=1)) ** 2
    return float(tried[int(np.argmax(height))]), width / tuning.SCAN_STEPS


def _sharpened(frequency: float, width: float, thin: Sides) -> float:
    """Return the best frequency near another, so sharp that all residues agree."""
    spread = float(np.ptp(np.concatenate(thin)))
    while width * spread > tuning.SAME_PHASE:
        frequency, width = _highest(frequency, width, thin)
    return frequency
