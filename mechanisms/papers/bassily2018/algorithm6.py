"""Algorithm 6, soft labels: a run of queries to the private classifier.

Section 5 of Bassily, Thakurta & Thakkar (2018), Theorem 5.4:

    run Algorithm 7, c = 0
    for each query x, while c <= 2 T: answer by Algorithm 8; an answer of the second partition adds 1 to c, BOTTOM 2

So the transcript is that of at most 2 m sub-queries with at most 2 T + 2 BOTTOMs, and the constants are those of
Algorithm 3 with T and m doubled.

`SoftTranscripts` draws many runs over scores that are fixed beforehand, by the same `classify`, and states their law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.papers.bassily2018.algorithm1 import pair_check
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM
from mechanisms.papers.bassily2018.algorithm3 import NO_ANSWER
from mechanisms.papers.bassily2018.algorithm7 import PrivateLearner
from mechanisms.papers.bassily2018.algorithm8 import Test, both_tests, classify
from mechanisms.papers.bassily2018.noise import printed_soft
from mechanisms.papers.bassily2018.teachers import soft_answers
from mechanisms.parts.sparse_vector import Branch, Masses, Noise, Runs, walk

THEOREM = "Theorem 5.4"
MOST_QUERIES = 6  # of a law: up to 3^m transcripts


def answer_all(runs: Runs, first: Test, second: Test) -> np.ndarray:
    """Ask queries in turn; shape (runs, m). Codes and distances have shape (m,), or (runs, m)."""
    (plain, near), (shifted, far) = ([np.asarray(part) for part in test] for test in (first, second))
    answers = [
        classify(runs, (plain[..., j], near[..., j]), (shifted[..., j], far[..., j])) for j in range(plain.shape[-1])
    ]
    return np.stack(answers, axis=1)


class SoftLabelService(PrivateLearner):
    """Answers soft-label queries with bins of the teachers' scores; all answers together (epsilon, delta)-DP."""

    def predict(self, X: Any) -> np.ndarray:
        """Release a score for each row of X, nan for BOTTOM and where the run has ended."""
        runs, points = self._fitted("runs_"), np.asarray(X)
        self._count(len(points))
        codes = answer_all(runs, *both_tests(soft_answers(self.teachers_, points), self.bins))[0]
        return np.where(codes < 0, np.nan, codes / (2 * self.bins))


@dataclass(frozen=True)
class SoftTranscripts:
    """Transcripts of a fixed list of soft-label queries, (size, m); a dataset is a table of scores, (teachers, m)."""

    bins: int  # 1 / tau
    noise: Noise  # with 2 T + 2 epochs: the value of the counter when the run stops at c > 2 T
    tests: Callable[[Any, int], tuple[Test, Test]] = both_tests  # codes and distances of both partitions

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return answer_all(Runs(self.noise, size, rng), *self.tests(dataset, self.bins))

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript; sub-query m + j is the shifted test of query j."""
        (plain, near), (shifted, far) = self.tests(dataset, self.bins)
        queries = len(plain)
        if queries > MOST_QUERIES:
            raise InvalidArgument.of("queries", f"be at most {MOST_QUERIES} for the law to be computed", queries)
        masses = Masses(self.noise, np.r_[near, far])

        def branches(j: int, running: np.ndarray) -> list[Branch]:
            failed = masses.bottom(running, j)
            return [
                (int(plain[j]), masses.top(running, j), 0),
                (int(shifted[j]), masses.top(failed, queries + j), 1),
                (BOTTOM, masses.bottom(failed, queries + j), 2),
            ]

        return Finite(dict(walk(masses.fresh, branches, queries, self.noise.epochs - 1, NO_ANSWER)))


def soft_pair(distances: tuple[int, ...], teachers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables that differ in the first teacher; distances of the first partition move by one, some each way.

    Bins of width 1/4: scores 0.3 lie in bin (.25, .5] and in the shifted bin (.125, .375]; the others, at 0.7, in
    (.5, .75] and in (.625, .875].
    """
    wandering = (teachers - 2 * np.array(distances) - 1) // 2
    left = np.where(np.arange(teachers)[:, None] < teachers - wandering, 0.3, 0.7)
    left[0, 1::2] = 0.7
    right = left.copy()
    right[0] = np.where(left[0] == 0.3, 0.7, 0.3)
    return left, right


def _check(epsilon: float, delta: float, cutoff: int) -> PrivacyCheck:
    noise = printed_soft(epsilon, delta, cutoff, 1000)
    level = round(noise.threshold)
    pairs = [soft_pair((level,) * 4, 2 * level + 401), soft_pair((0,) * 4, 41)]
    name = f"soft labels eps={epsilon:g} delta={delta:g} T={cutoff}"
    return pair_check(name, SoftTranscripts(4, noise), (epsilon, delta), THEOREM, pairs=pairs)


CHECKS: list[PrivacyCheck] = [_check(*setting) for setting in ((1.0, 1e-6, 1), (1.0, 1e-2, 1), (4.0, 1e-2, 2))]
