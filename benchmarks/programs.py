"""Outputs a second through the pipe of a program, beside numpy's sampler in this process.

    python -m benchmarks.programs

Compiles `examples/laplace_count.c`. Both draw the same number of Laplace outputs in one run.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from audit.execution.seeds import BLOCK
from audit.extensions.adapters import Program

SOURCE = Path(__file__).parents[1] / "examples" / "laplace_count.c"
BLOCKS = 600


def rate(draw: Callable[[], object]) -> float:
    """Millions of outputs a second over all blocks."""
    draw()
    start = time.perf_counter()
    for _ in range(BLOCKS):
        draw()
    return BLOCKS * BLOCK / (time.perf_counter() - start) / 1e6


def main() -> None:
    """Print both rates, and what of numpy's rate is left."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "laplace_count"
        subprocess.run(["cc", "-O2", "-o", binary, SOURCE, "-lm"], check=True)
        program, rng = Program((str(binary), "1")), np.random.default_rng(0)
        dataset = np.zeros(10, dtype=int)
        through_pipe = rate(lambda: program(dataset, BLOCK, rng))
        program.close()
    alone = rate(lambda: rng.laplace(size=BLOCK))
    print(f"through the pipe: {through_pipe:.1f} million outputs/s; numpy alone: {alone:.1f}")
    print(f"ratio {alone / through_pipe:.2f}, in blocks of {BLOCK} outputs")


if __name__ == "__main__":
    main()
