"""Mutations of the learners with private labels."""

from __future__ import annotations

from benchmarks.learner_mutants.mutant import Mutant

NEIGHBORS = "labels/neighbors.py"
UNARY = "labels/unary.py"
STAGES = "labels/two_stage.py"
NETWORK = "labels/network.py"
BY_KNN = "fitted/labels/VectorTargetKNN eps*"
BY_STAGES = "fitted/labels/TwoStageLabelTrainer*"
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
]
