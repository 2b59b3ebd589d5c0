"""Measure comparisons: the power of the game between two laws, and the cost of adapters next to plain loops.

    python -m benchmarks.compare

The first table repeats the game on pairs of biased bits, whose total variation is known, at multiples of the resolution
that every comparison prints. The second calls each library in a plain loop and through its adapter; needs the extra
`libraries`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from audit.execution.seeds import Stream
from audit.extensions.compare.samples import LawTest, draw_sample, tell_apart
from audit.outputs.encode import encode
from mechanisms.comparisons.libraries import diffprivlib_noise, opendp_laplace, pydp_laplace

GAMES = 400
SAMPLE = 20_000
SIGNIFICANCE = 0.05
MULTIPLES = (0.0, 0.5, 1.0, 1.5, 2.0)
CALLS = 20_000


def one_game(variation: float, rng: np.random.Generator, seed: int) -> LawTest:
    """Bits of probability (1 +- variation) / 2."""
    sides = [(rng.random(SAMPLE) < (1 + sign * variation) / 2).astype(float) for sign in (1, -1)]
    found = tell_apart(encode(sides[0], SAMPLE), encode(sides[1], SAMPLE), SIGNIFICANCE, Stream(seed))
    assert found is not None
    return found


def power() -> None:
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


def real(dataset: object) -> float:
    """An answer that takes no time."""
    return 20.0


def whole(dataset: object) -> int:
    """The same as an integer."""
    return 20


def per_second(draw: Callable[[], object]) -> float:
    """Outputs a second of a loop of CALLS outputs, the better of two."""
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - begun)
    return CALLS / min(seconds)


def adapters() -> None:
    """Print outputs a second in a plain loop and through the adapter."""
    opendp = opendp_laplace(whole, 1.0, of_integers=True).mechanism
    diffprivlib = diffprivlib_noise(whole, "Geometric", 1.0).mechanism
    pydp = pydp_laplace(real, 1.0).mechanism
    subjects = {
        "OpenDP make_laplace, int": (opendp, lambda: opendp.built([20] * CALLS)),
        "diffprivlib Geometric": (diffprivlib, lambda: [diffprivlib.built.randomise(20) for _ in range(CALLS)]),
        "PyDP LaplaceMechanism": (pydp, lambda: [pydp.built.add_noise(20.0) for _ in range(CALLS)]),
    }
    print("\n| library | alone, outputs/s | through the adapter | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name, (mechanism, draw) in subjects.items():
        alone = per_second(draw)
        through = draw_sample(mechanism, None, CALLS, Stream(0)).per_second
        print(f"| {name} | {alone:,.0f} | {through:,.0f} | {alone / through:.2f} |")


def main() -> None:
    """Print both tables."""
    power()
    adapters()


if __name__ == "__main__":
    main()
