"""Measure the power of the sequential game at its stated resolution; it should be at least 0.8.

    python -m benchmarks.sequential_resolution [--runs N] [--steps N ...]

Each law has an event E with P(E) = p + delta and Q(E) = p e^-epsilon at the resolution epsilon, all else equal; the
game knows neither E nor epsilon. A share below 0.8 by more than its standard error says that LEARNING_COST is
too small.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import joblib
import numpy as np

from audit.extensions.sequential.game import LEARNING_COST, find_resolution, play_sequentially
from audit.outputs.encode import Outputs
from audit.statistics.bounds import EVENT_PROBABILITY, POWER

Law = Callable[[np.ndarray, np.random.Generator], np.ndarray]
_SIGNIFICANCE = 0.05
_CLAIMS = ((1.0, 0.0), (0.1, 0.0), (1.0, 0.01))


def atom(hit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The event is one value, all else another."""
    return hit.astype(float)


def atom_in_noise(hit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The event is an exact value amid noise."""
    return np.where(hit, 0.0, rng.laplace(size=len(hit)))


def tail(hit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The event is the upper tail of noise: beyond what 99 % of it reach."""
    edge = -math.log(2 * EVENT_PROBABILITY)
    noise = rng.laplace(size=len(hit))
    beyond = edge + rng.exponential(size=len(hit))
    return np.where(hit, beyond, np.where(noise > edge, -noise, noise))


def both_tails(hit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The event is a large absolute value."""
    edge = -math.log(EVENT_PROBABILITY)
    inside = np.fmod(rng.exponential(size=len(hit)), edge)
    return np.where(hit, edge + rng.exponential(size=len(hit)), inside) * rng.choice([-1.0, 1.0], len(hit))


def interval(hit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The event is a short interval inside the noise, which is absent from it otherwise."""
    noise = rng.uniform(-1, 1, len(hit))
    low, high = 0.3137, 0.3137 + 2 * EVENT_PROBABILITY
    outside = np.where((low < noise) & (noise < high), -noise, noise)
    return np.where(hit, rng.uniform(low, high, len(hit)), outside)


LAWS: tuple[Law, ...] = (atom, atom_in_noise, tail, both_tails, interval)


def is_caught(law: Law, epsilon: float, delta: float, steps: int, seed: int) -> bool:
    """One game against a violation at the stated resolution."""
    found = find_resolution(epsilon, delta, steps, _SIGNIFICANCE)
    likely = EVENT_PROBABILITY + delta, EVENT_PROBABILITY * math.exp(-found)
    rngs = [np.random.default_rng([seed, side]) for side in (0, 1)]

    def draw(side: int, size: int) -> Outputs:
        raw = law(rngs[side].random(size) < likely[side], rngs[side])
        return Outputs(raw, raw)

    return play_sequentially(draw, epsilon, delta, _SIGNIFICANCE, steps).stopped == "refuted"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--steps", type=int, nargs="*", default=[10_000, 100_000])
    asked = parser.parse_args()
    print(f"learning cost {LEARNING_COST:g}; power stated {POWER:g}")
    print(f"{'law':14} {'claim':>11} {'steps':>8} {'resolution':>10} {'caught':>7} {'s.e.':>6}")
    for steps in asked.steps:
        for epsilon, delta in _CLAIMS:
            found = find_resolution(epsilon, delta, steps, _SIGNIFICANCE)
            for law in LAWS:
                if math.isinf(found):
                    continue
                jobs = (joblib.delayed(is_caught)(law, epsilon, delta, steps, seed) for seed in range(asked.runs))
                caught = float(np.mean(joblib.Parallel(n_jobs=2)(jobs)))
                error = math.sqrt(caught * (1 - caught) / asked.runs)
                claim = f"{epsilon:g}, {delta:g}"
                print(f"{law.__name__:14} {claim:>11} {steps:8} {found:10.3f} {caught:7.2f} {error:6.2f}", flush=True)


if __name__ == "__main__":
    main()
