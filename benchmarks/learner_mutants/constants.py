"""Mutations of the constants of the papers that learners use."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

SERVICE = "papers/bassily2018/algorithm4.py"
NOISE = "papers/bassily2018/noise.py"
OF_NOISE = "tests/mechanisms/bassily2018/test_bassily_noise.py"
CONSTANTS = "tests/mechanisms/test_learner_constants.py"
ESTIMATORS = "learners/classifiers.py"
PACKAGE = "tests/mechanisms/test_learner_package.py"

THEOREMS = "papers/berrett2019/theorems.py"

MUTANTS = [
    # constants and bounds
    Mutant(
        "CN1",
        NOISE,
        "math.sqrt(32 * cutoff * math.log(2 / delta))",
        "math.sqrt(8 * cutoff * math.log(2 / delta))",
        f"{OF_NOISE} -k noise",
    ),
    Mutant(
        "CN2",
        NOISE,
        "doubled = printed(epsilon, delta, 2 * cutoff, 2 * max_queries)",
        "doubled = printed(epsilon, delta, cutoff, max_queries)",
        f"{OF_NOISE} -k noise",
    ),
    Mutant("CN3", NOISE, "return min(pure(", "return max(pure(", f"{OF_NOISE} -k smaller"),
    Mutant("CN4", SERVICE, "math.ceil(136 * ", "math.ceil(34 * ", f"{OF_NOISE} -k teachers"),
    Mutant("CN5", THEOREMS, "total = 4 * setting", "total = 0.04 * setting", f"{CONSTANTS} -k term_by_term"),
    Mutant(
        "CN6",
        THEOREMS,
        "math.exp(-rate * 4.0**j / 2 ** (4 * d + 8 - 2 * beta))",
        "math.exp(-rate * 4.0**j / 2 ** (4 * d + 2 - 2 * beta))",
        f"{CONSTANTS} -k term_by_term",
    ),
    Mutant(
        "CN7",
        "labels/excess.py",
        "return math.sqrt(math.log(2",
        "return 0.85 * math.sqrt(math.log(2",
        f"{CONSTANTS} -k 38",
    ),
    Mutant(
        "CN8", "labels/excess.py", "self.n_neighbors) + bias", "self.n_neighbors) + 0.85 * bias", f"{CONSTANTS} -k 38"
    ),
    # rules for parameters that are not given
    Mutant(
        "RU1",
        ESTIMATORS,
        "math.tanh(epsilon / 4) ** 2",
        "math.tanh(epsilon / 2) ** 2",
        f"{PACKAGE} -k neighbors_follow",
    ),
    Mutant("RU2", ESTIMATORS, "round(2 * n**0.5)", "round(4 * n**0.5)", f"{PACKAGE} -k neighbors_follow"),
    Mutant("RU3", ESTIMATORS, "separators.doubling_dim)[1] - n", "1.0)[1] - n", f"{PACKAGE} -k cover_follows"),
    Mutant(
        "RU4",
        ESTIMATORS,
        "rule if self.accuracy is None",
        "0.2 if self.accuracy is None",
        f"{PACKAGE} -k cover_follows",
    ),
]
