"""Leak by seeds and noise that are used again, or in some calls only."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .registry import LEAKS, Leak, add_leaks, leak


@leak("seeds", certain=False, calls=False)
def global_seed(data, size, rng):
    np.random.seed(42)  # noqa: NPY002
    return data[0] + np.random.laplace(scale=4.0, size=size)  # noqa: NPY002


def _leaking(data, size, rng, leaks):
    return rng.laplace(scale=4.0, size=size) + (1000.0 * data[0] if leaks else 0.0)


@leak("calls", certain=False, calls=False)
def leaks_in_long_calls_of_chosen_noise(data, size, rng):
    drawn = [rng.laplace(scale=4.0) if rng.random() < 0.5 else rng.laplace(scale=8.0) for _ in range(size)]
    return np.array(drawn) + (1000.0 * data[0] if size > 13_000 else 0.0)


@dataclass
class Suspicious:
    """Leaks where a call looks like one of a certain stage, and remembers whether that ever happened."""

    suspects: Callable[[np.random.Generator, set[str]], bool]
    found: int = 0

    def __call__(self, data, size, rng):
        frame, names = sys._getframe(), set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
        leaks = self.suspects(rng, names)
        self.found += leaks
        return _leaking(data, size, rng, leaks)


def _spawn_key(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(getattr(rng.bit_generator.seed_seq, "spawn_key", ()))


SUSPICIOUS = {  # nothing tells these the stage, so that they never leak
    "by_the_spawn_key": Suspicious(lambda rng, names: bool(_spawn_key(rng))),
}


@dataclass
class LeaksLater:
    after: int
    drawn: int = 0

    def __call__(self, data, size, rng):
        self.drawn += size
        return _leaking(data, size, rng, self.drawn > self.after)


LEAKS.append(  # the calls that are set aside among those of training tell it
    Leak(
        "leaks_by_the_name_of_a_caller",
        Suspicious(lambda rng, names: "certify" in names),
        "calls",
        certain=False,
    )
)
LEAKS += [Leak(f"leaks_after_{n}_outputs", LeaksLater(n), "calls", certain=False) for n in (40_000, 100_000, 150_000)]


add_leaks(
    "seeds",
    {
        "own_fixed_generator": lambda data, size, rng: data[0] + np.random.default_rng(0).laplace(scale=4.0, size=size),
        "seeded_by_the_size": lambda data, size, rng: (
            data[0] + np.random.default_rng(size).laplace(scale=4.0, size=size)
        ),
        "seed_of_few_bits": lambda data, size, rng: (
            data[0] + np.random.default_rng(int(rng.integers(4))).laplace(scale=4.0, size=size)
        ),
        "one_noise_for_a_call": lambda data, size, rng: data[0] + np.full(size, rng.laplace(scale=4.0)),
        "half_of_the_noise_shared": lambda data, size, rng: (
            data[0] + rng.laplace(scale=3.0) + rng.laplace(scale=3.0, size=size)
        ),
        "noise_of_a_short_period": lambda data, size, rng: data[0] + np.resize(rng.laplace(scale=4.0, size=50), size),
    },
    certain=False,
    calls=False,
)
add_leaks(
    "seeds",
    {
        "fixed_generator_in_each_call": lambda data, rng: data[0] + np.random.default_rng(0).laplace(scale=4.0),
        "fixed_random_module": lambda data, rng: data[0] + random.Random(7).gauss(0.0, 20.0),
    },
    certain=False,
)
add_leaks(
    "calls",
    {
        "leaks_in_long_calls": lambda data, size, rng: _leaking(data, size, rng, size > 13_000),
    },
    certain=False,
    calls=False,
)
