"""Broken sources of noise: the law of one output is right, and the outputs are not independent.

Each adds Laplace noise of scale 2 to a count. One output alone keeps (1/2, 0), so that an audit of the law of one
output finds nothing. Sources of the faults: Garfinkel & Leclerc (2020) on seeds and workers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import RandomnessCheck, Verdict
from mechanisms.queries import count_positive

_SEED = 2012
_OWN = np.random.default_rng(_SEED)  # the fault of `draw_from_own`: one generator, made when the module is imported


@dataclass(frozen=True)
class NoisyCount:
    """A count with noise from a source of standard Laplace noise, (size, rng) -> noise."""

    draw: Callable[[int, np.random.Generator], np.ndarray]
    own_randomness: bool = False

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + 2 * self.draw(size, rng)


def draw_from_seed(size: int, rng: np.random.Generator) -> np.ndarray:
    """Make the generator anew, from the same seed, in every call."""
    return np.random.default_rng(_SEED).laplace(size=size)


def draw_from_stream(size: int, rng: np.random.Generator) -> np.ndarray:
    """Read the noise from one stream that every call enters at one of the first 64 places."""
    start = int(rng.integers(64))
    return np.random.default_rng(_SEED).laplace(size=start + size)[start:]


def repeat_half(size: int, rng: np.random.Generator) -> np.ndarray:
    """Give the second half of a batch the noise of the first half."""
    return np.tile(rng.laplace(size=(size + 1) // 2), 2)[:size]


def draw_from_own(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a generator of the module, which forked workers inherit in the same state."""
    return _OWN.laplace(size=size)


def draw_by_congruences(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw by inversion of a linear congruential generator modulo 2^8, well seeded; Hull & Dobell (1962)."""
    states = np.full(max(size, 1), int(rng.integers(256)))
    for at in range(1, size):
        states[at] = (141 * states[at - 1] + 3) % 256
    centered = (states[:size] + 0.5) / 256 - 0.5
    return np.asarray(-np.sign(centered) * np.log1p(-2 * np.abs(centered)))


CHECKS: list[RandomnessCheck] = [
    RandomnessCheck(
        name=f"fault/randomness {name}",
        mechanism=mechanism,
        dataset=np.ones(8),
        source="claimed: each release has noise of its own",
        expected=Verdict.FAIL,
        budget=8_192,
    )
    for name, mechanism in (
        ("fixed seed", NoisyCount(draw_from_seed)),
        ("reused stream", NoisyCount(draw_from_stream)),
        ("repeated within a call", NoisyCount(repeat_half)),
        ("shared by workers", NoisyCount(draw_from_own, own_randomness=True)),
        ("short period", NoisyCount(draw_by_congruences)),
    )
]
