"""The law of independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.base.errors import InvalidArgument
from audit.laws.composed_loss import compose
from audit.laws.goodness_of_fit import bonferroni, dkw_width, normal_pvalue, require_outputs, serial_pvalues
from audit.laws.law import Law, loss_between
from audit.laws.privacy_loss import FloatArray, PrivacyLoss

_JOINT_TESTS = 4


@dataclass(frozen=True)
class Product(Law):
    """The law of a vector with independent coordinates.

    Parameters
    ----------
    laws : sequence of Law, at least one
        One for each coordinate; outputs have shape (size, len(laws)).

    Raises
    ------
    InvalidArgument
        If `laws` is not a sequence of at least one law.

    Examples
    --------
    >>> from audit.laws import Laplace, Product
    >>> left, right = Product((Laplace(0, 1), Laplace(0, 1))), Product((Laplace(1, 1), Laplace(1, 1)))
    >>> left.loss_against(right).epsilon(0.0)
    2.0
    """

    laws: tuple[Law, ...]

    def __post_init__(self) -> None:
        laws = tuple(self.laws)
        if not laws or not all(isinstance(law, Law) for law in laws):
            raise InvalidArgument.of("laws", "be a sequence of at least one law", self.laws)
        object.__setattr__(self, "laws", laws)

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        """Sum the log-densities of the coordinates."""
        array = np.asarray(outputs)
        if not self._fits(array):
            raise InvalidArgument(f"`outputs` must have shape (size, {len(self.laws)}), got {array.shape}")
        return np.sum([law.log_likelihood(array[:, j]) for j, law in enumerate(self.laws)], axis=0)

    def fit_pvalue(self, outputs: np.ndarray, rng: np.random.Generator) -> float:
        """Return the p-value of every coordinate's own test and of the joint tests.

        The joint tests catch noise that coordinates, or successive outputs, share. Under the law the normal scores z
        are i.i.d. standard normal, and so is any projection w.z with |w| = 1. Tested are the projection with all signs
        +, also for independence of successive outputs, and the one with a random half of the signs -.
        """
        array = require_outputs(outputs)
        scores = self.normal_scores(array, rng)
        if scores is None:
            return 0.0
        own = [law.fit_pvalue(array[:, j], rng) for j, law in enumerate(self.laws)]
        return bonferroni([*own, *_joint_pvalues(scores, rng)])

    def fit_resolution(self, n: int, significance: float) -> float:
        """Return the coarsest resolution of the coordinates, each at its share of the significance."""
        tests = len(self.laws) + _JOINT_TESTS
        own = [law.fit_resolution(n, significance / tests) for law in self.laws]
        return max(*own, dkw_width(n, significance, tests))

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return the scores of all coordinates side by side."""
        array = np.asarray(outputs)
        if not self._fits(array):
            return None
        columns = [law.normal_scores(array[:, j], rng) for j, law in enumerate(self.laws)]
        known = [column for column in columns if column is not None]
        return np.hstack(known) if len(known) == len(columns) else None

    def _fits(self, array: np.ndarray) -> bool:
        return array.ndim == 2 and array.shape[1] == len(self.laws)


def _joint_pvalues(scores: FloatArray, rng: np.random.Generator) -> list[float]:
    coordinates = scores.shape[1]
    signs = rng.permutation(np.where(np.arange(coordinates) % 2 == 0, 1.0, -1.0))
    together, apart = (scores @ weights / np.sqrt(coordinates) for weights in (np.ones(coordinates), signs))
    return [normal_pvalue(together), normal_pvalue(apart), *serial_pvalues(together)]


@loss_between(Product, Product)
def _product_pair(left: Product, right: Product) -> PrivacyLoss:
    if len(left.laws) != len(right.laws):
        raise InvalidArgument.of("other", f"have {len(left.laws)} coordinates", len(right.laws))
    pairs = list(zip(left.laws, right.laws, strict=True))
    known = {pair: pair[0].loss_against(pair[1]) for pair in set(pairs)}
    return compose([known[pair] for pair in pairs])
