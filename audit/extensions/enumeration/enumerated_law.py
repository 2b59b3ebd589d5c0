"""The output law of code, by enumeration: a lower bound for each output, and the probability that is left over."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
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
    states, draws, runs : int
        Distinct states in which the code chose at random, choices taken, and runs.
    behind : tuple of str
        Acts of the code behind the back of the source; the law is then unknown.
    assumed : tuple of str
        Assumptions about the code that were not tested on it; a law with none is proved.
    not_seen : tuple of str
        Effects that are not looked for on this platform; the law claims nothing about code that uses them.
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
    draws: int
    runs: int
    behind: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    not_seen: tuple[str, ...] = ()
    merges: int = 0
    merges_tested: int = 0
    not_followed: Mapping[str, Fraction] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    outputs: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_proved(self) -> bool:
        """True if everything random went through the source, and nothing about the code is only assumed.

        `audit.enumerate_law` assumes that hash seeds do not matter; `audit.check_privacy` draws outputs under others.
        """
        return not self.behind and not self.assumed


class Table(NamedTuple):
    """Hold a law as a table of texts, with the rest of probability 1."""

    texts: Mapping[str, Fraction]
    residual: Fraction


def contradicted(one: Table, other: Table) -> Iterator[str]:
    """Yield the texts whose probabilities cannot be the same, whatever the residuals of the two laws stand for."""
    for text in {*one.texts, *other.texts}:
        first, second = one.texts.get(text, Fraction(0)), other.texts.get(text, Fraction(0))
        if first > second + other.residual or second > first + one.residual:
            yield text


class DeltaBracket(NamedTuple):
    """Bracket delta at some epsilon, in exact numbers."""

    lower: Fraction
    upper: Fraction


def exponential(epsilon: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers around e^epsilon, less than a relative 2^-190 apart.

    Examples
    --------
    >>> from audit.extensions.enumeration.enumerated_law import exponential
    >>> exponential(0.0)
    (Fraction(1, 1), Fraction(1, 1))
    """
    exact = Fraction(epsilon)
    if exact == 0:
        return Fraction(1), Fraction(1)
    halvings = max(0, exact.numerator.bit_length() - exact.denominator.bit_length() + 2)
    part, one = exact / 2**halvings, 1 << 320
    low = high = low_term = high_term = one
    count = 0
    while high_term > 1:  # part <= 1/2, so that all later terms together are at most the last one
        count += 1
        low_term = low_term * part.numerator // (part.denominator * count)
        high_term = -(-high_term * part.numerator // (part.denominator * count))
        low, high = low + low_term, high + high_term
    high += high_term
    for _ in range(halvings):
        low, high = low * low // one, -(-high * high // one)
    return Fraction(low, one), Fraction(high, one)


def delta_bracket(above: EnumeratedLaw | Table, below: EnumeratedLaw | Table, epsilon: float) -> DeltaBracket:
    """Bracket the hockey-stick divergence: the supremum over events E of P(E) - e^epsilon Q(E).

    Of P = `above` and Q = `below` only lower bounds p and q are known, and residuals rho and sigma. Whatever they stand
    for, P(E) <= p(E) + rho and Q(E) >= q(E), so that the supremum is at most sum max(0, p - e^epsilon q) + rho. The
    event of all outputs with p > e^epsilon q has P(E) >= p(E) and Q(E) <= q(E) + sigma.
    """
    low, high = exponential(epsilon)
    upper, lower = above.residual, -high * below.residual
    for text, p in above.texts.items():
        q = below.texts.get(text, Fraction(0))
        upper += max(Fraction(0), p - low * q)
        lower += max(Fraction(0), p - high * q)
    return DeltaBracket(max(Fraction(0), lower), min(Fraction(1), upper))
