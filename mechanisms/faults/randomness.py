"""Broken sources of noise: the law of one output is right, and the outputs are not independent.

Each adds Laplace noise of scale 1 / epsilon to a count. One output alone keeps (epsilon, 0), so that an audit of the
law of one output finds nothing. Sources of the faults: Garfinkel & Leclerc (2020) on seeds and workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import RandomnessCheck, Verdict
from mechanisms.queries import count_positive

BUDGET = 8_192
SOURCE = "claimed: each release has noise of its own"
_SEED = 2012
_OWN = np.random.default_rng(_SEED)  # the fault of SharedByWorkers: one generator, made when the module is imported


@dataclass(frozen=True)
class FixedSeed:
    """Makes its generator anew, from the same seed, in every call.

    True privacy: none (delta = 1 for every epsilon) against those who know the seed, or see one more release: the
    difference of two releases is the difference of the answers.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noise = np.random.default_rng(_SEED).laplace(scale=1 / self.epsilon, size=size)
        return count_positive(dataset) + noise


@dataclass(frozen=True)
class ReusedStream:
    """Reads its noise from one stream that every call enters at one of the first 64 places.

    True privacy: none (delta = 1 for every epsilon) for two calls on neighboring datasets: aligned, their outputs
    differ by the difference of the answers throughout.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        start = int(rng.integers(64))
        stream = np.random.default_rng(_SEED).laplace(scale=1 / self.epsilon, size=start + size)
        return count_positive(dataset) + stream[start:]


@dataclass(frozen=True)
class RepeatedWithinACall:
    """The second half of a batch gets the noise of the first half.

    True privacy: (epsilon, 0) for each output alone; none (delta = 1 for every epsilon) where the two that share their
    noise answer on different data, whose difference they then give away.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        half = rng.laplace(scale=1 / self.epsilon, size=(size + 1) // 2)
        return count_positive(dataset) + np.tile(half, 2)[:size]


@dataclass(frozen=True)
class SharedByWorkers:
    """Draws from a generator of the module, which forked workers inherit in the same state.

    True privacy: (epsilon, 0) within one process; none (delta = 1 for every epsilon) for two workers that release
    answers on neighboring datasets, since their noise is the same.
    """

    epsilon: float
    own_randomness = True

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + _OWN.laplace(scale=1 / self.epsilon, size=size)


@dataclass(frozen=True)
class ShortPeriod:
    """Noise by inversion of a linear congruential generator modulo 2^8, well seeded.

    True privacy: none (delta = 1 for every epsilon) over more than 256 outputs: the noise comes back every 256, so
    that one of them tells all those at its distance.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        centered = (_congruential(int(rng.integers(256)), size) + 0.5) / 256 - 0.5
        return count_positive(dataset) - np.sign(centered) * np.log1p(-2 * np.abs(centered)) / self.epsilon


def _congruential(state: int, size: int) -> np.ndarray:
    """State k + 1 is 141 times state k plus 3, modulo 256: full period, by Hull & Dobell (1962)."""
    states = []
    for _ in range(size):
        states.append(state)
        state = (141 * state + 3) % 256
    return np.array(states, dtype=float)


def _check(name: str, mechanism: Any) -> RandomnessCheck:
    return RandomnessCheck(
        name=f"fault/randomness {name}",
        mechanism=mechanism,
        dataset=np.ones(8),
        source=SOURCE,
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


CHECKS: list[RandomnessCheck] = [
    _check("fixed seed", FixedSeed(0.5)),
    _check("reused stream", ReusedStream(0.5)),
    _check("repeated within a call", RepeatedWithinACall(0.5)),
    _check("shared by workers", SharedByWorkers(0.5)),
    _check("short period", ShortPeriod(0.5)),
]
