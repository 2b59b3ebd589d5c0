"""Mutations of the fit, predict and release bodies of the five papers' learners, each with what must notice it.

    python -m benchmarks.learner_mutants            all of them; about fifteen minutes of one core
    python -m benchmarks.learner_mutants AG KT      those whose name begins with AG or KT

A mutation replaces a text that occurs once in a file. It is noticed by a check of `mechanisms.fitted`, which then gets
another verdict than PASS at a budget of 1,000 fits, or by a test, which fails. Every mutation runs in a process of its
own, forked before anything of `mechanisms` is imported. The exit status is 1 if a mutation survives, or if its text is
not found.
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib.abc
import importlib.util
import io
import multiprocessing
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
BUDGET, SIGNIFICANCE = 1_000, 1e-3
TESTS = "tests/mechanisms"


@dataclass(frozen=True)
class Mutant:
    """One mutation.

    Parameters
    ----------
    name : str
        Letters for the learner, and a number.
    file : str
        In `mechanisms`.
    old, new : str
        The text, which occurs once, and what replaces it.
    notices : str
        Pattern of checks of `mechanisms.fitted`, or a test file, with a `-k` expression after " -k " if there is one.
    """

    name: str
    file: str
    old: str
    new: str
    notices: str


CUBE, HIDDEN, STABLE = "consistency/cube_classifier.py", "consistency/hidden_votes.py", "consistency/stable_votes.py"
DENSITY, VORONOI, SEMI, SSL = (
    f"consistency/{name}.py" for name in ("cube_density", "voronoi", "semi_private", "semi_supervised")
)
REGRESSOR, BY_TARGETS = "consistency/cube_regressor.py", "fitted/consistency/*CubeRegressor*"
HISTOGRAM = "stability_histogram.py"
NEIGHBORS, UNARY, STAGES, NETWORK = (f"labels/{name}.py" for name in ("neighbors", "unary", "two_stage", "network"))
LOCAL, COVER = "local/classifier.py", "cover/learners.py"
SERVICE, SOFT, STUDENT, ONLINE, NOISE = (
    f"stability/{name}.py" for name in ("aggregate", "soft_labels", "transfer", "online", "calibration")
)
BY_CUBES, ON_LINE = "fitted/consistency/*3.1 CubeClassifier eps*", "fitted/consistency/*on the line*"
BY_CELLS, BY_PAIRS = "fitted/consistency/*StableVoronoiClassifier*", "fitted/consistency/*PairHistogramClassifier*"
BY_COUNTS, BY_SSL = "fitted/consistency/*CubeDensity*", "fitted/consistency/*SemiSupervisedLearner*"
BY_KNN, BY_STAGES = "fitted/labels/VectorTargetKNN eps*", "fitted/labels/TwoStageLabelTrainer*"
BY_A1, BY_A3 = "fitted/cover/theorem 7 *Threshold*", "fitted/cover/theorem 26*"
BY_SERVICE, BY_SOFT = "fitted/stability/SubsampleAggregate*", "fitted/stability/SoftLabelService*"
BY_STUDENT = "fitted/stability/KnowledgeTransferLearner*"
CONSTANTS = f"{TESTS}/test_learner_constants.py"
LEARNERS = f"{TESTS}/consistency/test_learners.py"
POLYNOMIAL = f"{TESTS}/consistency/test_hidden_votes.py"
LABEL_LEARNERS = f"{TESTS}/labels/test_label_learners.py"
FITTED = f"{TESTS}/test_fitted_learners.py"

MUTANTS: list[Mutant] = [
    # CubeClassifier
    Mutant(
        "CC1", CUBE, "scale=1 / self.epsilon, size=grid.size)", "scale=0.5 / self.epsilon, size=grid.size)", BY_CUBES
    ),
    Mutant(
        "CC2",
        CUBE,
        "margins = labels(y, len(rows)) - 0.5\n        rng",
        "margins = labels(y, len(rows)) - 0.2\n        rng",
        BY_CUBES,
    ),
    Mutant("CC3", CUBE, "size=grid.size) > 0)", "size=grid.size) > 1)", BY_CUBES),
    Mutant("CC4", CUBE, "self.epsilon, size=grid.size)", "self.epsilon, size=1)", BY_CUBES),
    Mutant(
        "CC5",
        CUBE,
        "            self.votes_ = (sums",
        "            self.sums_ = sums\n            self.votes_ = (sums",
        BY_CUBES,
    ),
    Mutant(
        "CC6",
        CUBE,
        "            self.votes_ = (sums",
        "            self._rng = rng\n            self.votes_ = (sums",
        BY_CUBES,
    ),
    Mutant("CC7", CUBE, "min(j, last) for j in key", "j for j in key", f"{POLYNOMIAL} -k last_cube"),
    Mutant("CC8", CUBE, "margins, self.epsilon, rng)", "margins, 2 * self.epsilon, rng)", ON_LINE),
    Mutant(
        "CC9",
        CUBE,
        "self.votes_: Any = draw_votes",
        "self.keys_ = self._keys(grid, rows)\n            self.votes_: Any = draw_votes",
        ON_LINE,
    ),
    Mutant(
        "CC10",
        CUBE,
        "return np.asarray(votes[self._keys",
        "return 1 - np.asarray(votes[self._keys",
        f"{POLYNOMIAL} -k thirty",
    ),
    # CubeRegressor
    Mutant("CR1", REGRESSOR, "self.dim + 1, self.epsilon,", "self.dim + 1, 2 * self.epsilon,", BY_TARGETS),
    Mutant("CR2", REGRESSOR, "self.density_.random_state = None", "self.n_ = sum(targets)", BY_TARGETS),
    Mutant("CR3", REGRESSOR, "(level + 0.5)", "(level + 1.5)", f"{LEARNERS} -k regressor"),
    # votes as a polynomial
    Mutant(
        "HV1",
        HIDDEN,
        "scale=1 / epsilon, size=len(occupied)) > 0",
        "scale=0.5 / epsilon, size=len(occupied)) > 0",
        ON_LINE,
    ),
    Mutant("HV2", HIDDEN, "& ~np.uint32(1) | votes", "| votes", ON_LINE),
    Mutant(
        "HV3",
        HIDDEN,
        "values = rng.integers(field.size, size",
        "values = rng.integers(2, size",
        "fitted/*coefficients*",
    ),
    Mutant(
        "HV4",
        HIDDEN,
        "rng.integers(field.size, size=size, dtype=np.uint64)",
        "0 * rng.integers(field.size, size=size, dtype=np.uint64)",
        "fitted/*coefficients*",
    ),
    Mutant("HV5", HIDDEN, "quotient = product[k] ^ self", "quotient = self", f"{POLYNOMIAL} -k interpolation"),
    Mutant(
        "HV6",
        HIDDEN,
        "for coefficient in coefficients[::-1]",
        "for coefficient in coefficients",
        f"{POLYNOMIAL} -k interpolation",
    ),
    Mutant("HV7", HIDDEN, "if element not in known)", "if True)", f"{POLYNOMIAL} -k filled_in"),
    # stability histogram
    Mutant("SH1", HISTOGRAM, "return dict(sorted_by_label((", "return dict(list((", f"{FITTED} -k sorted_whatever"),
    Mutant("SH2", HISTOGRAM, "if not value < self.threshold)", "if not value < 0)", BY_COUNTS),
    Mutant(
        "SH3", HISTOGRAM, "noise = rng.laplace(scale=self.scale", "noise = rng.laplace(scale=self.scale / 2", BY_COUNTS
    ),
    # CubeDensity
    Mutant(
        "CD1",
        DENSITY,
        "histogram = StabilityHistogram(self.epsilon, self.delta)\n        self",
        "histogram = StabilityHistogram(2 * self.epsilon, self.delta)\n        self",
        BY_COUNTS,
    ),
    Mutant("CD2", DENSITY, "self.n_ = len(rows)", "self.n_ = len(rows)\n        self._keys = keys", BY_COUNTS),
    Mutant(
        "CD3",
        DENSITY,
        "self.total_ = math.fsum(self.counts_.values())",
        "self.total_ = sum(key in self.counts_ for key in keys)",
        BY_COUNTS,
    ),
    Mutant(
        "CD4",
        DENSITY,
        "self.n_ = len(rows)",
        "self.counts_ = dict(reversed(self.counts_.items()))\n        self.n_ = len(rows)",
        BY_COUNTS,
    ),
    Mutant("CD5", DENSITY, "(self.total_ if self.normalize else 1.0)", "1.0", f"{LEARNERS} -k density_of_real_data"),
    # StableVoronoiClassifier, PairHistogramClassifier
    Mutant("SV1", STABLE, "min(ones.get(key, 0.0), count) > count / 2", "ones.get(key, 0.0) > count / 3", BY_CELLS),
    Mutant(
        "SV2",
        STABLE,
        "every = histogram.release(keys, rng)",
        "every = StabilityHistogram(9.0, self.delta).release(keys, rng)",
        BY_CELLS,
    ),
    Mutant(
        "SV3",
        STABLE,
        "for key, mark in zip(keys, marks, strict=True) if mark], rng)\n        self",
        "for key, mark in zip(keys, marks, strict=True)], rng)\n        self",
        BY_CELLS,
    ),
    Mutant(
        "SV4",
        STABLE,
        "every = histogram.release(keys, rng)",
        "every = histogram.release(keys, rng)\n        self.every_ = every",
        BY_CELLS,
    ),
    Mutant(
        "SV5",
        STABLE,
        "return np.array([key in votes",
        "return np.array([key not in votes",
        f"{LEARNERS} -k beat_the_majority",
    ),
    Mutant(
        "PH1",
        STABLE,
        "released = StabilityHistogram(self.epsilon, self.delta).release",
        "released = StabilityHistogram(4 * self.epsilon, self.delta).release",
        BY_PAIRS,
    ),
    Mutant("PH2", STABLE, "value if mark else -value", "value if mark else -value / 2", BY_PAIRS),
    # VoronoiClassifier
    Mutant(
        "VO1",
        VORONOI,
        "rng.laplace(scale=1 / self.epsilon, size=sums.size) > 0).astype(np.int8)\n        return self",
        "rng.laplace(scale=0.5 / self.epsilon, size=sums.size) > 0).astype(np.int8)\n        return self",
        "fitted/*Circle*",
    ),
    Mutant(
        "VO2",
        VORONOI,
        "weights=margins, minlength=len(self.packing_))",
        "weights=margins + 0.1, minlength=len(self.packing_))",
        "fitted/*Circle*",
    ),
    Mutant(
        "VO3",
        VORONOI,
        "return votes[self.space.cell_of(",
        "return 1 - votes[self.space.cell_of(",
        f"{LEARNERS} -k joins_its_ends",
    ),
    # SemiPrivateLearner, SemiSupervisedLearner
    Mutant(
        "SP1",
        SEMI,
        "return int(np.argmax(rng.gumbel(size=wrong.size) - epsilon * wrong / 2))",
        "return int(np.argmax(rng.gumbel(size=wrong.size) - epsilon * wrong))",
        "fitted/*SemiPrivateLearner*",
    ),
    Mutant(
        "SP2",
        SEMI,
        "representatives(features(self.public, self.concepts.dim))",
        "representatives(rows)",
        "fitted/*SemiPrivateLearner*",
    ),
    Mutant(
        "SP3",
        SEMI,
        "        self.concept_ =",
        "        self.wrong_ = wrong\n        self.concept_ =",
        "fitted/*SemiPrivateLearner*",
    ),
    Mutant("SS1", SSL, "self.density_.fit(rows[~known])", "self.density_.fit(rows)", BY_SSL),
    Mutant(
        "SS2", SSL, "        self.density_.random_state = self.learner_.random_state = None", "        pass", BY_SSL
    ),
    Mutant(
        "SS3",
        SSL,
        "self.learner_ = SemiPrivateLearner(self.concepts, public, self.epsilon,",
        "self.learner_ = SemiPrivateLearner(self.concepts, public, 4 * self.epsilon,",
        BY_SSL,
    ),
    Mutant(
        "SS4",
        SSL,
        "CubeDensity(self.concepts.dim, self.epsilon,",
        "CubeDensity(self.concepts.dim, 2 * self.epsilon,",
        BY_SSL,
    ),
    # label-private learners
    Mutant(
        "KN1",
        NEIGHBORS,
        "        released = self.encoder.release(labels, rng)",
        "        released = (self.encoder.release(labels, rng) + self.encoder.release(labels, rng)) / 2",
        BY_KNN,
    ),
    Mutant(
        "KN2",
        NEIGHBORS,
        "        released = self.encoder.release(labels, rng)",
        "        self.y_ = labels\n        released = self.encoder.release(labels, rng)",
        BY_KNN,
    ),
    Mutant(
        "KN3",
        NEIGHBORS,
        "rng = noise_source(self.random_state)",
        "rng = self._rng = noise_source(self.random_state)",
        BY_KNN,
    ),
    Mutant("KN4", NEIGHBORS, "near @ targets)", "targets)", "fitted/labels/*iterated*"),
    Mutant("KN5", NEIGHBORS, "np.where(top, 1 + rng", "np.where(~top, 1 + rng", f"{LABEL_LEARNERS} -k without_noise"),
    Mutant("KN6", NEIGHBORS, "self.targets = targets\n        if", "self.targets = targets[::-1]\n        if", BY_KNN),
    Mutant("UN1", UNARY, "uniform[own] < self.p_keep", "uniform[own] < (1 + self.p_keep) / 2", BY_KNN),
    Mutant("UN2", UNARY, "bits = uniform < self.q_flip", "bits = uniform < self.q_flip / 2", BY_KNN),
    Mutant(
        "UN3",
        UNARY,
        "rng.random((len(labels), self.n_classes))",
        "np.repeat(rng.random((len(labels), 1)), self.n_classes, axis=1)",
        BY_KNN,
    ),
    Mutant(
        "TS1",
        STAGES,
        "priors = self.priors(points, first, rng)",
        "priors = self.priors(points, labels[:half], rng)",
        BY_STAGES,
    ),
    Mutant(
        "TS2",
        STAGES,
        "release_with_priors(labels[half:], priors, self.epsilon, rng)])\n\n    def priors",
        "release_with_priors(labels[half:], priors, 2 * self.epsilon, rng)])\n\n    def priors",
        BY_STAGES,
    ),
    Mutant(
        "TS3",
        STAGES,
        "first = KaryRandomizedResponse(self.n_classes, self.epsilon).release(labels[:half]",
        "first = KaryRandomizedResponse(self.n_classes, 3 * self.epsilon).release(labels[:half]",
        BY_STAGES,
    ),
    Mutant(
        "TS4",
        STAGES,
        "one_hot(released, self.n_classes), rng)\n        return self",
        "one_hot(labels[order], self.n_classes), rng)\n        return self",
        BY_STAGES,
    ),
    Mutant(
        "NW1",
        NETWORK,
        "output - (refine(rows, output) if refine else targets[rows])",
        "targets[rows] - output",
        f"{LABEL_LEARNERS} -k without_noise",
    ),
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
    # services and students
    Mutant(
        "AG1",
        SERVICE,
        "assigned = assignment_rule(self.assignment)(records",
        "assigned = assignment_rule('position')(records",
        BY_SERVICE,
    ),
    Mutant(
        "AG2", SERVICE, "VoteTable(self.labels, self.distance)(votes", "VoteTable(self.labels, 'gap')(votes", BY_SERVICE
    ),
    Mutant(
        "AG3",
        SERVICE,
        "if self.calibrated else OnlineQueryRelease(*settings)",
        "if not self.calibrated else OnlineQueryRelease(*settings)",
        BY_SERVICE,
    ),
    Mutant(
        "AG4",
        SERVICE,
        "return Constant(int(seen[0]) if seen.size else 0)",
        "return Constant(int(seen[0]) if seen.size else 1)",
        BY_SERVICE,
    ),
    Mutant("AG5", SERVICE, "        self.asked_ += len(points)", "        pass", f"{FITTED} -k asked_twice"),
    Mutant("AG6", SERVICE, 'if hasattr(self, "session_"):', "if False:", f"{FITTED} -k stays_where"),
    Mutant(
        "AG7",
        SERVICE,
        "self.teachers_ = [taught(self.learner, X[chunk], y[chunk]) for chunk in chunks]",
        "self.teachers_ = [taught(self.learner, X, y) for chunk in chunks]",
        BY_SERVICE,
    ),
    Mutant(
        "AG8", SERVICE, "settings = self.epsilon, self.delta", "settings = 2 * self.epsilon, self.delta", BY_SERVICE
    ),
    Mutant(
        "SE1",
        ONLINE,
        "self._rng.laplace(scale=2 * self._calibration.lam)",
        "self._rng.laplace(scale=self._calibration.lam)",
        BY_SERVICE,
    ),
    Mutant(
        "SE2",
        ONLINE,
        "        self.bottoms += bottoms\n        self._renew()",
        "        self.bottoms += bottoms",
        f"{TESTS}/stability/test_stability_releases.py -k session",
    ),
    Mutant(
        "SE3",
        ONLINE,
        "        self.pay()\n        return BOTTOM",
        "        return BOTTOM",
        f"{TESTS}/stability/test_stability_releases.py -k session",
    ),
    Mutant(
        "SE4",
        ONLINE,
        "self._calibration.threshold + self._rng.laplace(scale=self._calibration.lam)",
        "self._calibration.threshold",
        f"{TESTS}/stability/test_stability_releases.py -k session",
    ),
    Mutant(
        "SE5",
        ONLINE,
        "        self.pay()\n        return BOTTOM",
        "        self.pay()\n        return value",
        BY_SERVICE,
    ),
    Mutant(
        "SL1",
        SOFT,
        "        session.pay()\n        if session.passes(second[1]):",
        "        session.pay()\n        if second[1] > session._noisy_threshold:",
        BY_SOFT,
    ),
    Mutant(
        "SL2",
        SOFT,
        "        session.pay()\n        if session.passes(second[1]):",
        "        if session.passes(second[1]):",
        f"{FITTED} -k shifted_partition",
    ),
    Mutant("SL3", SOFT, "if session.bottoms > 2 * self.cutoff:", "if session.bottoms > 0:", BY_SOFT),
    Mutant(
        "SL4",
        SOFT,
        "calibration = printed_soft(self.epsilon, self.delta, self.cutoff",
        "calibration = printed_soft(2 * self.epsilon, self.delta, self.cutoff",
        BY_SOFT,
    ),
    Mutant(
        "SL5",
        SOFT,
        "assigned = assignment_rule(self.assignment)(list",
        "assigned = assignment_rule('position')(list",
        f"{FITTED} -k draw_their_chunks",
    ),
    Mutant(
        "SL6", SOFT, "return float(second[0]) / (2 * self.bins)", "return float(first[0]) / (2 * self.bins)", BY_SOFT
    ),
    Mutant(
        "KT1",
        STUDENT,
        "coins_for_silence(self.labels_, noise_source(self.random_state))",
        "np.maximum(self.labels_, 0)",
        BY_STUDENT,
    ),
    Mutant("KT2", STUDENT, "self.service.unfitted().fit(X[:half]", "self.service.fit(X[:half]", BY_STUDENT),
    Mutant(
        "KT3",
        STUDENT,
        "        self.student_ = taught(",
        "        self.half_ = y[:half]\n        self.student_ = taught(",
        BY_STUDENT,
    ),
    Mutant("KT4", STUDENT, ".predict(points)\n", ".predict(points) * 0 + y[: len(points)]\n", BY_STUDENT),
    Mutant(
        "KT5",
        STUDENT,
        "half = len(X) if self.public is not None else len(X) // 2",
        "half = len(X)",
        f"{TESTS}/test_learner_package.py -k answer_teach",
    ),
    # constants and bounds
    Mutant(
        "CN1",
        NOISE,
        "math.sqrt(32 * cutoff * math.log(2 / delta))",
        "math.sqrt(8 * cutoff * math.log(2 / delta))",
        f"{CONSTANTS} -k noise",
    ),
    Mutant(
        "CN2",
        NOISE,
        "doubled = printed(epsilon, delta, 2 * cutoff, 2 * max_queries)",
        "doubled = printed(epsilon, delta, cutoff, max_queries)",
        f"{CONSTANTS} -k noise",
    ),
    Mutant("CN3", NOISE, "return min(pure(", "return max(pure(", f"{CONSTANTS} -k smaller"),
    Mutant("CN4", SERVICE, "math.ceil(136 * ", "math.ceil(34 * ", f"{CONSTANTS} -k teachers"),
    Mutant("CN5", "local/excess.py", "total = 4 * setting", "total = 0.04 * setting", f"{CONSTANTS} -k term_by_term"),
    Mutant(
        "CN6",
        "local/excess.py",
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
]
EQUIVALENT = {
    "halves of LocalHistogramClassifier by position": "the order of the users does not depend on their records",
    "VectorTargetMLP.fit": "it inherits fit and release from VectorTargetKNN; what follows sees released targets alone",
}


class Mutated(importlib.abc.SourceLoader):
    """Load one module from a changed text."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def get_filename(self, fullname: str) -> str:
        """Return the path of the original."""
        return self.path

    def get_data(self, path: Any) -> bytes:
        """Return the changed text."""
        return self.text.encode()

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        """Compile the changed text, whatever a cache holds."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Find the mutated module before all others."""

    def __init__(self, mutant: Mutant, text: str) -> None:
        self.module = "mechanisms." + mutant.file.removesuffix(".py").replace("/", ".")
        self.loader = Mutated(str(ROOT / "mechanisms" / mutant.file), text)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return the changed module."""
        return importlib.util.spec_from_loader(fullname, self.loader) if fullname == self.module else None


def checks_fail(pattern: str) -> bool:
    """Return whether a check gets another verdict than PASS."""
    import audit
    from mechanisms.fitted import CHECKS

    chosen = [check for check in CHECKS if fnmatch.fnmatch(check.name, pattern)]
    if not chosen:
        raise SystemExit(f"no check matches {pattern!r}")
    results = audit.run(chosen, workers=0, significance=SIGNIFICANCE, budget=BUDGET).results
    return any(result.verdict is not audit.Verdict.PASS for result in results)


def tests_fail(selection: str) -> bool:
    """Return whether a test fails."""
    import pytest

    path, _, expression = selection.partition(" -k ")
    arguments = ["-q", "-x", "-p", "no:cacheprovider", str(ROOT / path), *(["-k", expression] if expression else [])]
    status = pytest.main(arguments)
    if status not in (0, 1):
        raise SystemExit(f"pytest ended with {status} for {selection!r}")
    return bool(status == 1)


def survives(mutant: Mutant, answer: Any) -> None:
    """Send whether a mutation goes unnoticed, or what went wrong."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            text = (ROOT / "mechanisms" / mutant.file).read_text()
            if text.count(mutant.old) != 1:
                raise SystemExit(f"its text occurs {text.count(mutant.old)} times")
            sys.meta_path.insert(0, Finder(mutant, text.replace(mutant.old, mutant.new)))
            judge: Callable[[str], bool] = tests_fail if mutant.notices.startswith(TESTS) else checks_fail
            answer.send("killed" if judge(mutant.notices) else "SURVIVED")
        except SystemExit as problem:
            answer.send(f"INVALID: {problem}")
        except Exception as error:
            answer.send(f"killed by {type(error).__name__}")


def verdict(mutant: Mutant) -> str:
    """Run a mutation in a process of its own."""
    process_type = multiprocessing.get_context("fork")
    mine, its = process_type.Pipe()
    process = process_type.Process(target=survives, args=(mutant, its))
    process.start()
    its.close()
    try:
        said = str(mine.recv())
    except EOFError:
        said = "killed by the end of its process"
    process.join()
    return said


def main() -> None:
    """Run the mutations whose names begin with an argument, or all, and print the table."""
    import dp_accounting  # noqa: F401  imported once, before the processes are forked
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401

    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or mutant.name.startswith(tuple(sys.argv[1:]))]
    said = {}
    for mutant in chosen:
        said[mutant.name] = verdict(mutant)
        print(f"{mutant.name:5} {mutant.file:32} {said[mutant.name]:24} {mutant.notices}", flush=True)
    left = [name for name, word in said.items() if not word.startswith("killed")]
    unnoticed = f"; not: {', '.join(left)}" if left else ""
    print(f"{len(said) - len(left)} of {len(said)} mutations are noticed{unnoticed}")
    raise SystemExit(bool(left))


if __name__ == "__main__":
    main()
