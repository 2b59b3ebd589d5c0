"""Mutations of the learners of the consistency paper."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

CUBE = "consistency/cube_classifier.py"
HIDDEN = "consistency/hidden_votes.py"
STABLE = "consistency/stable_votes.py"
LISTED = "consistency/any_space.py"
SPACES = "tests/mechanisms/consistency/test_spaces.py"
DENSITY = "consistency/cube_density.py"
VORONOI = "consistency/voronoi.py"
SEMI = "consistency/semi_private.py"
SSL = "consistency/semi_supervised.py"
REGRESSOR = "consistency/cube_regressor.py"
BY_TARGETS = "fitted/consistency/*CubeRegressor*"
HISTOGRAM = "stability_histogram.py"
BY_CUBES = "fitted/consistency/*3.1 CubeClassifier eps*"
ON_LINE = "fitted/consistency/*on the line*"
BY_CELLS = "fitted/consistency/*StableVoronoiClassifier*"
BY_PAIRS = "fitted/consistency/*PairHistogramClassifier*"
BY_COUNTS = "fitted/consistency/*CubeDensity*"
BY_SSL = "fitted/consistency/*SemiSupervisedLearner*"
LEARNERS = "tests/mechanisms/consistency/test_learners.py"
POLYNOMIAL = "tests/mechanisms/consistency/test_hidden_votes.py"
FITTED = "tests/mechanisms/test_fitted_learners.py"

MUTANTS = [
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
    # StableVoronoiClassifier on words, PublicPoints
    Mutant(
        "PP1", LISTED, "free &= between[index] >= radius", "free &= between[index] >= radius / 2", f"{SPACES} -k listed"
    ),
    Mutant("PP2", LISTED, "np.argmin(self._distances", "np.argmax(self._distances", "fitted/consistency/*on words*"),
    Mutant(
        "PP3", LISTED, "_greedy(self._between[np.ix_(inside, inside)], radius / 2)", "inside", f"{SPACES} -k dimension"
    ),
    Mutant("PP4", LISTED, "math.ceil(point / step - 0.5)", "math.floor(point / step)", f"{SPACES} -k integers"),
    Mutant(
        "SV6",
        STABLE,
        "self.radius_ = radius_for(len(rows), self._space.doubling_dim)\n",
        "self.radius_ = radius_for(len(rows), self._space.doubling_dim / 3)\n",
        "fitted/consistency/*on words*",
    ),
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
]
