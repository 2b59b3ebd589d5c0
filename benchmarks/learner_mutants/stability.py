"""Mutations of the services and students of the stability paper."""

from __future__ import annotations

from benchmarks.mutants.mutant import TESTS, Mutant

SERVICE = "stability/aggregate.py"
SOFT = "stability/soft_labels.py"
STUDENT = "stability/transfer.py"
ONLINE = "stability/online.py"
BY_SERVICE = "fitted/stability/SubsampleAggregate*"
BY_SOFT = "fitted/stability/SoftLabelService*"
BY_STUDENT = "fitted/stability/KnowledgeTransferLearner*"
FITTED = "tests/mechanisms/test_fitted_learners.py"

MUTANTS = [
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
]
