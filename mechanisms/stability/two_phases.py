"""Lemma 3.7: the second phase of the online release tells nothing where no neighbor changes an answer.

Bassily, Thakurta & Thakkar (2018) split Algorithm 3 in two: the first phase says for each query whether its value is
released, by sparse vector; the second gives the values. "Let D be any fixed dataset. Assume that for any dataset D'
s.t. |D - D'| = 1, we have f(D) = f(D'). Then, for any output s, we have the following for the invocation of Algorithm":
the formula is lost.

Reading: the strongest one, equality. Given what the first phase said, the values have the same law on D and on D'. The
laws are compared on every dataset of six labels that meets the assumption, and each of its neighbors, by that of whole
transcripts of `OnlineQueryRelease`: P(values | which are released).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from audit import InequalityCheck
from mechanisms.stability.instability import Majority
from mechanisms.stability.online import OnlineQueryRelease, Transcript
from mechanisms.stability.privacy_theorems import PAPER

LEMMA = f"{PAPER}, Lemma 3.7"
RECORDS = 6
Labels = tuple[int, ...]
Questions = Callable[[Labels], tuple[np.ndarray, np.ndarray]]
Cases = list[tuple[str, float, float]]
_RELEASE = OnlineQueryRelease(0.6, 0.5, 1, 2)


def majorities(labels: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Return the majority of all labels and of the first four, with their distances to instability."""
    values, distances = zip(*(Majority()(np.array(part)) for part in (labels, labels[:4])), strict=True)
    return np.array(values), np.array(distances)


def neighbors(labels: Labels) -> list[Labels]:
    """Return the lists with one other label."""
    return [(*labels[:i], 1 - labels[i], *labels[i + 1 :]) for i in range(len(labels))]


def is_stable(labels: Labels) -> bool:
    """Return whether no neighbor changes a value of `majorities`: the assumption of the lemma."""
    own = majorities(labels)[0]
    return all(np.array_equal(majorities(other)[0], own) for other in neighbors(labels))


@lru_cache(maxsize=256)
def second_phase(questions: Questions, labels: Labels) -> dict[tuple[bool, ...], dict[Transcript, float]]:
    """Return the law of transcripts given which queries have a value, for each such pattern."""
    joint: defaultdict[tuple[bool, ...], dict[Any, float]] = defaultdict(dict)
    transcript: Any
    for transcript, chance in _RELEASE.transcripts(questions).law(labels).pmf.items():
        joint[tuple(value >= 0 for value in transcript)][transcript] = chance
    return {
        pattern: {each: chance / sum(found.values()) for each, chance in found.items()}
        for pattern, found in joint.items()
    }


def most_apart(questions: Questions, left: Labels, right: Labels) -> float:
    """Return the largest difference of a probability in the second phases of two datasets."""
    first, second = second_phase(questions, left), second_phase(questions, right)
    found = [
        abs(first[pattern].get(each, 0.0) - second[pattern].get(each, 0.0))
        for pattern in first.keys() & second.keys()
        for each in first[pattern].keys() | second[pattern].keys()
    ]
    return max(found)


def phase_cases(questions: Questions = majorities, assumed: bool = True) -> Cases:
    """Compare the difference of the second phases with 0, on datasets that meet the assumption, or on all others."""
    chosen = [labels for labels in product((0, 1), repeat=RECORDS) if is_stable(labels) == assumed]
    return [
        (f"{left} {right}", most_apart(questions, left, right), 0.0) for left in chosen for right in neighbors(left)
    ]


def phase_check(name: str, statement: str, values: Any, **settings: Any) -> InequalityCheck:
    """Return a check of the lemma."""
    return InequalityCheck(name=name, source=LEMMA, statement=statement, values=values, **settings)


CHECKS: list[InequalityCheck] = [
    phase_check(
        "stability/Lemma 3.7, second phase",
        "Where no neighbor changes a value, the values have the same law given which of them are released.",
        partial(phase_cases, majorities),
    ),
]
