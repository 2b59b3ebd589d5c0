"""Mutations of the learners with private labels."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

NEIGHBORS = "labels/neighbors.py"
UNARY = "labels/unary.py"
STAGES = "labels/two_stage.py"
NETWORK = "labels/network.py"
PRETRAINED = "labels/pretrained.py"
PATE = "labels/pate.py"
BY_KNN = "fitted/labels/VectorTargetKNN eps*"
BY_STAGES = "fitted/labels/TwoStageLabelTrainer*"
BY_STAGE = "fitted/labels/OneStageLabelTrainer*"
BY_STAR, BY_STARS = "fitted/labels/PretrainedOneStage*", "fitted/labels/PretrainedTwoStage*"
PATE_NOISE = "counts + rng.normal(scale=self.deviation, size=counts.shape)"
SCALE_OF_ALL = "math.sqrt(2 * self.queries) *"
BY_VOTES = "fitted/labels/PATELabelTrainer*"
LABEL_LEARNERS = "tests/mechanisms/labels/test_label_learners.py"

MUTANTS = [
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
    # LP-1ST, LP-1ST*, LP-2ST*
    Mutant(
        "LP1",
        PRETRAINED,
        "self.model_ = self._model().fit(points, one_hot(released, self.n_classes), rng)",
        "self.model_ = self._model().fit(points, one_hot(labels, self.n_classes), rng)",
        BY_STAGE,
    ),
    Mutant(
        "LP2",
        PRETRAINED,
        "released = KaryRandomizedResponse(self.n_classes, self.epsilon).release(labels, rng)",
        "released = KaryRandomizedResponse(self.n_classes, 2 * self.epsilon).release(labels, rng)",
        BY_STAGE,
    ),
    Mutant(
        "LP3",
        PRETRAINED,
        "        rng = noise_source(self.random_state)\n        self.ties_",
        "        rng = self.noise_ = noise_source(self.random_state)\n        self.ties_",
        BY_STAGE,
    ),
    Mutant(
        "LP4",
        PRETRAINED,
        "        self.model.fit(self.features(X), targets, rng, refine)",
        "        self.model.fit(self.features(X + targets.sum() / len(X)), targets, rng, refine)",
        BY_STAR,
    ),
    Mutant(
        "LP5",
        PRETRAINED,
        "        self.model.fit(self.features(X), targets, rng, refine)",
        "        self.model.fit(X, targets, rng, refine)",
        BY_STARS,
    ),
    Mutant(
        "LP6",
        PRETRAINED,
        "return self.model.scores(self.features(X))",
        "return self.model.scores(self.features(X)[::-1])",
        f"{LABEL_LEARNERS} -k without_noise",
    ),
    Mutant(
        "LP7",
        PRETRAINED,
        "targets = one_hot(require_labels(y, n_classes), n_classes)",
        "targets = 1 - one_hot(require_labels(y, n_classes), n_classes)",
        f"{LABEL_LEARNERS} -k public_features",
    ),
    # PATE
    Mutant("PA1", PATE, "math.sqrt(2 * self.queries) *", "math.sqrt(2) *", f"{LABEL_LEARNERS} -k noise_of_pate"),
    Mutant(
        "PA2", PATE, "math.sqrt(2 * self.queries) *", "math.sqrt(self.queries) *", f"{LABEL_LEARNERS} -k noise_of_pate"
    ),
    Mutant(
        "PA3",
        PATE,
        "np.argmax(counts + rng.normal(scale=self.deviation, size=counts.shape), axis=-1)",
        "np.argmax(counts, axis=-1)",
        BY_VOTES,
    ),
    Mutant(
        "PA4",
        PATE,
        PATE_NOISE,
        "counts + rng.normal(scale=self.deviation, size=counts.shape[-1])",
        BY_VOTES,
    ),
    Mutant(
        "PA5",
        PATE,
        "parts = np.array_split(rng.permutation(len(points)), self.n_teachers)",
        "parts = [rng.permutation(len(points))] * self.n_teachers",
        f"{LABEL_LEARNERS} -k teachers_share",
    ),
    Mutant(
        "PA6",
        PATE,
        "self.model_ = self.student().fit(asked, one_hot(released, self.n_classes), rng)",
        "self.model_ = self.student().fit(asked, counts, rng)",
        BY_VOTES,
    ),
    Mutant(
        "PA7",
        PATE,
        "        released = self.vote.winners(counts, rng)",
        "        self.counts_ = counts\n        released = self.vote.winners(counts, rng)",
        BY_VOTES,
    ),
    Mutant(
        "PA8",
        PATE,
        "asked = points[rng.permutation(len(points))[: self.n_queries]]",
        "asked = points[np.argsort(labels, kind='stable')[: self.n_queries]]",
        BY_VOTES,
    ),
    Mutant(
        "PA9",
        PATE,
        "model.scores(asked).argmax(axis=1)] += 1",
        "model.scores(asked).argmin(axis=1)] += 1",
        f"{LABEL_LEARNERS} -k without_noise",
    ),
]
