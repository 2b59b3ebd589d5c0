"""Mutations of the local learner."""

from __future__ import annotations

from benchmarks.mutants.mutant import TESTS, Mutant

CLASSIFIER = "papers/berrett2019/classifier.py"
ITS_TESTS = f"{TESTS}/berrett2019/test_classifier.py"

MUTANTS = [
    Mutant(
        "LH1",
        CLASSIFIER,
        "scale = noise_scale(grid.dim, self.epsilon)\n        return Cell",
        "scale = 0.7 * noise_scale(grid.dim, self.epsilon)\n        return Cell",
        ITS_TESTS,
    ),
    Mutant("LH2", CLASSIFIER, "/ (2 * users[0])", "/ users[0]", ITS_TESTS),
    Mutant("LH3", "papers/berrett2019/law.py", ">= 0).astype", "< 0).astype", ITS_TESTS),
    Mutant(
        "LH4",
        CLASSIFIER,
        "        scale = noise_scale(grid.dim, self.epsilon)\n",
        "        self.users_ = X\n        scale = noise_scale(grid.dim, self.epsilon)\n",
        "berrett2019/LocalVoteClassifier defaults",
    ),
    Mutant(
        "LH5",
        CLASSIFIER,
        "scale * (rng.gamma(n, size=np.shape(bits)) - rng.gamma(n, size=np.shape(bits)))",
        "scale * (rng.gamma(n) - rng.gamma(n))",
        ITS_TESTS,
    ),
]
