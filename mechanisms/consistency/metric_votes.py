"""Algorithm 5 where points are words: votes by stability histograms in a space that has only a distance.

After Bousquet et al. (2022), Theorems A.14 and A.15. The space is that of the English names of months, days and
seasons, with the least number of inserted, deleted or replaced letters, divided by that of the longest name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from audit import ConsistencyCheck, Labeled, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.consistency.any_space import Integers, PublicPoints
from mechanisms.consistency.spaces import MetricSpace, certified
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


@dataclass(frozen=True)
class WordRisk:
    """Simulated risk of Algorithm 5 on uniformly drawn words by its aggregate sampler, delta = n^-2, epsilon = 1.

    The label is 1 with probability 0.9 for months and 0.1 for other words.
    """

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        packing, places = certified(WORDS, radius_for(n, WORDS.doubling_dim)), WORDS.points(WORDS.places)
        margins = np.where(np.arange(len(places)) < len(MONTHS), 0.8, -0.8)
        weights = np.full(len(places), 1 / len(places))
        cells = Cells.of_points(WORDS.cell_of(places, packing), weights, margins, len(packing))
        total, ones = cells.counts(n, replicates, rng)
        every, marked = (noisy_counts(counts, 1.0, inverse_square(n), rng) for counts in (total, ones))
        return 0.1 + cells.excess((np.minimum(marked, every) > every / 2).astype(np.int8))


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


CHECKS: list[PrivacyCheck | ConsistencyCheck] = [
    _privacy("words", WORDS, WORD_CELLS, word_pairs()),
    _privacy("integers", Integers(), (0, 1, 2), integer_pairs()),
    ConsistencyCheck(
        name="consistency/stable votes/theorem A.15 words delta=n^-2",
        source="Bousquet et al. 2022, Theorem A.15",
        statement="the risk tends to the Bayes risk",
        losses=WordRisk(),
        sizes=(10**3, 10**6),
        bayes_risk=0.1,
        tolerance=0.1,
        budget=600,
    ),
]
