"""Counts with discrete Gaussian noise of different scales: their epsilon from both sides, at deltas below 1e-35 too.

Losses are tilted towards the wanted delta before a Fourier transform composes them: its rounding, which is relative to
the largest masses, is then small against the masses that decide.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy import fft, special

from audit.api import InvalidArgument, validate

_CELLS, _RANGE = 2**19, 50.0  # of the lattice, and its width in standard deviations of the loss
_BELOW, _REACH = 4.0, 15.0  # standard deviations: of the loss, that are searched; of the noise, that are summed
_ROUNDING = 1e-6  # of a delta, relative
_HALVINGS = 40  # of an interval of tilts; any tilt gives valid bounds

Part = tuple[np.ndarray, np.ndarray, int]  # losses of a cell, their log-probabilities, and the number of such cells


@dataclass(frozen=True)
class DiscreteGaussians:
    """Histograms with discrete Gaussian noise on each cell; a record is in one cell of each histogram.

    Parameters
    ----------
    variances : sequence of float > 0
        The parameter sigma^2 of the noise, one for each histogram.

    References
    ----------
    Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy.
    """

    variances: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "variances", tuple(validate.positive(one, "variances") for one in self.variances))
        if not self.variances:
            raise InvalidArgument("`variances` must hold the variance of at least one histogram, got none")


def bracket_counts(event: DiscreteGaussians, delta: float, cells: int) -> tuple[float, float]:
    """Return bounds of epsilon at delta where a record moves so many cells of each histogram by 1.

    The laws of both directions are alike, and the pair that moves all these cells dominates.
    """
    low, high = 0.0, 1.0
    while _log_chernoff(event, high, cells) > math.log(delta):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_chernoff(event, middle, cells) > math.log(delta) else (low, middle)
    parts = _parts(event, high, cells)
    return _epsilon(parts, high, delta, is_upper=False), _epsilon(parts, high, delta, is_upper=True)


def _parts(event: DiscreteGaussians, tilt: float, cells: int) -> list[Part]:
    """Return the losses of noise x against x - 1, (1 - 2 x) / (2 variance): a tilt moves the noise by its negative."""
    found = []
    for variance, count in Counter(event.variances).items():
        reach = _REACH * math.sqrt(variance) + 2
        x = np.arange(-math.ceil(reach + tilt), math.ceil(reach) + 1)
        logs = -(x**2) / (2 * variance)
        found.append(((1 - 2 * x) / (2 * variance), logs - special.logsumexp(logs), cells * count))
    return found


def _moments(parts: list[Part], tilt: float) -> tuple[float, float, float]:
    """Return the logarithm of the mean of e^(tilt * loss), and the mean and the variance of the tilted loss."""
    found = np.zeros(3)
    for losses, logs, count in parts:
        log_mass = special.logsumexp(logs + tilt * losses)
        masses = np.exp(logs + tilt * losses - log_mass)
        mean = masses @ losses
        found += count * np.array([log_mass, mean, masses @ (losses - mean) ** 2])
    return float(found[0]), float(found[1]), float(found[2])


def _log_chernoff(event: DiscreteGaussians, tilt: float, cells: int) -> float:
    """Return the logarithm of Chernoff's bound of the tail above the tilted mean, which falls with the tilt."""
    log_mass, mean, _ = _moments(_parts(event, tilt, cells), tilt)
    return log_mass - tilt * mean


def _epsilon(parts: list[Part], tilt: float, delta: float, is_upper: bool) -> float:
    """Return epsilon where each loss is rounded to a lattice, up or down, and so is epsilon itself."""
    _, mean, variance = _moments(parts, tilt)
    step, rounded = _RANGE * math.sqrt(variance) / _CELLS, np.ceil if is_upper else np.floor
    lattice = [(step * rounded(losses / step), logs, count) for losses, logs, count in parts]
    spectrum = np.ones(_CELLS // 2 + 1, dtype=complex)
    for losses, logs, count in lattice:
        masses = np.exp(logs + tilt * losses)
        places = np.round(losses / step).astype(np.int64) % _CELLS
        spectrum *= fft.rfft(np.bincount(places, masses / masses.sum(), _CELLS)) ** count
    middle, below = round(mean / step), round(_BELOW * math.sqrt(variance) / step)
    masses = np.roll(fft.irfft(spectrum), _CELLS // 2 - middle)[_CELLS // 2 - below :]
    above = step * (np.arange(masses.size) - below)  # losses, less the tilted mean
    masses = masses * np.exp(-tilt * above)
    tail, moved = (np.cumsum(part[::-1])[::-1] for part in (masses, masses * np.exp(-above)))
    deltas = (tail - np.exp(above) * moved) * math.exp(_moments(lattice, tilt)[0] - tilt * step * middle)
    place = int(np.argmax(deltas <= delta * (1 - _ROUNDING if is_upper else 1 + _ROUNDING))) - (not is_upper)
    return max(0.0, step * middle + float(above[place])) if place >= 0 else 0.0
