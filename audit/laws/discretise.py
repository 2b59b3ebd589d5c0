"""Discretised privacy-loss distributions, one side or the other of the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from dp_accounting.pld import privacy_loss_distribution

from audit.laws.loss import Direction, FloatArray, PrivacyLoss, opposite, scaled

_LARGEST_LOSS = 700.0
_LEAST_MASS = 1e-12


@dataclass(frozen=True)
class Lattice:
    """Losses are rounded to multiples of `step`; at most `truncation` mass is cut from an unbounded loss.

    `cells` is the expected length of the composed distribution. A loss within `nudge` of a lattice point counts
    as lying on it; that allows for the `threshold_error` of the tails.
    """

    step: float
    cells: int
    truncation: float
    nudge: float


def span(loss: PrivacyLoss, direction: Direction, truncation: float) -> tuple[float, float]:
    """Give an interval that holds all finite losses but a mass of `truncation` at either end."""
    at_infinity = loss.mass_at_infinity(direction)
    top = min(loss.max_loss(direction), _LARGEST_LOSS)
    bottom = -min(loss.max_loss(opposite(direction)), _LARGEST_LOSS)
    high = _first(lambda t: _upper_tail(loss, t, direction) - at_infinity <= truncation, bottom, top)
    low = -_first(lambda t: 1 - _upper_tail(loss, -t, direction) <= truncation, -high, -bottom)
    return low, high


def distribution(
    loss: PrivacyLoss, direction: Direction, lattice: Lattice, pessimistic: bool
) -> privacy_loss_distribution.PrivacyLossDistribution:
    """Give a lattice distribution whose profile lies above (pessimistic) or below that of `loss`."""
    build = _dominating if pessimistic else _dominated
    low, high = span(loss, direction, lattice.truncation)
    first = math.floor((low - lattice.nudge) / lattice.step)
    last = max(math.ceil((high - lattice.nudge) / lattice.step), first + 1)
    indices = np.arange(first, last + 1)
    masses, infinite = build(loss, direction, np.asarray(indices * lattice.step, dtype=float), lattice)
    kept = masses > 0
    table = dict(zip(indices[kept].tolist(), masses[kept].tolist(), strict=True))
    return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
        table or {0: 0.0}, infinite, lattice.step, pessimistic_estimate=pessimistic, symmetric=True
    )


def _dominating(loss: PrivacyLoss, side: Direction, points: FloatArray, lattice: Lattice) -> tuple[FloatArray, float]:
    """Spread the mass of each cell over its two ends, keeping p and q of the cell.

    A mean-preserving spread of the likelihood ratio raises every hockey-stick divergence. With P, Q the
    masses of the losses in (s, t], the share of t is (P - e^s Q) / (1 - e^(s - t)): algorithm 1 of Doroshenko
    et al. 2022, written in the tails. Errors of the tails make that share larger, never smaller.
    """
    p, q, error = loss._tails(points + lattice.nudge, side)
    cell_p, cell_q = np.maximum(p[:-1] - p[1:], 0.0), np.maximum(q[:-1] - q[1:], 0.0)
    doubt = error[:-1] + error[1:]
    excess = cell_p + doubt - scaled(np.maximum(cell_q - doubt, 0.0), points[:-1])
    up = np.clip(excess / -np.expm1(-lattice.step), 0.0, cell_p)
    masses = np.zeros(points.shape)
    masses[1:] += up
    masses[:-1] += cell_p - up
    masses[0] += max(0.0, 1 - p[0])
    masses[-1] += _LEAST_MASS if masses.sum() < _LEAST_MASS else 0.0  # a convolution needs some; more is safe
    return masses, float(p[-1] + error[-1])


def _dominated(loss: PrivacyLoss, side: Direction, points: FloatArray, lattice: Lattice) -> tuple[FloatArray, float]:
    """Round each loss down to the lattice; mass below the first point is dropped."""
    p, _, _ = loss._tails(points - lattice.nudge, side)
    infinite = min(loss.mass_at_infinity(side), float(p[-1]))
    masses = np.maximum(p - np.append(p[1:], infinite), 0.0)
    return masses, infinite


def _upper_tail(loss: PrivacyLoss, threshold: float, direction: Direction) -> float:
    return float(loss._tails(np.array([threshold]), direction)[0][0])


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Give a point of [low, high], close to the least one, from which `holds` is true; `high` when there is none."""
    if high - low <= 0:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
