"""Laws of discrete outputs, two-sided geometric or finite, and the law of a vector of independent coordinates."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audit.errors import InvalidArgument
from audit.laws.continuous import Law, ScalarLaw, as_vector, normal_pvalue, normal_quantiles, serial_pvalues
from audit.laws.exact_loss import FiniteLoss, geometric_loss, probabilities
from audit.laws.privacy_loss import FloatArray, PrivacyLoss
from audit.laws.product import compose
from audit.validate import integer, open_probability

_NEGLIGIBLE = 1e-18  # mass of a geometric law that may be left out


@dataclass(frozen=True)
class TwoSidedGeometric(ScalarLaw):
    """The two-sided geometric law on the integers: probability (1 - r) / (1 + r) r^|z - loc|.

    References
    ----------
    Ghosh, Roughgarden & Sundararajan 2012, Universally Utility-Maximizing Privacy Mechanisms, definition 2.1.

    Examples
    --------
    >>> from audit.laws import TwoSidedGeometric
    >>> round(TwoSidedGeometric(0, 0.5).loss_against(TwoSidedGeometric(1, 0.5)).epsilon(0.0), 6)
    0.693147
    """

    loc: int
    ratio: float  # r in (0, 1); e^-epsilon for a count of sensitivity 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "loc", integer(self.loc, "loc", at_least=-(2**53)))
        object.__setattr__(self, "ratio", open_probability(self.ratio, "ratio"))

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the privacy loss: exact for one ratio; for two, on a range that misses 1e-18 of the heavier law."""
        if not isinstance(other, TwoSidedGeometric):
            return super().loss_against(other)
        if self.ratio == other.ratio:
            return geometric_loss(self.loc - other.loc, self.ratio)
        heavy, light = (self, other) if self.ratio > other.ratio else (other, self)
        reach = math.ceil(math.log(_NEGLIGIBLE) / math.log(heavy.ratio)) + abs(self.loc - other.loc)
        z = np.arange(heavy.loc - reach, heavy.loc + reach + 1)
        # the heavier law's missed mass gets an infinite loss, the lighter law's is put on the ends of the range
        lost = 2 * heavy.ratio ** (reach + 1) / (1 + heavy.ratio)
        masses = {heavy: np.append(heavy.pmf(z), lost), light: np.append(light.pmf(z), 0.0)}
        steps = np.abs(z[[0, -1]] - light.loc) + 1
        masses[light][[0, z.size - 1]] += light.ratio**steps / (1 + light.ratio)
        return FiniteLoss(masses[self], masses[other])

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        z = as_vector(outputs)
        constant = math.log1p(-self.ratio) - math.log1p(self.ratio)
        whole = np.isfinite(z) & (z == np.floor(z))
        return np.where(whole, constant + np.abs(np.where(whole, z, 0.0) - self.loc) * math.log(self.ratio), -np.inf)

    def cdf(self, x: FloatArray) -> FloatArray:
        steps = np.floor(x) - self.loc
        below = self.ratio ** np.maximum(-steps, 0) / (1 + self.ratio)
        above = self.ratio ** np.maximum(steps + 1, 0) / (1 + self.ratio)
        return np.where(steps < 0, below, 1 - above)

    def cdf_left(self, x: FloatArray) -> FloatArray:
        return self.cdf(np.ceil(x) - 1)

    def pmf(self, z: np.ndarray) -> FloatArray:
        """Return the probabilities of integers."""
        return (1 - self.ratio) / (1 + self.ratio) * self.ratio ** np.abs(z - self.loc)


class Finite(Law):
    """A law on a finite set of outcomes.

    Parameters
    ----------
    pmf : mapping outcome -> probability
        Outcomes are hashable: numbers, text, tuples of these. Probabilities sum to 1 within 1e-9.

    Notes
    -----
    Outputs are an array of shape (size,), numeric, text or object, or of shape (size, d), whose rows are compared as
    tuples of Python scalars. An object array may hold tuples, lists and arrays. 1, 1.0 and True are one outcome.

    Examples
    --------
    >>> from audit.laws import Finite
    >>> Finite({0: 0.75, 1: 0.25}).log_likelihood([1, 2]).round(4).tolist()
    [-1.3863, -inf]
    """

    def __init__(self, pmf: Mapping[Hashable, float]) -> None:
        if not isinstance(pmf, Mapping):
            raise InvalidArgument.of("pmf", "be a mapping outcome -> probability", pmf)
        masses = probabilities(list(pmf.values()), "pmf")
        kept = [(outcome, mass) for outcome, mass in zip(pmf, masses.tolist(), strict=True) if mass > 0]
        self._pmf: dict[Hashable, float] = {_plain(outcome): mass for outcome, mass in kept}
        if len(self._pmf) != len(kept):
            raise InvalidArgument.of("pmf", "hold each outcome once", list(pmf))
        self._index = {outcome: cell for cell, outcome in enumerate(self._pmf)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finite) and self._pmf == other._pmf

    def __hash__(self) -> int:
        return hash(frozenset(self._pmf.items()))

    def __repr__(self) -> str:
        return f"Finite({self._pmf!r})"

    @property
    def pmf(self) -> dict[Hashable, float]:
        """Outcomes of positive probability with their probabilities."""
        return dict(self._pmf)

    def loss_against(self, other: Law) -> PrivacyLoss:
        return FiniteLoss(self.pmf, other.pmf) if isinstance(other, Finite) else super().loss_against(other)

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        with np.errstate(divide="ignore"):
            masses = np.log(np.append(self._masses, 0.0))
        return masses[self._cells(outputs)]

    def _fit_pvalues(self, outputs: np.ndarray, scores: FloatArray, rng: np.random.Generator) -> list[float]:
        """Test all outcomes by exact two-sided binomial tests, and the sums and differences of successive scores."""
        counts, masses = np.bincount(self._cells(outputs), minlength=len(self._pmf)), self._masses
        others = len(scores) - counts
        low = np.where(others > 0, special.betaincc(counts + 1, np.maximum(others, 1), masses), 1.0)
        high = np.where(counts > 0, special.betainc(np.maximum(counts, 1), others + 1, masses), 1.0)
        cells = min(1.0, 2 * counts.size * float(np.min(np.minimum(low, high))))
        return [cells, *serial_pvalues(scores[:, 0])]

    @property
    def fit_tests(self) -> int:
        # the exact binomial test of a cell is at least as sharp as Hoeffding's bound, which has the form of DKW
        return super().fit_tests * len(self._pmf)

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return the normal scores of the outcomes in their given order, shape (size, 1)."""
        cells, masses = self._cells(outputs), self._masses
        if bool(np.any(cells == masses.size)):
            return None
        upto = np.r_[0.0, np.cumsum(masses)]
        return normal_quantiles(upto[cells] + rng.random(cells.size) * masses[cells])[:, None]

    @property
    def _masses(self) -> FloatArray:
        return np.array(list(self._pmf.values()))

    def _cells(self, outputs: np.ndarray) -> np.ndarray:
        """Return the position of each output among the outcomes; their number if it is not among them."""
        distinct, inverse = _distinct(np.asarray(outputs))
        cells = [self._index.get(_plain(item), len(self._pmf)) for item in distinct.tolist()]
        return np.array(cells, dtype=np.intp)[inverse]


def _distinct(outputs: np.ndarray) -> tuple[np.ndarray, Any]:
    """Return the distinct outputs and the index of each output among them; all outputs if they are objects."""
    if outputs.dtype.kind == "O" or outputs.size == 0 or outputs.ndim > 2:
        return outputs, slice(None)
    if outputs.ndim == 1:
        return np.unique(outputs, return_inverse=True)
    rows = np.ascontiguousarray(outputs)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], inverse


_SCALARS = frozenset((bool, int, float, str))  # plain as they are; long outcomes consist of them


def _plain(item: Any) -> Hashable:
    """Return an outcome as Python scalars and tuples of them; None, which is not an outcome, if it has no hash."""
    if isinstance(item, np.ndarray | np.generic):
        item = item.tolist()
    if isinstance(item, list | tuple):
        return tuple([entry if type(entry) in _SCALARS else _plain(entry) for entry in item])
    return item if isinstance(item, Hashable) else None


@dataclass(frozen=True)
class Product(Law):
    """The law of a vector with independent coordinates.

    Examples
    --------
    >>> from audit.laws import Laplace, Product
    >>> left, right = Product((Laplace(0, 1), Laplace(0, 1))), Product((Laplace(1, 1), Laplace(1, 1)))
    >>> left.loss_against(right).epsilon(0.0)
    2.0
    """

    laws: tuple[Law, ...]  # at least one; outputs have shape (size, len(laws))

    def __post_init__(self) -> None:
        laws = tuple(self.laws)
        if not laws or not all(isinstance(law, Law) for law in laws):
            raise InvalidArgument.of("laws", "be a sequence of at least one law", self.laws)
        object.__setattr__(self, "laws", laws)

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Compose the privacy losses of the coordinates."""
        if not isinstance(other, Product):
            return super().loss_against(other)
        if len(self.laws) != len(other.laws):
            raise InvalidArgument.of("other", f"have {len(self.laws)} coordinates", len(other.laws))
        pairs = list(zip(self.laws, other.laws, strict=True))
        known = {pair: pair[0].loss_against(pair[1]) for pair in set(pairs)}
        return compose([known[pair] for pair in pairs])

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        array = np.asarray(outputs)
        if array.shape[1:] != (len(self.laws),):
            raise InvalidArgument(f"`outputs` must have shape (size, {len(self.laws)}), got {array.shape}")
        return np.sum([law.log_likelihood(array[:, j]) for j, law in enumerate(self.laws)], axis=0)

    def _fit_pvalues(self, outputs: np.ndarray, scores: FloatArray, rng: np.random.Generator) -> list[float]:
        """Test every coordinate, and two projections of all: with all signs +, and with a random half of them -."""
        own = [law.fit_pvalue(outputs[:, j], rng) for j, law in enumerate(self.laws)]
        coordinates = len(self.laws)
        signs = rng.permutation(np.where(np.arange(coordinates) % 2 == 0, 1.0, -1.0))
        together, apart = (scores @ weights / np.sqrt(coordinates) for weights in (np.ones(coordinates), signs))
        return [*own, normal_pvalue(together), normal_pvalue(apart), *serial_pvalues(together)]

    @property
    def fit_tests(self) -> int:
        return (len(self.laws) + 4) * max(law.fit_tests for law in self.laws)

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        array = np.asarray(outputs)
        if array.shape[1:] != (len(self.laws),):
            return None
        columns = [law.normal_scores(array[:, j], rng) for j, law in enumerate(self.laws)]
        known = [column for column in columns if column is not None]
        return np.hstack(known) if len(known) == len(columns) else None
