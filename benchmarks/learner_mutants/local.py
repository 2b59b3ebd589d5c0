"""Mutations of the local learner."""

from __future__ import annotations

from benchmarks.mutants.mutant import TESTS, Mutant

LOCAL = "local/classifier.py"

MUTANTS = [
    # LocalHistogramClassifier
    Mutant(
        "LH1",
        LOCAL,
        "scale = noise_scale(grid.dim, epsilon)",
        "scale = 0.7 * noise_scale(grid.dim, epsilon)",
        f"{TESTS}/local/test_classifier.py",
    ),
    Mutant("LH2", LOCAL, "labeled - bits / 2", "labeled - bits", f"{TESTS}/local/test_classifier.py"),
    Mutant("LH3", LOCAL, ">= 0).astype", "< 0).astype", f"{TESTS}/local/test_classifier.py"),
    Mutant(
        "LH4",
        LOCAL,
        "        self.grid_, self.statistic_ = grid,",
        "        self.users_ = points\n        self.grid_, self.statistic_ = grid,",
        "fitted/local/* pair 0*",
    ),
    Mutant(
        "LH5",
        LOCAL,
        "rng.laplace(scale=scale, size=bits.shape)",
        "rng.laplace(scale=scale, size=(len(bits), 1))",
        f"{TESTS}/local/test_classifier.py",
    ),
]
