"""Defaults of a query: its claim at a scale, the law of its release, its sensitivity, a quotation on its privacy."""

from __future__ import annotations

import inspect
import math
import operator
import re
from bisect import bisect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy import optimize

from audit.api import (
    Finite,
    FiniteLoss,
    Gaussian,
    GaussianLoss,
    InvalidArgument,
    Laplace,
    PrivacyClaim,
    Product,
    ScalarLaw,
    TwoSidedGeometric,
    ZeroConcentratedClaim,
    positive,
)
from audit.extensions.conformance.queries import Parameters

FARTHEST = 9  # deviations beyond which a Gaussian law on the integers is not written down: 1e-18 of it
WIDEST = 2_000.0  # scale beyond which a law on the integers has too many outcomes to be written down


@dataclass(frozen=True)
class IntegerLaw(ScalarLaw):
    """A law on successive integers, the first of which is `low`."""

    low: int
    masses: tuple[float, ...]

    def loss_against(self, other: Any) -> FiniteLoss:
        return FiniteLoss(*(dict(enumerate(law.masses, law.low)) for law in (self, other)))

    def log_likelihood(self, outputs: Any) -> Any:
        place = np.asarray(outputs, dtype=float) - self.low
        is_there = (place >= 0) & (place < len(self.masses)) & (place == np.floor(place))
        with np.errstate(divide="ignore"):
            return np.where(is_there, np.log(self.masses)[np.where(is_there, place, 0).astype(int)], -np.inf)

    def cdf(self, x: Any) -> Any:
        upto = np.r_[0.0, np.cumsum(self.masses)]
        return np.minimum(upto[np.clip(np.floor(x) - self.low + 1, 0, len(self.masses)).astype(int)], 1.0)

    def cdf_left(self, x: Any) -> Any:
        return self.cdf(np.ceil(x) - 1)


def discrete_gaussian(loc: int, deviation: float) -> IntegerLaw | None:
    """Return the discrete Gaussian law; None if it is too wide to be written down.

    Parameters
    ----------
    loc : int
        The value that the noise is added to.
    deviation : float > 0
        The parameter sigma.

    Returns
    -------
    IntegerLaw or None

    Raises
    ------
    InvalidArgument
        For a deviation that is not positive.

    References
    ----------
    Canonne, Kamath & Steinke 2020, The discrete Gaussian for differential privacy, definition 1.

    Examples
    --------
    >>> from audit.extensions.conformance import discrete_gaussian
    >>> law = discrete_gaussian(3, 1.0)
    >>> [round(float(law.masses[x - law.low]), 3) for x in (2, 3, 4)]
    [0.242, 0.399, 0.242]
    """
    if positive(deviation, "deviation") > WIDEST:
        return None
    reach = math.ceil(FARTHEST * deviation)
    masses = np.exp(-((np.arange(-reach, reach + 9) - loc) ** 2) / (2 * deviation**2))  # the same for all of 0 to 8
    return IntegerLaw(-reach, tuple(masses / masses.sum()))


USUAL, INTEGER, SAMPLE = "usual", "integer", "sample"
_SAYS = re.compile(r"\b(epsilon|differential\w*|differencially|private\w*|privacy)\b|ε", re.IGNORECASE)
_LONGEST = 300  # characters of a quotation


def _pure(p: Parameters) -> PrivacyClaim:
    return PrivacyClaim(p.sensitivity / p.noise)


def _concentrated(p: Parameters) -> ZeroConcentratedClaim:
    return ZeroConcentratedClaim(p.sensitivity**2 / (2 * p.noise**2))


NATIVE: dict[str, Callable[[Parameters], Any]] = {
    "laplace noise": _pure,
    "geometric noise": _pure,
    "gaussian noise": _concentrated,
    "discrete gaussian noise": _concentrated,
}
"""The claim that follows from a scale, or from the standard deviation of Gaussian noise; Bun & Steinke 2016."""


def _response(p: Parameters, record: Any) -> Finite:
    """Return the law of k-ary randomized response; Kairouz, Bonawitz & Ramage 2016, section 2.1."""
    weights = {key: math.exp(p.epsilon * (key == record)) for key in p.categories}
    return Finite({key: weight / sum(weights.values()) for key, weight in weights.items()})


def _unary(p: Parameters, record: Any) -> Product:
    """Return the law of optimized unary encoding; Wang, Blocki, Li & Jha 2017, section 4.3."""
    flipped = 1 / (math.exp(p.epsilon) + 1)
    ones = [0.5 if key == record else flipped for key in p.categories]
    return Product(tuple(Finite({1: one, 0: 1 - one}) for one in ones))


def _chosen(p: Parameters, scores: Any) -> Finite:
    """Return the law of the exponential mechanism; Dwork & Roth 2014, definition 3.4."""
    weights = [math.exp(p.epsilon * (score - max(scores)) / (2 * p.sensitivity)) for score in scores]
    return Finite({place: weight / sum(weights) for place, weight in enumerate(weights)})


def _flipped(p: Parameters, scores: Any, outcomes: Sequence[float] | None = None) -> Finite:
    """Return the law of the largest score with exponential noise, which is that of permute-and-flip.

    McKenna & Sheldon 2020, algorithm 1; Ding, Kifer, Saghaian, Steinke, Wang, Xiao & Zhang 2021: they are the same.
    """
    weights = [math.exp(p.epsilon * (score - max(scores)) / (2 * p.sensitivity)) for score in scores]
    masses: dict[Hashable, float] = {}
    for place, weight in enumerate(weights):
        others = [Polynomial([1.0, -each]) for each in weights[:place] + weights[place + 1 :]]
        mass = weight * math.prod(others, start=Polynomial([1.0])).integ()(1.0)
        masses[place if outcomes is None else outcomes[place]] = mass
    return Finite(masses)


def _candidate(p: Parameters, data: Any) -> Finite:
    """Return the law of a quantile among candidates: the largest score, by how far shares of records are from it."""
    below, above = (
        [sum(compare(x, each) for x in data) for each in p.grid()] for compare in (operator.lt, operator.gt)
    )
    scores = [-abs((1 - p.quantile) * lt - p.quantile * gt) for lt, gt in zip(below, above, strict=True)]
    return _flipped(p.changed({"sensitivity": max(p.quantile, 1 - p.quantile)}), scores, p.grid())


_VALUES: dict[str, Callable[[Parameters, Any], Any]] = {
    "count": lambda p, data: len(data),
    "sum": lambda p, data: sum(map(Fraction, data)),
    "mean": lambda p, data: Fraction(sum(map(Fraction, data)), len(data)),
    "variance": lambda p, data: (
        Fraction(sum(Fraction(x) ** 2 for x in data), len(data)) - Fraction(sum(map(Fraction, data)), len(data)) ** 2
    ),
    "histogram of numbers": lambda p, data: [
        sum(bisect(p.edges[1:-1], x) == place for x in data) for place in range(len(p.edges) - 1)
    ],
    "histogram of public keys": lambda p, data: [data.count(key) for key in p.categories],
    "laplace noise": lambda p, value: value,
    "geometric noise": lambda p, value: value,
}
"""The values that get the noise, on the usual inputs."""


def _gaussian(p: Parameters, value: float) -> Gaussian:
    """Return Gaussian noise of the least deviation for epsilon and delta; Balle & Wang 2018, theorem 8."""

    def excess(deviation: float) -> float:
        return GaussianLoss(1 / deviation).delta(p.epsilon) - p.delta

    return Gaussian(value, p.scale or p.sensitivity * float(optimize.brentq(excess, 1e-3, 1e9)))


_LAWS = {
    "randomized response": _response,
    "frequency oracle": _unary,
    "exponential mechanism": _chosen,
    "noisy max": _flipped,
    "quantile": _candidate,
    "median": _candidate,
    "gaussian noise": _gaussian,
}


def law_of(query: str, relation: str, kind: str) -> Callable[[Parameters, Any], Any]:
    """Return the textbook's law of a release, by `kind`: with Laplace noise ("usual"), with two-sided geometric noise
    on counts ("integer"), or with Laplace noise on the variance of a "sample".

    Raises
    ------
    InvalidArgument
        For a query that has none.
    """
    if query in _LAWS and kind == USUAL:
        return _LAWS[query]
    if query not in _VALUES or kind not in (USUAL, INTEGER, *((SAMPLE,) if query == "variance" else ())):
        raise InvalidArgument.of("law", f"be a function for a query other than {', '.join({**_LAWS, **_VALUES})}", kind)
    noisy: Callable[[Any, float], Any] = _whole if kind == INTEGER or query == "geometric noise" else _real
    change = None if query.endswith("noise") else sensitivity_of(query, relation)

    def law(p: Parameters, data: Any) -> Any:
        value, scale = _VALUES[query](p, data), p.noise if change is None else float(change(p)) / p.epsilon
        if kind == SAMPLE:  # divided by one less than the number of records
            value, scale = (each * len(data) / (len(data) - 1) for each in (value, scale))
        if isinstance(value, list):
            return Product(tuple(noisy(each, scale) for each in value))
        return noisy(value, scale)

    return law


def _real(value: Any, scale: float) -> Laplace:
    return Laplace(float(value), scale)


def _whole(value: Any, scale: float) -> TwoSidedGeometric:
    return TwoSidedGeometric(int(value), math.exp(-1 / scale))


def sensitivity_of(query: str, relation: str) -> Callable[[Parameters], Fraction]:
    """Return the largest change of counts, of a sum, a mean or a variance of numbers within their bounds.

    Raises
    ------
    InvalidArgument
        For another query, or the mean or the variance where the number of records is not public.
    """
    replaced = relation == "substitution"
    found: dict[str, Callable[[Parameters], Fraction]] = {
        "count": lambda p: Fraction(1),
        "sum": lambda p: _width(p) if replaced else max(abs(Fraction(p.lower)), abs(Fraction(p.upper))),
        **dict.fromkeys(("histogram of numbers", "histogram of public keys"), lambda p: Fraction(1 + replaced)),
    }
    if replaced:
        found["mean"] = lambda p: _width(p) / p.size
        found["variance"] = lambda p: _width(p) ** 2 * (p.size - 1) / p.size**2
    if query not in found:
        raise InvalidArgument.of("sensitivity", f"be a function for a query other than {', '.join(found)}", USUAL)
    return found[query]


def _width(p: Parameters) -> Fraction:
    return Fraction(p.upper) - Fraction(p.lower)


def quotation(documented: str | Callable[..., Any]) -> str:
    """Return a quotation as it is given, or the first sentence of a docstring that speaks of privacy.

    Raises
    ------
    InvalidArgument
        When no sentence does.

    Examples
    --------
    >>> from audit.extensions.conformance.usual import quotation
    >>> def noisy(data, epsilon):
    ...     "Sum the numbers. The result is epsilon-differentially private."
    >>> quotation(noisy)
    'docstring of noisy: "The result is epsilon-differentially private."'
    """
    if isinstance(documented, str):
        return documented
    name = getattr(documented, "__qualname__", repr(documented))
    for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", inspect.getdoc(documented) or ""):
        if _SAYS.search(sentence):
            said = " ".join(sentence.replace('"', "'").split())
            return f'docstring of {name}: "{said[:_LONGEST]}"'
    raise InvalidArgument(f"the docstring of {name} says nothing of privacy: give `quote` as a text")
