"""Losses on a lattice: sums of independent ones by a Fourier transform, and their privacy profile in one pass.

Both are those of dp_accounting (Koskela et al. 2020, Doroshenko et al. 2022), for many thresholds at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import fft

from audit.laws.privacy_loss import FloatArray

_LARGEST_RANGE = 300.0  # of losses in one pass: e^300 times a mass is finite


@dataclass(frozen=True, eq=False)
class LatticeLoss:
    """A loss with the given masses at `first * step`, `(first + 1) * step` and so on, and one at infinity."""

    step: float
    first: int
    masses: FloatArray
    infinite: float

    def profile(self, thresholds: FloatArray) -> FloatArray:
        """Return the hockey-stick divergence at any thresholds: the sum over losses l > t of m (1 - e^(t - l)).

        With the least such l of the lattice, and its mass P at or above, it is P (1 - e^(t - l)) + e^(t - l) D(l): no
        term is negative, so that small values keep their digits.
        """
        end = self.first + len(self.masses)
        next_ones = np.clip(np.floor(thresholds / self.step) + 1, self.first, end)
        gaps = np.maximum(next_ones * self.step - thresholds, 0.0)
        places = next_ones.astype(int) - self.first
        above, at_points = self._sums
        return self.infinite - above[places] * np.expm1(-gaps) + np.exp(-gaps) * at_points[places]

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Return, for each point and one beyond, the mass at or above it, and the sum D of the profile there."""
        above = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
        rising, sums, known = -math.expm1(-self.step) * above[:0:-1], np.zeros(len(above)), 0.0
        most = max(1, int(_LARGEST_RANGE / self.step))
        for start in range(1, len(above), most):  # D(l - step) = P(l) (1 - e^-step) + e^-step D(l), from the top
            part = rising[start - 1 : start - 1 + most]
            powers = np.exp(self.step * np.arange(1, len(part) + 1))
            sums[start : start + most] = (known + np.cumsum(part * powers)) / powers
            known = float(sums[start + len(part) - 1])
        return above, sums[::-1]


def summed(parts: Sequence[tuple[LatticeLoss, int]], cut: float) -> LatticeLoss:
    """Return the sum of independent losses of one step, each taken some times.

    Only the points within Hoeffding's distance of the mean are kept. At most `cut` of the mass lies beyond, and moves
    to other points: a transform is periodic.
    """
    steps = [(len(loss.masses) - 1, times) for loss, times in parts]
    distance = math.sqrt(math.log(2 / cut) / 2 * sum(times * width**2 for width, times in steps))
    mean = sum(times * _mean_place(loss.masses) for loss, times in parts)
    start = max(0, math.floor(mean - distance))
    stop = min(sum(times * width for width, times in steps), math.ceil(mean + distance)) + 1
    size = fft.next_fast_len(max(stop - start, *(width + 1 for width, _ in steps)), real=True)
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for loss, times in parts:
        spectrum *= fft.rfft(loss.masses, size) ** times
    masses = np.roll(fft.irfft(spectrum, size), -start)[: stop - start]
    stays = math.fsum(times * math.log1p(-loss.infinite) if loss.infinite < 1 else -math.inf for loss, times in parts)
    first = start + sum(times * loss.first for loss, times in parts)
    return LatticeLoss(parts[0][0].step, first, np.maximum(masses, 0.0), -math.expm1(stays))


def _mean_place(masses: FloatArray) -> float:
    total = float(masses.sum())
    return float(masses @ np.arange(len(masses))) / total if total > 0 else 0.0
