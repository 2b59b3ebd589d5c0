"""Mutations of the learners with covers."""

from __future__ import annotations

from benchmarks.mutants.mutant import TESTS, Mutant

COVER = "cover/learners.py"
BY_A1 = "fitted/cover/theorem 7 *Threshold*"
BY_A3 = "fitted/cover/theorem 26*"
CONSTANTS = "tests/mechanisms/test_learner_constants.py"

MUTANTS = [
    # cover learners
    Mutant(
        "CL1",
        COVER,
        "self.epsilon * m * self.accuracy / 8 -",
        "self.epsilon * m * self.accuracy / 4 -",
        f"{CONSTANTS} -k kappa",
    ),
    Mutant(
        "CL2",
        COVER,
        "deviation = m * self.accuracy / 400",
        "deviation = m * self.accuracy / 40",
        f"{CONSTANTS} -k kappa",
    ),
    Mutant(
        "CL3",
        COVER,
        "3 * self.epsilon * self.accuracy * m / 40",
        "3 * self.epsilon * self.accuracy * m / 20",
        f"{CONSTANTS} -k kappa",
    ),
    Mutant(
        "CL4",
        COVER,
        "deviation = m * self.accuracy**2 / 32",
        "deviation = m * self.accuracy**2 / 16",
        f"{CONSTANTS} -k kappa",
    ),
    Mutant(
        "CL5",
        COVER,
        "candidates, 1.0, self.epsilon)",
        "candidates, 1.0, 2 * self.epsilon)",
        f"{TESTS}/cover/test_cover_learners.py",
    ),
    Mutant(
        "CL6",
        COVER,
        "return self.hypotheses.sample_packing_cover(X, self.accuracy / 4)",
        "return self.hypotheses.sample_packing_cover(X, self.accuracy / 2)",
        f"{TESTS}/cover/test_cover_learners.py",
    ),
    Mutant("CL7", COVER, "packing_cover(radius)", "packing_cover(radius) + 1e-3 * np.min(X)", BY_A1),
    Mutant(
        "CL8",
        COVER,
        "self.hypothesis_ = self(Labeled(X, y), 1, noise_source",
        "self.y_ = y\n        self.hypothesis_ = self(Labeled(X, y), 1, noise_source",
        BY_A3,
    ),
    Mutant(
        "CL9",
        COVER,
        "self.hypothesis_ = self(Labeled(X, y), 1, noise_source",
        "self.hypothesis_ = self(Labeled(X[1:], y[1:]), 1, noise_source",
        BY_A3,
    ),
]
