"""ALIBI: Laplace noise on the one-hot vector of a label, and the posterior of the label that it implies.

A baseline of Zhao et al. (2024, section 5): Malek, Mironov, Prasad, Shilov & Tramer (2021, "Antipodes of label
differential privacy"). Two one-hot vectors differ by 2 in L1: noise of scale b = 2 / epsilon on each coordinate is
epsilon-private, attained with probability 1/4. The posterior of class c under a prior pi is proportional to pi_c
exp(-|V - e_c|_1 / b), and -|V - e_c|_1 = const + clip(2 V_c - 1, -1, 1): it costs O(K) a label, where section 4.3 says
O(K^2), which is the cost of the definition (`literal_posterior`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.laws import Laplace, Product
from mechanisms.papers.rows import ZHAO, Cases
from mechanisms.papers.zhao2024.vector import (
    FloatArray,
    LabelEncoder,
    audit_encoder,
    class_pairs,
    one_hot,
    require_label,
)

MALEK = "Malek, Mironov, Prasad, Shilov & Tramer 2021, section 4"


@dataclass(frozen=True)
class LaplaceEncoder(LabelEncoder):
    """A one-hot vector plus Laplace noise; (epsilon, 0)-DP for any two labels, tight."""

    @property
    def scale(self) -> float:
        """Scale b of the noise, 2 / epsilon."""
        return 2 / self.epsilon

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw a noisy vector for every label, shape (n, K)."""
        return rng.laplace(scale=self.scale, size=(len(labels), self.n_classes)) + one_hot(labels, self.n_classes)

    def law(self, label: Any) -> Product:
        """Return the law of one release: independent Laplace coordinates."""
        at = require_label(label, self.n_classes)
        return Product(tuple(Laplace(float(j == at), self.scale) for j in range(self.n_classes)))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return clip(2 V - 1, -1, 1) / b."""
        return np.asarray(np.clip(2 * released - 1, -1, 1) / self.scale)


def literal_posterior(released: FloatArray, prior: FloatArray, scale: float) -> FloatArray:
    """Return the posterior by its definition, |V - e_c|_1 coordinate by coordinate for every class: O(K^2) a label."""
    distances = np.abs(released[:, None, :] - np.eye(released.shape[1])).sum(axis=2)
    weights = prior * np.exp((distances.min(axis=1, keepdims=True) - distances) / scale)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@ZHAO.states("laplace posterior in O(K)", "section 4.3, where it is said to cost O(K^2)", "==")
def closed_form_cases() -> Cases:
    """The O(K) closed form of the posterior equals its definition."""
    rng, cases = np.random.default_rng(2021), []
    for K in (2, 10, 100):
        for epsilon in (0.2, 1.0, 2.0):
            encoder = LaplaceEncoder(K, epsilon)
            released, prior = encoder.release(rng.integers(K, size=100), rng), rng.dirichlet(np.ones(K), size=100)
            closed, literal = encoder.posterior(released, prior), literal_posterior(released, prior, encoder.scale)
            at = np.unravel_index(np.argmax(np.abs(closed / literal - 1)), closed.shape)
            cases.append((f"K={K} eps={epsilon:g}", float(closed[at]), float(literal[at])))
    return cases


CHECKS: list[Any] = [
    *ZHAO.rows(__name__),
    *(
        audit_encoder(f"laplace K={K} eps={epsilon:g}", LaplaceEncoder(K, epsilon), epsilon, MALEK, class_pairs(K)[:3])
        for K, epsilon in ((2, 1.0), (10, 0.5), (10, 2.0))
    ),
]
