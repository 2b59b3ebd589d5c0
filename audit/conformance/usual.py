"""Defaults of a query: the claim at a scale, the law of its noise, its sensitivity, and a quotation on its privacy."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from audit.base.errors import InvalidArgument
from audit.claims import PrivacyClaim, ZeroConcentratedClaim
from audit.conformance.queries import Parameters
from audit.laws import Laplace, TwoSidedGeometric

USUAL = "usual"
_SAYS = re.compile(r"\b(epsilon|differential\w*|differencially|private\w*|privacy)\b|ε", re.IGNORECASE)
_LONGEST = 300  # characters of a quotation


def _scale(p: Parameters) -> float:
    """Return the scale of noise for epsilon, or the one that is asked for."""
    return p.sensitivity / p.epsilon if p.scale is None else p.scale


def _pure(p: Parameters) -> PrivacyClaim:
    return PrivacyClaim(p.sensitivity / _scale(p))


def _concentrated(p: Parameters) -> ZeroConcentratedClaim:
    return ZeroConcentratedClaim(p.sensitivity**2 / (2 * _scale(p) ** 2))


NATIVE: dict[str, Callable[[Parameters], Any]] = {
    "laplace noise": _pure,
    "geometric noise": _pure,
    "gaussian noise": _concentrated,
    "discrete gaussian noise": _concentrated,
}
"""The claim that follows from a scale, or from the standard deviation of Gaussian noise; Bun & Steinke 2016."""

LAWS: dict[str, Callable[[Parameters, Any], Any]] = {
    "laplace noise": lambda p, value: Laplace(value, _scale(p)),
    "geometric noise": lambda p, value: TwoSidedGeometric(value, math.exp(-1 / _scale(p))),
}
"""The law of a value with noise of the textbook's scale."""


def sensitivity_of(query: str, relation: str) -> Callable[[Parameters], Fraction]:
    """Return the largest change of a count, a sum, a mean or a variance of numbers within their bounds.

    Raises
    ------
    InvalidArgument
        For another query, or the mean or the variance where the number of records is not public.
    """
    replaced = relation == "substitution"
    found: dict[str, Callable[[Parameters], Fraction]] = {
        "count": lambda p: Fraction(1),
        "sum": lambda p: _width(p) if replaced else max(abs(Fraction(p.lower)), abs(Fraction(p.upper))),
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
    >>> from audit.conformance.usual import quotation
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
