"""Measure the power of the game between two laws.

    python -m benchmarks.compare

The game is repeated on pairs of biased bits, whose total variation is known, at multiples of the resolution that every
comparison prints.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from audit.execution.seeds import Stream
from audit.extensions.compare.samples import LawTest, tell_apart
from audit.outputs.encode import encode

GAMES = 400
SAMPLE = 20_000
SIGNIFICANCE = 0.05
MULTIPLES = (0.0, 0.5, 1.0, 1.5, 2.0)


def one_game(variation: float, rng: np.random.Generator, seed: int) -> LawTest:
    """Bits of probability (1 +- variation) / 2."""
    sides = [(rng.random(SAMPLE) < (1 + sign * variation) / 2).astype(float) for sign in (1, -1)]
    found = tell_apart(encode(sides[0], SAMPLE), encode(sides[1], SAMPLE), SIGNIFICANCE, Stream(seed))
    assert found is not None
    return found


def main() -> None:
    """Print how often laws at known distances are told apart."""
    rng = np.random.default_rng(0)
    resolution = one_game(0.0, rng, 0).variation_resolution
    print(f"{GAMES} games on {SAMPLE} outputs each, significance {SIGNIFICANCE:g}, resolution {resolution:.4f}\n")
    print("| total variation / resolution | told apart | 99 % interval | certified, mean over the truth |")
    print("| ---: | ---: | ---: | ---: |")
    for multiple in MULTIPLES:
        games = [one_game(multiple * resolution, rng, seed) for seed in range(GAMES)]
        told = sum(game.differ for game in games)
        interval = stats.binomtest(told, GAMES).proportion_ci(0.99)
        share = np.mean([game.variation for game in games]) / (multiple * resolution) if multiple else float("nan")
        certified = f"{share:.2f}" if multiple else "–"
        print(f"| {multiple:g} | {told / GAMES:.3f} | {interval.low:.3f}–{interval.high:.3f} | {certified} |")


if __name__ == "__main__":
    main()
