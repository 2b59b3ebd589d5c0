"""Defaults of a query: its claim at a scale, the law of its release, its sensitivity, a quotation on its privacy."""

from __future__ import annotations

import inspect
import math
import operator
import re
from bisect import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy import optimize

from audit import PrivacyClaim, ZeroConcentratedClaim
from audit.api import InvalidArgument, laws, validate
from audit.extensions.conformance.queries import Parameters

FARTHEST = 9  # deviations beyond which a Gaussian law on the integers is not written down: 1e-18 of it
WIDEST = 2_000.0  # scale beyond which a law on the integers has too many outcomes to be written down


def discrete_gaussian(loc: int, deviation: float) -> laws.Finite | None:
    """Return the discrete Gaussian law; None if it is too wide to be written down.

    Parameters
    ----------
    loc : int
        The value that the noise is added to.
    deviation : float > 0
        The parameter sigma.

    Returns
    -------
    Finite or None

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
    >>> [round(law.pmf[x], 3) for x in (2, 3, 4)]
    [0.242, 0.399, 0.242]
    """
    if validate.positive(deviation, "deviation") > WIDEST:
        return None
    reach = math.ceil(FARTHEST * deviation)
    masses = np.exp(-((np.arange(-reach, reach + 9) - loc) ** 2) / (2 * deviation**2))  # the same for all of 0 to 8
    return laws.Finite(dict(enumerate((masses / masses.sum()).tolist(), -reach)))


_SAYS = re.compile(r"\b(epsilon|differential\w*|differencially|private\w*|privacy)\b|ε", re.IGNORECASE)
_LONGEST = 300  # characters of a quotation


def _pure(p: Parameters) -> PrivacyClaim:
    return PrivacyClaim(p.sensitivity / p.noise)


def _claim_concentration(p: Parameters) -> ZeroConcentratedClaim:
    return ZeroConcentratedClaim(p.sensitivity**2 / (2 * p.noise**2))


NATIVE: dict[str, Callable[[Parameters], Any]] = {
    "laplace noise": _pure,
    "geometric noise": _pure,
    "gaussian noise": _claim_concentration,
    "discrete gaussian noise": _claim_concentration,
}
"""The claim that follows from a scale, or from the standard deviation of Gaussian noise; Bun & Steinke 2016."""


def _response(p: Parameters, record: Any) -> laws.Finite:
    """Return the law of k-ary randomized response; Kairouz, Bonawitz & Ramage 2016, section 2.1."""
    weights = {key: math.exp(p.epsilon * (key == record)) for key in p.categories}
    return laws.Finite({key: weight / sum(weights.values()) for key, weight in weights.items()})


def _unary(p: Parameters, record: Any) -> laws.Product:
    """Return the law of optimized unary encoding; Wang, Blocki, Li & Jha 2017, section 4.3."""
    flipped = 1 / (math.exp(p.epsilon) + 1)
    ones = [0.5 if key == record else flipped for key in p.categories]
    return laws.Product(tuple(laws.Finite({1: one, 0: 1 - one}) for one in ones))


def _choose_by_score(p: Parameters, scores: Any) -> laws.Finite:
    """Return the law of the exponential mechanism; Dwork & Roth 2014, definition 3.4."""
    weights = [math.exp(p.epsilon * (score - max(scores)) / (2 * p.sensitivity)) for score in scores]
    return laws.Finite({place: weight / sum(weights) for place, weight in enumerate(weights)})


def _permute_and_flip(p: Parameters, scores: Any, outcomes: Sequence[float] | None = None) -> laws.Finite:
    """Return the law of the largest score with exponential noise, which is that of permute-and-flip.

    McKenna & Sheldon 2020, algorithm 1; Ding, Kifer, Saghaian, Steinke, Wang, Xiao & Zhang 2021: they are the same.
    """
    weights = [math.exp(p.epsilon * (score - max(scores)) / (2 * p.sensitivity)) for score in scores]
    masses: dict[Hashable, float] = {}
    for place, weight in enumerate(weights):
        others = [Polynomial([1.0, -each]) for each in weights[:place] + weights[place + 1 :]]
        mass = weight * math.prod(others, start=Polynomial([1.0])).integ()(1.0)
        masses[place if outcomes is None else outcomes[place]] = mass
    return laws.Finite(masses)


def _candidate(p: Parameters, data: Any) -> laws.Finite:
    """Return the law of a quantile among candidates: the largest score, by how far shares of records are from it."""
    below, above = (
        [sum(compare(x, each) for x in data) for each in p.grid()] for compare in (operator.lt, operator.gt)
    )
    scores = [-abs((1 - p.quantile) * lt - p.quantile * gt) for lt, gt in zip(below, above, strict=True)]
    return _permute_and_flip(p.change({"sensitivity": max(p.quantile, 1 - p.quantile)}), scores, p.grid())


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


def _gaussian(p: Parameters, value: float) -> laws.Gaussian:
    """Return Gaussian noise of the least deviation for epsilon and delta; Balle & Wang 2018, theorem 8."""

    def excess(deviation: float) -> float:
        return laws.GaussianLoss(1 / deviation).delta(p.epsilon) - p.delta

    return laws.Gaussian(value, p.scale or p.sensitivity * float(optimize.brentq(excess, 1e-3, 1e9)))


_LAWS = {
    "randomized response": _response,
    "frequency oracle": _unary,
    "exponential mechanism": _choose_by_score,
    "noisy max": _permute_and_flip,
    "quantile": _candidate,
    "median": _candidate,
    "gaussian noise": _gaussian,
}


def _law_of_noise(query: str, change: Any, kind: str, p: Parameters, data: Any) -> Any:
    """Return the law of a value, or of each number of a list, with Laplace or two-sided geometric noise."""
    value, scale = _VALUES[query](p, data), p.noise if change is None else float(change(p)) / p.epsilon
    if kind == "sample":  # divided by one less than the number of records
        value, scale = (each * len(data) / (len(data) - 1) for each in (value, scale))
    is_whole = kind == "integer" or query == "geometric noise"
    parts = tuple(
        laws.TwoSidedGeometric(int(each), math.exp(-1 / scale)) if is_whole else laws.Laplace(float(each), scale)
        for each in (value if isinstance(value, list) else [value])
    )
    return laws.Product(parts) if isinstance(value, list) else parts[0]


def _list_laws(relation: str, kind: str) -> dict[str, Callable[[Parameters, Any], Any]]:
    """Return the textbook's laws: with Laplace noise ("usual"), with two-sided geometric noise on counts ("integer"),
    or with Laplace noise on the variance of a "sample".
    """
    changes = _list_sensitivities(relation)
    noisy = {"usual": _VALUES, "integer": _VALUES, "sample": ["variance"]}.get(kind, ())
    known = [query for query in noisy if query in changes or query.endswith("noise")]
    stated = {query: partial(_law_of_noise, query, changes.get(query), kind) for query in known}
    return {**stated, **(_LAWS if kind == "usual" else {})}


def _list_sensitivities(relation: str) -> dict[str, Callable[[Parameters], Fraction]]:
    """Return the largest change of counts, of a sum, a mean or a variance of numbers within their bounds."""
    replaced = relation == "substitution"
    counts = ("histogram of numbers", "histogram of public keys")
    found: dict[str, Callable[[Parameters], Fraction]] = {
        "count": lambda p: Fraction(1),
        "sum": lambda p: _width(p) if replaced else max(abs(Fraction(p.lower)), abs(Fraction(p.upper))),
        **dict.fromkeys(counts, lambda p: Fraction(1 + replaced)),
    }
    if replaced:  # else the number of records is not public
        found["mean"] = lambda p: _width(p) / p.size
        found["variance"] = lambda p: _width(p) ** 2 * (p.size - 1) / p.size**2
    return found


def _width(p: Parameters) -> Fraction:
    return Fraction(p.upper) - Fraction(p.lower)


def find_usual(argument: str, query: str, relation: str, kind: str = "usual") -> Any:
    """Return the usual property of a query: its `law`, `sensitivity`, or the claim at a scale (`claim` and `native`).

    Raises
    ------
    InvalidArgument
        For a query that has none.
    """
    tables: dict[str, Mapping[str, Any]] = {
        "law": _list_laws(relation, kind),
        "sensitivity": _list_sensitivities(relation) if kind == "usual" else {},
    }
    table = tables.get(argument, NATIVE if kind == "usual" else {})
    if query not in table:
        raise InvalidArgument.of(argument, f"be a function for a query other than {', '.join(table) or 'any'}", kind)
    return table[query]


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
