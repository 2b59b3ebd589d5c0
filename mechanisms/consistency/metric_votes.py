"""Algorithm 5 where points have only a distance: words, 2-adic numbers, and a line whose curves have no length.

After Bousquet et al. (2022), Theorems A.13 to A.15. The words are the English names of months, days and seasons, with
the least number of inserted, deleted or replaced letters, divided by that of the longest name. The other two spaces are
unbounded, and known by a dense sequence (`mechanisms.consistency.dense_sequence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from audit import ConsistencyCheck, Labeled, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.consistency.any_space import Integers, PublicPoints
from mechanisms.consistency.dense_sequence import ROOT_LINE, TWO_ADIC
from mechanisms.consistency.spaces import MetricSpace
from mechanisms.consistency.stable_counts import noisy_counts
from mechanisms.consistency.stable_theorems import inverse_square
from mechanisms.consistency.stable_votes import SOURCE, StableVotes
from mechanisms.consistency.voronoi import radius_for
from mechanisms.consistency.votes import Cells

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
OTHERS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("spring", "summer", "autumn", "winter"),
)
LONGEST = 9


@cache
def edit_distance(a: str, b: str) -> float:
    """Return the least number of letters to insert, delete or replace that turns a into b, over `LONGEST`."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1] / LONGEST


WORDS = PublicPoints((*MONTHS, *OTHERS), edit_distance, dim=2.0)
WORD_CELLS = (0, 3, 4)  # of january, september and tuesday, for 40 to 80 records


def counted(ones: dict[str, int], zeros: dict[str, int]) -> Labeled:
    """Return records with the given numbers of labels 1, then 0, of each word."""
    rows = [(word, mark) for part, mark in ((ones, 1), (zeros, 0)) for word in part for _ in range(part[word])]
    return Labeled(np.array([word for word, _ in rows], dtype=object), np.array([mark for _, mark in rows]))


def with_first(data: Labeled, word: object, label: int) -> Labeled:
    """Return the same records with another first one."""
    return Labeled(np.array([word, *data.X[1:]], dtype=object), np.r_[label, data.y[1:]])


def word_pairs() -> list[tuple[Labeled, Labeled]]:
    """The only label-1 record of a word is replaced; a label-1 record moves between large cells; a label is flipped."""
    single = counted({"january": 1}, {"january": 22, "september": 18})
    crowded = counted({"january": 26, "wednesday": 26}, {"september": 26})
    close = counted({"january": 13, "wednesday": 26}, {"january": 13, "september": 9})
    return [
        (single, with_first(single, "september", 1)),
        (crowded, with_first(crowded, "wednesday", 1)),
        (close, with_first(close, "january", 0)),
        (close, with_first(close, "tuesday", 1)),
    ]


def integer_pairs() -> list[tuple[Labeled, Labeled]]:
    """The same on the integers, every one of which is a center."""
    single = Labeled(np.repeat([0, 2], [23, 18]), np.r_[1, np.zeros(40)].astype(int))
    crowded = Labeled(np.repeat([0, 1, 2], 26), np.repeat([1, 1, 0], 26))
    return [(data, Labeled(np.r_[at, data.X[1:]], data.y)) for data, at in ((single, 2), (crowded, 1), (crowded, 2))]


def sequence_pairs(places: tuple[Any, Any, Any]) -> list[tuple[Labeled, Labeled]]:
    """The same on three points of other cells: the only label-1 record of a cell moves, and one between large cells."""

    def records(counts: tuple[int, int, int], labels: list[int]) -> Labeled:
        rows = [place for place, count in zip(places, counts, strict=True) for _ in range(count)]
        return Labeled(np.array([*rows, None], dtype=object)[:-1], np.array(labels))

    single = records((23, 0, 18), [1] + 40 * [0])
    crowded = records((26, 26, 26), 52 * [1] + 26 * [0])
    return [(data, with_first(data, places[at], 1)) for data, at in ((single, 2), (crowded, 1), (crowded, 2))]


@dataclass(frozen=True)
class SpaceRisk:
    """Simulated risk of Algorithm 5 on weighted points by its aggregate sampler, delta = n^-2, epsilon = 1.

    Parameters
    ----------
    space : MetricSpace
    places : tuple of points
    weights, margins : tuples of float
        Probabilities of the points, and 2 eta - 1 there: 0.8 or -0.8.
    """

    space: MetricSpace
    places: tuple[Any, ...]
    weights: tuple[float, ...]
    margins: tuple[float, ...]

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        keys = self.space.keys_of(self.space.points(self.places), radius_for(n, self.space.doubling_dim))
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        index, arrays = np.array([numbers[key] for key in keys]), (np.array(self.weights), np.array(self.margins))
        cells = Cells.of_points(index, *arrays, len(numbers))
        total, ones = cells.counts(n, replicates, rng)
        every, marked = (noisy_counts(counts, 1.0, inverse_square(n), rng) for counts in (total, ones))
        return 0.1 + cells.excess((np.minimum(marked, every) > every / 2).astype(np.int8))


def word_risk() -> SpaceRisk:
    """Return the risk on uniform words, the label 1 with probability 0.9 for months and 0.1 for other words."""
    size, months = len(WORDS.places), len(MONTHS)
    return SpaceRisk(WORDS, tuple(WORDS.places), (1 / size,) * size, (0.8,) * months + (-0.8,) * (size - months))


def dyadic_risk(space: MetricSpace = TWO_ADIC) -> SpaceRisk:
    """Return the risk on 2-adic numbers: |x| = 2^g with probability 2^-g, halved for g = 0; the digit of 16 decides."""
    places, weights = list[Fraction](), list[float]()
    for g in range(5):
        digits = [m for m in range(2 ** (g + 5)) if m % 2 or g == 0]
        places += [Fraction(m, 2**g) for m in digits]
        weights += [2.0 ** -max(g, 1) / (1 if g < 4 else 0.5) / len(digits)] * len(digits)
    margins = tuple(0.8 if int(place // 16) % 2 else -0.8 for place in places)
    total = sum(weights)
    return SpaceRisk(space, tuple(places), tuple(weight / total for weight in weights), margins)


def root_line_risk() -> SpaceRisk:
    """Return the risk on 81 points from -4 to 4, weights falling like 2^-|x|; the sign of sin(3 x) decides."""
    places = [Fraction(k, 10) + Fraction(1, 64) for k in range(-40, 41)]
    weights = np.array([2.0 ** -abs(float(place)) for place in places])
    margins = tuple(0.8 if np.sin(3 * float(place)) > 0 else -0.8 for place in places)
    return SpaceRisk(ROOT_LINE, tuple(places), tuple((weights / weights.sum()).tolist()), margins)


def sequence_cells(space: MetricSpace, places: tuple[Any, Any, Any], n: int) -> tuple[int, ...]:
    """Return the cells of three points for n records."""
    return tuple(key[0] for key in space.keys_of(space.points(places), radius_for(n, space.doubling_dim)))


def _privacy(
    name: str, space: MetricSpace, cells: tuple[int, ...], pairs: list[tuple[Labeled, Labeled]]
) -> PrivacyCheck:
    epsilon, delta = 0.5, 0.1
    source = f"{SOURCE}, constants computed exactly for the votes alone"
    return PrivacyCheck(
        name=f"consistency/stable votes/theorem A.14 {name} eps={epsilon:g} delta={delta:g}",
        mechanism=StableVotes(epsilon, delta, cells, space),
        claim=PrivacyClaim(1.5 * epsilon, delta / 4, Substitution(), source),
        pairs=pairs,
    )


def risk_check(name: str, risk: SpaceRisk, theorem: str, **settings: Any) -> ConsistencyCheck:
    """Return a check that the risk comes near 0.1."""
    return ConsistencyCheck(
        name=name,
        source=f"Bousquet et al. 2022, Theorem {theorem}",
        statement="the risk tends to the Bayes risk",
        losses=risk,
        sizes=(10**3, 10**6),
        bayes_risk=0.1,
        tolerance=0.1,
        budget=600,
        **settings,
    )


_APART = (Fraction(0), Fraction(1), Fraction(2))  # in cells of their own from 41 records on
_RISKS = {"2-adic numbers": dyadic_risk(), "line of roots": root_line_risk()}

CHECKS: list[PrivacyCheck | ConsistencyCheck] = [
    _privacy("words", WORDS, WORD_CELLS, word_pairs()),
    _privacy("integers", Integers(), (0, 1, 2), integer_pairs()),
    *(
        _privacy(name, risk.space, sequence_cells(risk.space, _APART, 41), sequence_pairs(_APART))
        for name, risk in _RISKS.items()
    ),
    risk_check("consistency/stable votes/theorem A.15 words delta=n^-2", word_risk(), "A.15"),
    *(
        risk_check(f"consistency/stable votes/theorem A.13 {name} delta=n^-2", risk, "A.13")
        for name, risk in _RISKS.items()
    ),
]
