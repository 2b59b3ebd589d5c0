"""Output laws: the exact distribution of a mechanism's outputs on one dataset.

A law has a likelihood, a privacy loss against the law on a neighboring dataset, and a test that outputs come from it.
The p-values of the test are valid in finite samples: no asymptotics decides anything.

The log-density of each real law is at most quadratic between its kinks. The kinks, and the derivative on each piece,
tell where the log-ratio of any two of them turns: all that their privacy loss needs.
"""

from __future__ import annotations

import itertools
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from audit.errors import InvalidArgument
from audit.laws.privacy_loss import (
    DensityLoss,
    FiniteLoss,
    FloatArray,
    GaussianLoss,
    LaplaceLoss,
    PrivacyLoss,
    geometric_loss,
    no_loss,
    probabilities,
)
from audit.laws.product import compose
from audit.validate import integer, open_probability, positive, real

Distribution = Callable[[FloatArray], FloatArray]


class Law(ABC):
    """Distribution of one output. Laws are immutable and may be sent to other processes."""

    @abstractmethod
    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        """Return the log-density of each output, shape (size,); -inf for an output that the law never makes."""

    def fit_pvalue(self, outputs: np.ndarray, rng: np.random.Generator) -> float:
        """Return a p-value, valid at every sample size, that `outputs` (first axis, at least one) are i.i.d. from it.

        Outputs that the law never makes (nan, None, text, wrong shape) give 0. `rng`, independent of the outputs,
        randomizes at atoms.
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

    @property
    def fit_tests(self) -> int:
        """The factor by which `fit_pvalue` multiplies the p-value 2 exp(-2 n d^2) of a distance d in distribution."""
        return 3

    @abstractmethod
    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return scores, shape (size, coordinates), i.i.d. N(0, 1) under the law; None if an output is impossible."""

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
    """Return a p-value that `values` are i.i.d. from this law, atoms included (Massart 1990, corollary 1, remark)."""
    distinct, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts) / values.size
    before = np.r_[0.0, upto[:-1]]
    # between two values F_n is constant and F rises, so the supremum is reached at a value or at its left limit
    gap = float(max(np.max(np.abs(upto - cdf(distinct))), np.max(np.abs(before - cdf_left(distinct)))))
    return min(1.0, 2 * math.exp(-2 * values.size * gap * gap))


def dkw_distance(size: int, level: float) -> float:
    """Return the least distance in distribution of `size` values whose DKW p-value is at most `level`."""
    return math.sqrt(math.log(2 / level) / (2 * size))


def normal_pvalue(values: FloatArray) -> float:
    """Return the DKW p-value that `values` are i.i.d. standard normal."""
    return dkw_pvalue(values, special.ndtr, special.ndtr)


def serial_pvalues(scores: FloatArray) -> list[float]:
    """Return the DKW p-values of the sums and of the differences of successive pairs of standard normals."""
    # noise that one output shares with the next makes one of the two too wide and the other too narrow
    pairs = scores[: scores.size // 2 * 2].reshape(-1, 2)
    if pairs.size == 0:
        return [1.0, 1.0]
    return [normal_pvalue(combined / math.sqrt(2)) for combined in (pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1])]


def normal_quantiles(uniforms: FloatArray) -> FloatArray:
    """Return finite normal quantiles of uniforms."""
    return np.asarray(special.ndtri(np.clip(uniforms, 2.0**-64, 1 - 2.0**-53)))


class AtomsAndDensity(ScalarLaw):
    """A law on the line with a sub-normalized density and finitely many atoms.

    The base measure is Lebesgue measure plus a unit mass at each atom of either law of a pair. Subclass it, decorated
    as a frozen dataclass, to state a law that is not in `audit.laws`: any two such laws can be compared. A law with a
    density overrides `kinks`, `log_density` and `slope`; one with atoms as well also `atoms` and `antiderivative`.
    """

    @property
    def atoms(self) -> Mapping[float, float]:
        """The probability of each value that has one; none unless overridden."""
        return {}

    @property
    def kinks(self) -> tuple[float, ...]:
        """Points where the log-density has a kink, and the finite ends of the density's support."""
        return ()

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return the logarithm of the sub-normalized density, -inf outside its support."""
        return np.full(np.shape(x), -np.inf)

    def slope(self, x: float) -> tuple[float, float]:
        """Return (s, c): on the piece around x the log-density's derivative at y is s + c y."""
        return 0.0, 0.0

    def antiderivative(self, x: FloatArray) -> FloatArray:
        """Return the mass of the density up to x, plus any constant; override it for a law with atoms."""
        return self.cdf(x)

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the privacy loss by densities and atoms: the line is cut at kinks and where the log-ratio turns."""
        if not isinstance(other, AtomsAndDensity):
            return super().loss_against(other)
        if self == other:
            return no_loss()
        return DensityLoss(
            self.log_density,
            other.log_density,
            breakpoints=_breakpoints(self, other),
            left_cdf=self.antiderivative,
            right_cdf=other.antiderivative,
            left_atoms=self.atoms,
            right_atoms=other.atoms,
        )

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        x = as_vector(outputs)
        values = self.log_density(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, math.log(mass) if mass > 0 else -np.inf, values)
        return np.where(np.isfinite(x), values, -np.inf)

    def cdf_left(self, x: FloatArray) -> FloatArray:
        values = self.cdf(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, values - mass, values)
        return np.maximum(values, 0.0)


@dataclass(frozen=True)
class _LocationScale(AtomsAndDensity):
    loc: float  # finite
    scale: float  # finite, > 0
    _loss_at_one_scale: ClassVar[type[LaplaceLoss] | type[GaussianLoss]]

    def __post_init__(self) -> None:
        set_finite(self, "loc")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.loc,)

    def loss_against(self, other: Law) -> PrivacyLoss:
        if isinstance(other, type(self)) and other.scale == self.scale:
            return type(self)._loss_at_one_scale(abs(self.loc - other.loc) / self.scale)
        return super().loss_against(other)


@dataclass(frozen=True)
class Laplace(_LocationScale):
    """The Laplace law: density e^(-abs(x - loc) / scale) / (2 scale).

    Examples
    --------
    >>> from audit.laws import Laplace
    >>> Laplace(0.0, 2.0).loss_against(Laplace(1.0, 2.0)).epsilon(0.0)
    0.5
    """

    _loss_at_one_scale = LaplaceLoss

    def slope(self, x: float) -> tuple[float, float]:
        """Return -1 / scale above the location and 1 / scale below."""
        return math.copysign(1 / self.scale, self.loc - x), 0.0

    def log_density(self, x: FloatArray) -> FloatArray:
        return -np.abs(x - self.loc) / self.scale - math.log(2 * self.scale)

    def cdf(self, x: FloatArray) -> FloatArray:
        tail = self.tail(x)
        return np.where(x < self.loc, tail, 1 - tail)

    def tail(self, x: FloatArray) -> FloatArray:
        """Return the probability on the far side of x as seen from the location, without cancellation."""
        return np.exp(-np.abs(x - self.loc) / self.scale) / 2


@dataclass(frozen=True)
class Gaussian(_LocationScale):
    """The normal law of mean `loc` and standard deviation `scale`.

    Examples
    --------
    >>> from audit.laws import Gaussian
    >>> round(Gaussian(0.0, 2.0).loss_against(Gaussian(2.0, 2.0)).delta(1.0), 6)
    0.126937
    """

    _loss_at_one_scale = GaussianLoss

    def slope(self, x: float) -> tuple[float, float]:
        """Return (loc - y) / scale^2 by its two coefficients."""
        return self.loc / self.scale**2, -1 / self.scale**2

    def log_density(self, x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return -(((x - self.loc) / self.scale) ** 2) / 2 - math.log(self.scale * math.sqrt(2 * math.pi))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr((x - self.loc) / self.scale))


@dataclass(frozen=True)
class PointMass(AtomsAndDensity):
    """The law of one value with probability 1.

    Examples
    --------
    >>> from audit.laws import PointMass
    >>> PointMass(0.0).loss_against(PointMass(1.0)).epsilon(0.0)
    inf
    """

    value: float  # finite

    def __post_init__(self) -> None:
        set_finite(self, "value")

    def loss_against(self, other: Law) -> PrivacyLoss:
        return FiniteLoss(self.atoms, other.atoms) if isinstance(other, PointMass) else super().loss_against(other)

    @property
    def atoms(self) -> Mapping[float, float]:
        return {self.value: 1.0}

    def antiderivative(self, x: FloatArray) -> FloatArray:
        return np.zeros(np.shape(x))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.where(x >= self.value, 1.0, 0.0)


def _breakpoints(left: AtomsAndDensity, right: AtomsAndDensity) -> list[float]:
    """Return the kinks of both log-densities, and the zeros of the log-ratio's slope on the pieces between."""
    kinks = sorted({*left.kinks, *right.kinks})
    if not kinks:
        return []
    pieces = [kinks[0] - 1.0, *((a + b) / 2 for a, b in itertools.pairwise(kinks)), kinks[-1] + 1.0]
    turns = []
    for x in pieces:
        (s, c), (t, d) = left.slope(x), right.slope(x)
        if c != d:
            turns.append((s - t) / (d - c))
    return sorted({*kinks, *turns})


def set_finite(law: object, name: str) -> None:
    """Replace a field of a frozen law by its float, or raise `InvalidArgument` if it is not a finite number."""
    number = real(getattr(law, name), name)
    if not math.isfinite(number):
        raise InvalidArgument.of(name, "be finite", getattr(law, name))
    object.__setattr__(law, name, number)


def as_vector(outputs: np.ndarray) -> FloatArray:
    """Return outputs as floats of shape (size,), or raise `InvalidArgument`."""
    try:
        array = np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of("outputs", "be real numbers", outputs) from None
    if array.ndim != 1:
        raise InvalidArgument(f"`outputs` must have shape (size,), got {array.shape}")
    return array


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
