"""Measure how often each test of a training run rejects a run of the claimed mechanism.

Run as `python -m benchmarks.training.levels [--runs 1500]`. It prints a line per test: the shares of runs with p-values
of at most 0.5, 0.1, 0.02 and 0.005. Exact tests reach these levels; bounds, as by unions, stay below.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

import audit
from audit.extensions import training
from audit.extensions.training.runs.judge import findings

LEVELS = (0.5, 0.1, 0.02, 0.005)
RECORDS, DIMENSION, STEPS, RATE, NOISE = 300, 40, 60, 0.1, 1.1


def pvalues(seed: int) -> dict[str, float]:
    """Return the p-value of each test of one run."""
    claim = audit.TrainingClaim(noise_multiplier=NOISE, steps=STEPS, clip=1.0, rate=RATE)
    rng, recorder = np.random.default_rng([7, seed]), training.Recorder(claim, RECORDS, seed=seed)
    rows = np.random.default_rng(5).normal(size=(RECORDS, DIMENSION))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for _ in range(STEPS):
        batch = np.flatnonzero(rng.random(RECORDS) < RATE)
        noise = NOISE * rng.normal(size=DIMENSION)
        recorder.step(batch, clipped=rows[batch], noisy_sum=rows[batch].sum(axis=0) + noise)
    return {found.part: found.pvalue for found in findings(claim, recorder.evidence())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1500)
    found = defaultdict(list)
    runs = parser.parse_args().runs
    for seed in range(runs):
        for part, pvalue in pvalues(seed).items():
            found[part].append(pvalue)
    print("| test | " + " | ".join(f"p <= {level:g}" for level in LEVELS) + " |\n|" + " --- |" * (len(LEVELS) + 1))
    for part, values in found.items():
        shares = (f"{np.mean(np.array(values) <= level):.4f}" for level in LEVELS)
        print(f"| {part} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
