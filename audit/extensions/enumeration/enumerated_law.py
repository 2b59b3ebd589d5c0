"""The output law of code, by enumeration: a lower bound for each output, and the probability that is left over."""

from __future__ import annotations

import decimal
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

HASHES_ASSUMED = "nothing depends on the order of hashes, which another process may change"


@dataclass(frozen=True)
class EnumeratedLaw:
    """The law of the outputs of code, as `audit.enumerate_law` found it.

    Parameters
    ----------
    probabilities : mapping of output to Fraction
        Lower bound of the probability of each output; exact when `residual` is 0. Outputs that are not hashable, and
        outputs that are equal but differ in type, stand as the texts that tell them apart.
    residual : Fraction
        Probability that belongs to outputs unknown: of runs that were not followed, and of rounding.
    texts : mapping of text to Fraction
        The same law, under texts that differ wherever a caller could see a difference.
    states, runs : int
        Distinct states in which the code chose at random, and runs.
    behind : tuple of str
        Acts of the code behind the back of the source; the law is then unknown.
    assumed : tuple of str
        Assumptions about the code that were not tested on it; a law with none is proved.
    merges, merges_tested : int
        Ways into a state of which other ways found more; those that were tested by going on so.
    not_followed : mapping of str to Fraction
        Probability of the runs not followed, by reason; part of `residual`, up to rounding.
    notes : tuple of str
        Why states were not merged, if they were not.
    seconds : float
        Duration.
    outputs : mapping of text to int
        Outputs of the code with its real generator, counted; those that the law does not have under the empty text.

    Examples
    --------
    >>> import audit
    >>> law = audit.enumerate_law(lambda data, rng: data ^ (rng.random() < 0.25), True)
    >>> str(law.probabilities[True]), str(law.residual), law.behind
    ('3/4', '0', ())
    """

    probabilities: Mapping[Hashable, Fraction]
    residual: Fraction
    texts: Mapping[str, Fraction] = field(repr=False)
    states: int
    runs: int
    behind: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    merges: int = 0
    merges_tested: int = 0
    not_followed: Mapping[str, Fraction] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    outputs: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)


class Table(NamedTuple):
    """Hold a law as a table of texts, with the rest of probability 1."""

    texts: Mapping[str, Fraction]
    residual: Fraction


_DIGITS = 60


def bracket_exponential(epsilon: float) -> tuple[Fraction, Fraction]:
    """Return rational numbers around e^epsilon, less than a relative 2^-190 apart.

    Decimal numbers have a correctly rounded exponential.

    Examples
    --------
    >>> from audit.extensions.enumeration.enumerated_law import bracket_exponential
    >>> bracket_exponential(0.0)
    (Fraction(1, 1), Fraction(1, 1))
    """
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    value = Fraction(decimal.Context(prec=_DIGITS).exp(decimal.Decimal(epsilon)))
    return value * (1 - Fraction(1, 10 ** (_DIGITS - 1))), value * (1 + Fraction(1, 10 ** (_DIGITS - 1)))


def delta_bracket(
    above: EnumeratedLaw | Table, below: EnumeratedLaw | Table, epsilon: float
) -> tuple[Fraction, Fraction]:
    """Bracket the hockey-stick divergence: the supremum over events E of P(E) - e^epsilon Q(E).

    Of P = `above` and Q = `below` only lower bounds p and q are known, and residuals rho and sigma. Whatever they stand
    for, P(E) <= p(E) + rho and Q(E) >= q(E), so that the supremum is at most sum max(0, p - e^epsilon q) + rho. The
    event of all outputs with p > e^epsilon q has P(E) >= p(E) and Q(E) <= q(E) + sigma.
    """
    low, high = bracket_exponential(epsilon)
    upper, lower = above.residual, -high * below.residual
    for text, p in above.texts.items():
        q = below.texts.get(text, Fraction(0))
        upper += max(Fraction(0), p - low * q)
        lower += max(Fraction(0), p - high * q)
    return max(Fraction(0), lower), min(Fraction(1), upper)
