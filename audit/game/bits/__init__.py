"""Events on the bits of floating-point outputs: what rounding lets through of an answer that noise should hide.

`PATTERN_SCORERS` need nothing but outputs; `bit_scorers(epsilon)` adds those that guess the two exact answers and the
scale of the noise. All of them only choose events: the guess game certifies, so a wrong guess costs power, never
validity.
"""

from typing import Any

from audit.game.bits.answers import AnswerPair, guess_answers
from audit.game.bits.bit_patterns import PATTERN_SCORERS, BitPatterns
from audit.game.bits.residuals import Residuals
from audit.game.bits.roundtrip import RoundTrips
from audit.game.bits.samplers import InverseCdf
from audit.game.scorers import Scorer

__all__ = [
    "PATTERN_SCORERS",
    "AnswerPair",
    "BitPatterns",
    "InverseCdf",
    "Residuals",
    "RoundTrips",
    "bit_scorers",
    "guess_answers",
]


def bit_scorers(epsilon: float, query: Any = None) -> tuple[Scorer, ...]:
    """The scorers of the precision audit.

    Parameters
    ----------
    epsilon : float >= 0
        To which the noise is said to be calibrated; helps to guess its scale.
    query : callable, optional
        dataset -> exact answer, when the caller knows it; else simple statistics are tried.
    """
    return (*PATTERN_SCORERS, Residuals(query), RoundTrips(query), InverseCdf(epsilon, query))
