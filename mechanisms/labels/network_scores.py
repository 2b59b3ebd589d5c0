"""Appendix B.2: the scores of a network trained on bits approach the means of the bits.

Zhao et al. (2024, Appendix B.2) argue in four steps, without a bound: the binary cross entropy of bit j is least at
u(x) = eta~_j(x) = q + (p - q) eta_j(x) (48); a wide network comes close to that minimum (43), up to some delta (45); so
g_j(x) is close to eta~_j(x) (49); and Delta(x) grows slowly with K. Each step is run here on networks that are trained
on released bits: on one point, where the minimizer is the share of ones; on the law `Peaked`, whose eta is known, where
more records must bring the scores closer; and for few and for many classes.

"Closer" has no rate in the text, so the checks compare pairs of trials: in most of them eight times the records take
away a quarter of the error. With a softmax head, or with bits that are divided by their number, the minimizer is
another one: `faults.labels.scores`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck
from mechanisms.labels.encoder import FloatArray, Head, LabelEncoder
from mechanisms.labels.mixtures import Peaked
from mechanisms.labels.network import TargetNetwork
from mechanisms.labels.orderings import ordering_check
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

SOURCE = "Zhao et al. 2024, Appendix B.2"
QUERIES, HIDDEN, STEPS, BATCH, RATE = 200, 32, 1_500, 128, 2e-3


def on_the_circle(x: FloatArray) -> FloatArray:
    """Return points of [0, 1), whose ends meet, as points of the unit circle, shape (n, 2)."""
    return np.column_stack([np.cos(2 * np.pi * x), np.sin(2 * np.pi * x)])


def trained(
    X: FloatArray, targets: np.ndarray, head: Head, rng: np.random.Generator, hidden: int = HIDDEN
) -> TargetNetwork:
    """Train without decay, `STEPS` minibatches whatever the number of records."""
    epochs = -(-STEPS * BATCH // len(X))
    return TargetNetwork(head, hidden, epochs, 0.0, BATCH, RATE).fit(X, targets, rng)


@dataclass(frozen=True)
class ScoreErrors:
    """Errors of the scores of a network against the means of the bits, on draws of `Peaked`.

    Parameters
    ----------
    encoder : SymmetricUnaryLabelEncoder
        Gives the bits; K is that of the law.
    head : {"sigmoid", "softmax"}
        Of the network.
    shares : bool
        Whether the bits are divided by their number, so that they sum to 1.
    """

    encoder: SymmetricUnaryLabelEncoder
    head: Head = "sigmoid"
    shares: bool = False

    def scores(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the scores at random points after training on n records, and eta~ there, both (queries, K)."""
        law = Peaked(self.encoder.n_classes)
        x, asked = rng.random(n), rng.random(QUERIES)
        labels = (rng.random((n, 1)) > np.cumsum(law.eta(x), axis=1)[:, :-1]).sum(axis=1)
        bits = self.encoder.release(labels, rng).astype(float)
        targets = bits / np.maximum(bits.sum(axis=1, keepdims=True), 1) if self.shares else bits
        network = trained(on_the_circle(x), targets, self.head, rng)
        p, q = self.encoder.p_keep, self.encoder.q_flip
        return network.scores(on_the_circle(asked)), q + (p - q) * law.eta(asked)

    def largest(self, n: int, rng: np.random.Generator) -> float:
        """Return the mean over points of Delta(x), the largest error of the K scores."""
        found, known = self.scores(n, rng)
        return float(np.abs(found - known).max(axis=1).mean())

    def excess_entropy(self, n: int, rng: np.random.Generator) -> float:
        """Return delta of (45): the mean binary cross entropy above the least one, summed over the bits."""
        found, known = self.scores(n, rng)
        parts = known * np.log(known / found) + (1 - known) * np.log((1 - known) / (1 - found))
        return float(parts.sum(axis=1).mean())


@dataclass(frozen=True)
class Shrinks:
    """Trials of "with eight times the records the error is at most three quarters", shape (replicates,)."""

    errors: ScoreErrors
    records: int
    entropy: bool = False

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        measure = self.errors.excess_entropy if self.entropy else self.errors.largest
        pairs = [[measure(n, child) for n in (self.records, 8 * self.records)] for child in rng.spawn(replicates)]
        return np.array([more <= 0.75 * few for few, more in pairs])


@dataclass(frozen=True)
class GrowsSlowly:
    """Trials of "eight times the classes at most double Delta", shape (replicates,)."""

    few: int
    many: int
    records: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        kinds = [ScoreErrors(SymmetricUnaryLabelEncoder(K, 2.0)) for K in (self.few, self.many)]
        pairs = [[kind.largest(self.records, child) for kind in kinds] for child in rng.spawn(replicates)]
        return np.array([many <= 2 * few for few, many in pairs])


def minimizer_cases(encoder: LabelEncoder, head: Head) -> list[tuple[str, float, float]]:
    """Compare the scores of a network that sees one point with the shares of ones among 2,000 released bits."""
    rng = np.random.default_rng(48)
    labels = rng.choice(encoder.n_classes, size=2_000, p=np.arange(encoder.n_classes, 0, -1) / 10)
    targets = encoder.targets(encoder.release(labels, rng)).astype(float)
    bits = np.mean(targets > 0, axis=0)
    found = trained(np.zeros((len(labels), 1)), targets, head, rng, hidden=1).scores(np.zeros((1, 1)))[0]
    return [(f"bit {j}", float(score), float(share)) for j, (score, share) in enumerate(zip(found, bits, strict=True))]


def minimizer_check(name: str, encoder: LabelEncoder, head: Head, **settings: Any) -> InequalityCheck:
    """Return a check that a network's score is the mean of its bit."""
    return InequalityCheck(
        name=name,
        source=SOURCE + ", (48)",
        statement="Trained at one point, the score of bit j is the share of ones, up to 0.03.",
        values=partial(minimizer_cases, encoder, head),
        sense="==",
        tolerance=0.03,
        **settings,
    )


BITS = ScoreErrors(SymmetricUnaryLabelEncoder(6, 2.0))
CHECKS: list[Any] = [
    minimizer_check("labels/network scores, one point", SymmetricUnaryLabelEncoder(4, 1.0), "sigmoid"),
    ordering_check(
        "labels/network scores beats, eight times the records",
        SOURCE + ", (49)",
        "Eight times the records take away a quarter of the network's Delta",
        Shrinks(BITS, 500),
        share=0.5,
    ),
    ordering_check(
        "labels/network scores beats, excess entropy",
        SOURCE + ", (45)",
        "Eight times the records take away a quarter of the excess cross entropy",
        Shrinks(BITS, 500, entropy=True),
        share=0.5,
    ),
    ordering_check(
        "labels/network scores beats, 4 and 32 classes",
        "Zhao et al. 2024, section 4.2",
        "Eight times the classes at most double the network's Delta",
        GrowsSlowly(4, 32, 4_000),
        share=0.5,
    ),
]
