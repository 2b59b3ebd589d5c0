"""Learners of words that are too accurate for the label privacy that they claim."""

from __future__ import annotations

from audit import Verdict
from mechanisms.cover.label_lower_bound import LEMMA_24, LEMMAS, THEOREM_10, Misses, misses_check, theorem_misses
from mechanisms.cover.words import WordLearner

FACTOR = 1_000  # times the claimed alpha: then each letter is right
_CLAIMED = "claimed after "

CHECKS = [
    misses_check(
        "fault/cover label privacy misses, lemma, alpha a thousand times the claimed",
        _CLAIMED + LEMMA_24,
        Misses(WordLearner(LEMMAS[0].words, FACTOR * LEMMAS[0].epsilon), LEMMAS[0].records, LEMMAS[0].radius),
        expected=Verdict.FAIL,
    ),
    *(
        misses_check(
            f"fault/cover label privacy misses, theorem, case {case}, fewest mistakes",
            _CLAIMED + THEOREM_10,
            theorem_misses(case, 1.0),
            expected=Verdict.FAIL,
        )
        for case in (2, 3)
    ),
]
