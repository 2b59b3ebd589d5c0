"""Output laws: the exact distribution of a mechanism's outputs on one dataset.

A law has a likelihood, a privacy loss against the law on a neighboring dataset, and a finite-sample test that outputs
come from it. `loss_between` registers which kinds of laws can be compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from audit.base.errors import InvalidArgument
from audit.laws.goodness_of_fit import (
    as_reals,
    bonferroni,
    dkw_pvalue,
    dkw_width,
    largest_gap,
    normal_quantiles,
    require_outputs,
    serial_pvalues,
)
from audit.laws.privacy_loss import FloatArray, PrivacyLoss

PairLoss = Callable[[Any, Any], PrivacyLoss]
_F = TypeVar("_F", bound=PairLoss)

_PAIR_LOSSES: dict[tuple[type, type], PairLoss] = {}


def loss_between(left: type, right: type) -> Callable[[_F], _F]:
    """Register the decorated function (left law, right law) -> PrivacyLoss for a pair of kinds of laws."""

    def register(function: _F) -> _F:
        _PAIR_LOSSES[left, right] = function
        return function

    return register


class Law(ABC):
    """Distribution of one output. Laws are immutable and may be sent to other processes."""

    @abstractmethod
    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        """Return the log-density of each output, shape (size,); -inf for an output that the law never makes.

        All laws that `loss_against` compares have densities with respect to the same base measure.
        """

    @abstractmethod
    def fit_pvalue(self, outputs: np.ndarray, rng: np.random.Generator) -> float:
        """Return a p-value, valid at every sample size, that `outputs` are i.i.d. from this law.

        Parameters
        ----------
        outputs : array whose first axis runs over the outputs, at least one
            Outputs that the law never makes (nan, None, text, wrong shape) give 0.
        rng : numpy.random.Generator
            Randomises at atoms; independent of the outputs.
        """

    @abstractmethod
    def fit_resolution(self, n: int, significance: float) -> float:
        """Return the gap in distribution at which `fit_pvalue` on `n` outputs is at most `significance`.

        It is a gap in some tested distribution function, or in the frequency of some tested outcome.
        """

    @abstractmethod
    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return the outputs' normal scores, shape (size, coordinates); None if an output is impossible.

        The scores are randomized probability-integral transforms: i.i.d. standard normal under the law.
        """

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the privacy loss of the pair (self, other): self is left, other is right.

        Parameters
        ----------
        other : Law
            Of the same kind of outputs.

        Returns
        -------
        PrivacyLoss

        Raises
        ------
        InvalidArgument
            If the two kinds of laws cannot be compared.
        """
        for first in type(self).__mro__:
            for second in type(other).__mro__:
                if (first, second) in _PAIR_LOSSES:
                    return _PAIR_LOSSES[first, second](self, other)
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

    def fit_pvalue(self, outputs: np.ndarray, rng: np.random.Generator) -> float:
        """Return the p-value of DKW tests of the values and of sums and differences of successive scores."""
        reals = self._possible(require_outputs(outputs))
        if reals is None:
            return 0.0
        scores = self.normal_scores(reals, rng)
        if scores is None:
            return 0.0
        return bonferroni([self._gap_pvalue(reals), *serial_pvalues(scores[:, 0])])

    def fit_resolution(self, n: int, significance: float) -> float:
        """Return the width of the DKW band of the values, at a third of the significance."""
        return dkw_width(n, significance, tests=3)

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return normal quantiles of F(x-) + U (F(x) - F(x-)), shape (size, 1)."""
        reals = self._possible(outputs)
        if reals is None:
            return None
        below = self.cdf_left(reals)
        return normal_quantiles(below + rng.random(reals.size) * (self.cdf(reals) - below))[:, None]

    def _possible(self, outputs: np.ndarray) -> FloatArray | None:
        reals = as_reals(outputs)
        if reals is None or bool(np.any(self.log_likelihood(reals) == -np.inf)):
            return None
        return reals

    def _gap_pvalue(self, reals: FloatArray) -> float:
        values, counts = np.unique(reals, return_counts=True)
        return dkw_pvalue(reals.size, largest_gap(counts, self.cdf(values), self.cdf_left(values)))
