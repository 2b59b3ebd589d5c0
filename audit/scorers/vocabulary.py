"""Collect what scorers look for, in the words that a PASS says: each scorer states its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from audit import plugins
from audit.scorers import SCORERS, SLOW_SCORERS
from audit.scorers.float_bits import bit_scorers
from audit.scorers.intervals import IntervalScore

_NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")


def unknown_words(looked_for: Iterable[str]) -> list[str]:
    """Return what no scorer states: of the package, or of a plugin."""
    known = {*IntervalScore.seeks, *_stated()}
    return [words for words in looked_for if generalize(words) not in known]


def generalize(words: str) -> str:
    """Return the words that a scorer states, of those that a game looked for: without numbers."""
    return _NUMBER.sub("#", words)


def _stated() -> Iterator[str]:
    for scorer in (*SCORERS, *SLOW_SCORERS, *bit_scorers(1.0), *plugins.list_scorers()):
        yield from scorer.seeks
