"""Mutations of sparse vector, the services and the student of Bassily, Thakurta & Thakkar (2018)."""

from __future__ import annotations

from benchmarks.mutants.mutant import TESTS, Mutant

FOLDER = "papers/bassily2018"
SERVICE, STUDENT, LEARNER = (f"{FOLDER}/algorithm{number}.py" for number in (4, 5, 7))
CLASSIFIER, TEACHERS = f"{FOLDER}/classifier.py", f"{FOLDER}/teachers.py"
VECTOR = "parts/sparse_vector.py"
BY_SERVICE = "bassily2018/as called, SubsampleAggregate*"
BY_SOFT = "bassily2018/as called, SoftLabelService*"
BY_STUDENT = "bassily2018/as called, KnowledgeTransferLearner*"
BY_CLASSIFIER = "bassily2018/as called, TeacherVoteClassifier*"
BY_TESTS = f"{TESTS}/bassily2018/test_bassily_services.py"
BY_PARTS = f"{TESTS}/test_parts.py"

MUTANTS = [
    # services
    Mutant("AG1", SERVICE, "self.n_teachers, self.assignment, rng)", "self.n_teachers, 'position', rng)", BY_SERVICE),
    Mutant("AG2", SERVICE, "VoteTable(self.labels, self.distance)", "VoteTable(self.labels, 'gap')", BY_SERVICE),
    Mutant("AG3", SERVICE, "if self.calibrated else Online", "if not self.calibrated else Online", BY_SERVICE),
    Mutant("AG4", SERVICE, "attempt(Constant(0), taught", "attempt(Constant(1), taught", BY_SERVICE),
    Mutant("AG5", SERVICE, "settings = self.epsilon, self", "settings = 2 * self.epsilon, self", BY_SERVICE),
    Mutant("AG6", SERVICE, "self.learner, X[chunk], y[chunk])", "self.learner, X, y)", BY_SERVICE),
    Mutant("AG7", SERVICE, "        with silence():\n", "        if True:\n", BY_SERVICE),
    Mutant("AG8", SERVICE, "rng = noise_source(self.random_state)", "rng = noise_source(7)", BY_SERVICE),
    # teachers
    Mutant("TE1", TEACHERS, "int(seen[0]) if seen.size else 0", "int(seen[0]) if seen.size else 1", BY_SERVICE),
    Mutant("TE2", TEACHERS, "        self.asked_ += queries", "        pass", f"{BY_TESTS} -k asked_twice"),
    Mutant("TE3", TEACHERS, 'if hasattr(self, "runs_"):', "if False:", f"{BY_TESTS} -k stays_where"),
    Mutant("TE4", TEACHERS, "    except Exception:", "    except ZeroDivisionError:", BY_SERVICE),
    Mutant("TE5", TEACHERS, "contextlib.redirect_stdout(nowhere), ", "", BY_SERVICE),
    Mutant("TE6", TEACHERS, 'warnings.simplefilter("ignore")', 'warnings.simplefilter("always")', BY_SERVICE),
    Mutant("TE7", TEACHERS, "rng.bytes(16)", 'b"known"', BY_SERVICE),
    Mutant("TE8", TEACHERS, "0.5, said), 0.0, 1.0)", "0.5, said), 0.0, 2.0)", BY_SOFT),
    # sparse vector
    Mutant("SP1", VECTOR, "scale = self.noise.query_scale * self.noise.lam", "scale = self.noise.lam", BY_SERVICE),
    Mutant("SP2", VECTOR, "            self._thresholds[rows] = self._fresh(rows.size)", "            pass", BY_PARTS),
    Mutant("SP3", VECTOR, "        self.paid[rows] += 1\n", "", f"{BY_PARTS} -k long_run"),
    Mutant("SP4", VECTOR, "self.noise.threshold + self._rng.laplace(scale=self.noise.lam, size=size)",
           "np.full(size, self.noise.threshold)", f"{BY_PARTS} -k law_whatever"),
    Mutant("SP5", VECTOR, "return self.paid < self.noise.epochs", "return self.paid <= self.noise.epochs",
           f"{BY_PARTS} -k long_run"),
    Mutant("SP6", VECTOR, "start[left] = first + 1", "start[left] = first + 2", f"{BY_PARTS} -k law_whatever"),
    Mutant("SP7", VECTOR, "table[:, at : at + width]", "table[:, at + 1 : at + width]", f"{BY_PARTS} -k long_run"),
    # soft labels
    Mutant("SL1", LEARNER, "printed_soft(self.epsilon, self", "printed_soft(2 * self.epsilon, self", BY_SOFT),
    Mutant("SL2", LEARNER, "self.n_teachers, self.assignment, rng)", "self.n_teachers, 'position', rng)",
           f"{BY_TESTS} -k draw_their_chunks"),
    Mutant("SL3", f"{FOLDER}/algorithm8.py", "runs.paid <= runs.noise.epochs - 2", "runs.paid <= 0", BY_SOFT),
    Mutant("SL4", f"{FOLDER}/algorithm8.py", "np.where(passed, shifted[", "np.where(passed, plain[", BY_SOFT),
    Mutant("SL5", f"{FOLDER}/algorithm6.py", "codes / (2 * self.bins)", "codes / self.bins", BY_SOFT),
    # the student
    Mutant("KT1", STUDENT, "coins_for_silence(self.labels_, noise_source(self.random_state))",
           "np.maximum(self.labels_, 0)", BY_STUDENT),
    Mutant("KT2", STUDENT, "self.service.unfitted().fit(X[:half]", "self.service.fit(X[:half]", BY_STUDENT),
    Mutant("KT3", STUDENT, "        self.student_ = taught(",
           "        self.half_ = y[:half]\n        self.student_ = taught(", BY_STUDENT),
    Mutant("KT4", STUDENT, ".predict(points)\n", ".predict(points) * 0 + y[: len(points)]\n", BY_STUDENT),
    Mutant("KT5", STUDENT, "half = len(X) if self.public is not None else len(X) // 2", "half = len(X)",
           f"{TESTS}/test_learner_package.py -k answer_teach"),
    Mutant("TV1", CLASSIFIER, "            self.epsilon,\n", "            2 * self.epsilon,\n", BY_CLASSIFIER),
    Mutant("TV2", CLASSIFIER, "        return self._untrained(len(X)).fit(X, y)",
           "        self.kept_ = int(y[0])\n        return self._untrained(len(X)).fit(X, y)", BY_CLASSIFIER),
]  # fmt: skip
