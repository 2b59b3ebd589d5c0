"""Algorithm 1, sparse vector: TOP for free, each BOTTOM is paid.

Section 2.1 of Bassily, Thakurta & Thakkar (2018), Theorem 2.7:

    c = 0, lam = sqrt(32 T log(1 / delta)) / epsilon, noisy threshold w + Lap(lam)
    for each query q of sensitivity 1, while c <= T:
        if q(D) + Lap(2 lam) > noisy threshold: answer TOP
        else: answer BOTTOM, draw a new noisy threshold, c = c + 1

The steps are those of `mechanisms.parts.sparse_vector.Runs`. The box is reconstructed; "while c <= T" lets T + 1
BOTTOMs out. `StoppingTimes` is the most revealing analyst that we know: he asks a list of queries anew after each
BOTTOM, and one far below the threshold where the list ends without any, so that a run is a product of epochs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from audit import PrivacyCheck, Verdict
from audit.laws import Finite, Product
from mechanisms.papers.bassily2018.noise import optimal, printed, sparse_noise
from mechanisms.papers.rows import BASSILY
from mechanisms.parts.sparse_vector import BOTTOM, Noise, Runs, SparseVector, epoch_masses
from mechanisms.queries import require_query, vector_answer

EPOCH = "Theorem 2.7: one epoch"
RUN = "Theorem 3.6"
SIDES = (np.zeros(1), np.ones(1))  # neighboring datasets of one record: which side of an attack it is

# the epoch of largest Fisher information found, 0.339 / lam^2 a BOTTOM: (q - w) / lam, moves of alternating sign
LEVELS = np.fromstring(
    "4.77 2.11 1.13 .72 .47 .29 .09 -.03 -.16 -.34 -.35 -.53 -.81 -1.13 -1.47 -1.79 -2.15 -2.46 -2.87 -3.17", sep=" "
)
MOVES = np.tile([0.5, -0.5], 10)
# (queries that fall by one, their level, level of a last query that rises by one): the first is nearly the worst pair
# of one epoch, the others are the best found for runs of 2 to 21 epochs at delta = 1e-6
PREFIXES = (
    (12, -0.15, -0.04), (10, -0.15, -0.31), (8, 0.09, -0.44), (8, -0.28, -0.37), (6, 0.15, -0.5), (5, 0.3, -0.47),
    (4, 0.3, -0.6),
)  # fmt: skip


@dataclass(frozen=True)
class Levels:
    """Queries whose answers are stated: dataset 0 or 1 is the left or the right side of an attack."""

    left: tuple[float, ...]
    right: tuple[float, ...]

    def __call__(self, dataset: Any) -> np.ndarray:
        return np.array(self.right if bool(np.any(dataset)) else self.left)


def around(noise: Noise, levels: Any, moves: Any, lipschitz: float = 1.0) -> Levels:
    """Return answers at w + lam * levels, moved by +- lipschitz * moves."""
    center, step = noise.threshold + noise.lam * np.asarray(levels), lipschitz * np.asarray(moves)
    return Levels(tuple((center + step).tolist()), tuple((center - step).tolist()))


@dataclass(frozen=True)
class StoppingTimes:
    """Index of the query at which each epoch of a run stopped; the length of the list where none fell."""

    queries: Callable[[Any], Any]  # dataset -> vector of shape (m,), each entry of sensitivity 1
    noise: Noise  # `epochs` passes over the list

    def __post_init__(self) -> None:
        require_query(self.queries, "queries")

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        passes = Runs(replace(self.noise, epochs=1), size * self.noise.epochs, rng)
        fell = passes.ask(vector_answer(self.queries, dataset)) == BOTTOM
        stops = np.where(fell.any(axis=1), fell.argmax(axis=1), fell.shape[1])
        return np.asarray(stops.reshape(size, self.noise.epochs))

    def law(self, dataset: Any) -> Product:
        """Law of one run: independent epochs."""
        return Product((self.epoch_law(dataset),) * self.noise.epochs)

    def epoch_law(self, dataset: Any) -> Finite:
        """Law of one stopping time."""
        return _epoch_law(self.noise, tuple(vector_answer(self.queries, dataset).tolist()))


@lru_cache(maxsize=256)
def _epoch_law(noise: Noise, answers: tuple[float, ...]) -> Finite:
    return Finite(dict(enumerate(epoch_masses(noise, np.array(answers)))))


def prefix_levels(shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Return levels and moves of one of PREFIXES."""
    prefix, level, last = PREFIXES[shape]
    return np.r_[np.full(prefix, level), last], np.r_[np.full(prefix, 0.5), -0.5]


def prefix_attack(noise: Noise, lipschitz: float = 1.0, shape: int = 0) -> StoppingTimes:
    """Run one of the epochs of PREFIXES, at first the nearly worst one, as often as the run has epochs."""
    return StoppingTimes(around(noise, *prefix_levels(shape), lipschitz), noise)


def rising(prefix: int, last: int) -> Levels:
    """Return `prefix` answers that rise by one from left to right, then `last` ones that fall by one, around 0."""
    left = np.r_[np.full(prefix, -0.5), np.full(last, 0.5)]
    return Levels(tuple(left.tolist()), tuple((-left).tolist()))


def paid_above(queries: Levels, noise: Noise) -> SparseVector:
    """Return sparse vector that pays above the threshold: paid below it, on negated answers."""
    negated = (tuple(-answer for answer in side) for side in (queries.left, queries.right))
    return SparseVector(Levels(*negated), noise)


def pair_check(name: str, mechanism: Any, claimed: tuple[float, float], where: str, **settings: Any) -> PrivacyCheck:
    """Return a check on the two sides of an attack, by its law unless said otherwise: composed exactly, and drawn."""
    settings = {"pairs": [SIDES], "budget": 10_000, "method": "exact", **settings}
    return BASSILY.promise(name, where, mechanism, claimed, **settings)


def _printed(cutoff: int, size: float) -> PrivacyCheck:
    noise = sparse_noise(1.0, 0.01, cutoff, 2.0)
    wide = replace(noise, lam=size * noise.lam)  # answers that move by `size` want noise as much larger
    mechanism = SparseVector(around(wide, np.zeros(8), np.tile([0.5, 0.5, 0.5, -0.5], 2), size), wide)
    name = f"sparse vector as printed T={cutoff} eps=1 delta=0.01 sensitivity={size:g}"
    return pair_check(name, mechanism, (1.0, 0.01), "Theorem 2.7")


def _runs(cutoff: int, shape: int) -> list[PrivacyCheck]:
    noises = {"printed": (printed(1.0, 1e-6, cutoff, 1000), 2), "calibrated": (optimal(1.0, 1e-6, cutoff), shape)}
    return [
        pair_check(f"{name} noise T={cutoff}, attack", prefix_attack(noise, shape=at), (1.0, 1e-6), RUN)
        for name, (noise, at) in noises.items()
    ]


_ONE, _PAPERS = (prefix_attack(Noise(lam, 0.0, 1)) for lam in (1.0, 21.03))

CHECKS: list[PrivacyCheck] = [
    *(_printed(cutoff, size) for cutoff, size in ((1, 1.0), (2, 1.0), (1, 3.0))),
    pair_check("one epoch lam=1", _ONE, (2.0, 0.0), EPOCH),
    pair_check("one epoch lam=21.03", _PAPERS, (2 / 21.03, 0.0), EPOCH),
    pair_check(
        "one epoch lam=21.03 is tight: 1 % less is refuted",
        _PAPERS,
        (0.99 * 2 / 21.03, 1e-6),
        EPOCH,
        expected=Verdict.FAIL,
    ),
    *_runs(1, 3),
    *_runs(10, 6),
]
