"""Output laws: the exact distribution of a mechanism's outputs on one dataset.

A law has a likelihood, a privacy loss against the law on a neighboring dataset, and a test that outputs come from it.
The p-values of the test are valid in finite samples: no asymptotics decides anything.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy import special

from audit.base.errors import InvalidArgument
from audit.laws.privacy_loss import FloatArray, PrivacyLoss

Distribution = Callable[[FloatArray], FloatArray]


class Law(ABC):
    """Distribution of one output. Laws are immutable and may be sent to other processes."""

    @abstractmethod
    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        """Return the log-density of each output, shape (size,); -inf for an output that the law never makes.

        All laws that `loss_against` compares have densities with respect to the same base measure.
        """

    def fit_pvalue(self, outputs: np.ndarray, rng: np.random.Generator) -> float:
        """Return a p-value, valid at every sample size, that `outputs` are i.i.d. from this law.

        Parameters
        ----------
        outputs : array whose first axis runs over the outputs, at least one
            Outputs that the law never makes (nan, None, text, wrong shape) give 0.
        rng : numpy.random.Generator
            Randomizes at atoms; independent of the outputs.
        """
        array = np.asarray(outputs)
        if array.ndim == 0 or array.shape[0] == 0:
            raise InvalidArgument.of("outputs", "be an array of at least one output along its first axis", outputs)
        scores = self.normal_scores(array, rng)
        if scores is None:
            return 0.0
        pvalues = self._fit_pvalues(array, scores, rng)
        return min(1.0, len(pvalues) * min(pvalues))

    @abstractmethod
    def _fit_pvalues(self, outputs: np.ndarray, scores: FloatArray, rng: np.random.Generator) -> list[float]:
        """Return the p-values of all tests of possible outputs and of their normal scores."""

    @abstractmethod
    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return the outputs' normal scores, shape (size, coordinates); None if an output is impossible.

        The scores are randomized probability-integral transforms: i.i.d. standard normal under the law.
        """

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the privacy loss of the pair (self, other), two laws of the same kind of outputs: self is left."""
        rule = f"be a law that {type(self).__name__} can be compared with: of the same kind of outputs"
        raise InvalidArgument.of("other", rule, other)


class ScalarLaw(Law):
    """A law of one number, by its distribution function."""

    @abstractmethod
    def cdf(self, x: FloatArray) -> FloatArray:
        """Return the probability of an output <= x."""

    @abstractmethod
    def cdf_left(self, x: FloatArray) -> FloatArray:
        """Return the probability of an output < x."""

    def _fit_pvalues(self, outputs: np.ndarray, scores: FloatArray, rng: np.random.Generator) -> list[float]:
        """Test the values, and the sums and differences of successive scores."""
        return [dkw_pvalue(outputs.astype(float), self.cdf, self.cdf_left), *serial_pvalues(scores[:, 0])]

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return normal quantiles of F(x-) + U (F(x) - F(x-)), shape (size, 1)."""
        array = np.asarray(outputs)
        items = array if array.dtype.kind == "O" else array[:1]
        if array.ndim != 1 or not all(isinstance(item, numbers.Real) and not isinstance(item, bool) for item in items):
            return None
        reals = array.astype(float)
        if np.isnan(reals).any() or np.any(self.log_likelihood(reals) == -np.inf):
            return None
        below = self.cdf_left(reals)
        return normal_quantiles(below + rng.random(reals.size) * (self.cdf(reals) - below))[:, None]


def dkw_pvalue(values: FloatArray, cdf: Distribution, cdf_left: Distribution) -> float:
    """Return a p-value that `values` are i.i.d. from the law with this distribution function, atoms included.

    It is 2 exp(-2 n gap^2), gap = sup |F_n - F|: the inequality of Dvoretzky, Kiefer & Wolfowitz with the constant of
    Massart 1990, corollary 1 and its remark on discontinuous F.
    """
    distinct, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts) / values.size
    before = np.r_[0.0, upto[:-1]]
    # between two values F_n is constant and F rises, so the supremum is reached at a value or at its left limit
    gap = float(max(np.max(np.abs(upto - cdf(distinct))), np.max(np.abs(before - cdf_left(distinct)))))
    return min(1.0, 2 * math.exp(-2 * values.size * gap * gap))


def normal_pvalue(values: FloatArray) -> float:
    """Return the DKW p-value that `values` are i.i.d. standard normal."""
    return dkw_pvalue(values, special.ndtr, special.ndtr)


def serial_pvalues(scores: FloatArray) -> list[float]:
    """Return the DKW p-values of the sums and of the differences of successive pairs of standard normals.

    (z_0 + z_1) / sqrt 2, (z_2 + z_3) / sqrt 2, ... are i.i.d. standard normal if the outputs are independent. Noise
    that one output shares with the next makes one of the two too wide and the other too narrow.
    """
    pairs = scores[: scores.size // 2 * 2].reshape(-1, 2)
    if pairs.size == 0:
        return [1.0, 1.0]
    return [normal_pvalue(combined / math.sqrt(2)) for combined in (pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1])]


def normal_quantiles(uniforms: FloatArray) -> FloatArray:
    """Return finite normal quantiles of uniforms."""
    return np.asarray(special.ndtri(np.clip(uniforms, 2.0**-64, 1 - 2.0**-53)))
