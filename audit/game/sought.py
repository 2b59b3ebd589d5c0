"""List what the scores of a guess game look for, in the words that a PASS says.

A certificate says nothing else: whoever reads "looked for" finds words that some scorer of this package says of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = r"\d+(\.\d+)?(e[+-]?\d+)?"
_WORDS = (
    # any output
    "the stated likelihood ratio", "thresholds", "repeated values", r"\d+ cells", "intervals of any width",
    # vectors
    "cells of each coordinate", "distances to the inputs", "shifts in any direction", "counts of flags",
    "votes of bits", "flags and released values", "logistic regression on coordinates and pairs of them",
    "trees on coordinates and pairs of them",
    # structure
    "lengths, order and entries of the structure",
    # digits, looked at in every audit
    rf"grids and combs of round width down to {_NUMBER} and of any down to {_NUMBER}",
    r"low bits beyond rounding \(see check_precision\)", "significant bits",
    "single bits of the significand", "decimals", "floating-point class",
    "bits of NaN", "values that one dataset alone gives",
    "integers that are seeds of the noise",
    # bits, in a precision audit
    "low-order byte", "number of decimals", "exponent and trailing zeros", "exponent of the lowest set bit",
    "grid around the answers", "round trips around guessed answers", "inverse-CDF reachability",
)  # fmt: skip
_KNOWN = re.compile(rf"({'|'.join(_WORDS)})( in \d+ of \d+ coordinates)?")


def unknown_words(looked_for: Iterable[str]) -> list[str]:
    """Return what no scorer says of itself."""
    return [words for words in looked_for if not _KNOWN.fullmatch(words)]
