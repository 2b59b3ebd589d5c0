"""Collect what scorers look for, in the words that a PASS says: each scorer states its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from audit.game.bits import FINE_SCORERS, bit_scorers
from audit.game.scanned import IntervalScore
from audit.game.scorers import SCORERS, SLOW_SCORERS, Scorer

_NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
_SOME_COORDINATES = " in # of # coordinates"


def unknown_words(looked_for: Iterable[str]) -> list[str]:
    """Return what no scorer states that is listed here, or whose class was defined in this process."""
    known = {*IntervalScore.seeks, *_stated()}
    return [words for words in looked_for if _NUMBER.sub("#", words).removesuffix(_SOME_COORDINATES) not in known]


def _stated() -> Iterator[str]:
    for scorer in (*SCORERS, *SLOW_SCORERS, *FINE_SCORERS, *bit_scorers(1.0)):
        yield from scorer.seeks
    for kind in _defined(Scorer):  # type: ignore[type-abstract]
        if isinstance(kind.seeks, tuple):  # of some kinds each scorer has words of its own
            yield from kind.seeks


def _defined(kind: type[Scorer]) -> Iterator[type[Scorer]]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _defined(derived)
