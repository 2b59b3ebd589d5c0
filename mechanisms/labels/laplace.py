"""ALIBI: Laplace noise on the one-hot vector of a label, and the posterior of the label that it implies.

Implements the release and the post-processing of Malek, Mironov, Prasad, Shilov & Tramer (2021, "Antipodes of label
differential privacy"). Two one-hot vectors differ by 2 in L1, so noise of scale b = 2 / epsilon on every coordinate is
epsilon-private; epsilon is attained with probability 1/4. The posterior of class c under a prior pi is proportional to
pi_c exp(-|V - e_c|_1 / b). Since

    -|V - e_c|_1 = const + |V_c| - |V_c - 1| = const + clip(2 V_c - 1, -1, 1),

it costs O(K) a label, where the sum over coordinates for each class costs O(K^2) (`literal_posterior`).

Departure: the original code states the noise by its deviation sqrt(2) b and the privacy as 2 sqrt(2) over it: the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck, Local, PrivacyCheck, PrivacyClaim
from audit.laws import Laplace, Product
from mechanisms.labels.encoder import FloatArray, LabelEncoder, one_hot, require_label
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder, class_pairs

SOURCE = "Malek, Mironov, Prasad, Shilov & Tramer 2021, section 4"


@dataclass(frozen=True)
class LaplaceOneHotEncoder(LabelEncoder):
    """A one-hot vector plus Laplace noise; (epsilon, 0)-DP for any two labels, tight."""

    @property
    def scale(self) -> float:
        """Scale b of the noise, 2 / epsilon."""
        return 2 / self.epsilon

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw a noisy vector for every label, shape (n, K)."""
        return rng.laplace(scale=self.scale, size=(len(labels), self.n_classes)) + one_hot(labels, self.n_classes)

    def law(self, label: Any) -> Product:
        """Law of one release: independent Laplace coordinates."""
        at = require_label(label, self.n_classes)
        return Product(tuple(Laplace(float(j == at), self.scale) for j in range(self.n_classes)))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return clip(2 V - 1, -1, 1) / b."""
        return np.asarray(np.clip(2 * released - 1, -1, 1) / self.scale)

    def targets(self, released: np.ndarray) -> FloatArray:
        """Return the posterior under the uniform prior."""
        return self.posterior(released)


def literal_posterior(released: FloatArray, prior: FloatArray, scale: float) -> FloatArray:
    """Return the posterior by its definition, |V - e_c|_1 coordinate by coordinate for every class: O(K^2) a label."""
    distances = np.abs(released[:, None, :] - np.eye(released.shape[1])).sum(axis=2)
    weights = prior * np.exp((distances.min(axis=1, keepdims=True) - distances) / scale)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def closed_form_cases() -> list[tuple[str, float, float]]:
    """Compare posteriors by the closed form and by the definition, the entries that differ most relatively."""
    rng = np.random.default_rng(2021)
    cases = []
    for K in (2, 10, 100):
        for epsilon in (0.2, 1.0, 2.0):
            encoder = LaplaceOneHotEncoder(K, epsilon)
            released, prior = encoder.release(rng.integers(K, size=100), rng), rng.dirichlet(np.ones(K), size=100)
            closed, literal = encoder.posterior(released, prior), literal_posterior(released, prior, encoder.scale)
            at = np.unravel_index(np.argmax(np.abs(closed / literal - 1)), closed.shape)
            cases.append((f"K={K} eps={epsilon:g}", float(closed[at]), float(literal[at])))
    return cases


def profile_cases() -> list[tuple[str, float, float]]:
    """Compare delta at 0 and epsilon / 2 with that of the vector mechanism."""
    cases = []
    for epsilon in (0.5, 1.0, 2.0):
        laplace, vector = LaplaceOneHotEncoder(10, epsilon), SymmetricUnaryLabelEncoder(10, epsilon)
        loss = laplace.law(0).loss_against(laplace.law(1))
        cases += [(f"eps={epsilon:g} at {e:g}", loss.delta(e), vector.delta(e)) for e in (0.0, epsilon / 2)]
    return cases


CHECKS: list[Any] = [
    *(
        PrivacyCheck(
            name=f"labels/laplace one-hot K={K} eps={epsilon:g}",
            mechanism=LaplaceOneHotEncoder(K, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, Local(), SOURCE),
            pairs=class_pairs(K)[:3],
            budget=20_000,
        )
        for K, epsilon in ((2, 1.0), (10, 0.5), (10, 2.0))
    ),
    InequalityCheck(
        name="labels/laplace posterior in O(K)",
        source="Zhao et al. 2024, section 4.3, where it is said to cost O(K^2)",
        statement="The O(K) closed form of the posterior equals its definition.",
        values=closed_form_cases,
        sense="==",
        tolerance=1e-9,
    ),
    InequalityCheck(
        name="labels/laplace one-hot leaks less than vector",
        source=SOURCE + ", compared with Zhao et al. 2024, Theorem 1",
        statement="At one epsilon, delta of the Laplace release lies below that of the vector mechanism.",
        values=profile_cases,
    ),
]
