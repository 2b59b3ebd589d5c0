"""A run of sparse vector as its stopping times: the laws of long transcripts, and the attacks on them.

Implements the analyst that makes a run of Algorithm 1 of Bassily, Thakurta & Thakkar (2018) as revealing as we know
how: it asks a list of queries, starts the list again after each BOTTOM, and when the list ends without one it asks a
query far below the threshold, whose BOTTOM is certain. So each of the run's epochs is one pass over the list, and the
transcript is one number an epoch: the index of the query that fell, or the length of the list.

Epochs are independent given the queries, so that the law of a run of any length is a product. P(stop at j) is an
integral over the threshold noise, by Gauss-Legendre quadrature between the kinks of the integrand; its relative error
is below 1e-15 a panel (`mechanisms.quadrature`).

Reading: the cutoff is c <= T, so that a run has T + 1 epochs. Departure: the certain BOTTOM is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.laws import Finite, PrivacyLoss, Product, compose
from audit.validate import integer, nonnegative, positive, real
from mechanisms.quadrature import TAIL, laplace_cdf, laplace_density, panelled_nodes
from mechanisms.queries import require_query, vector_answer
from mechanisms.stability.calibration import Calibration, optimal, printed

EPOCH = "Bassily, Thakurta & Thakkar 2018, Theorem 2.7: one epoch"
RUN = "Bassily, Thakurta & Thakkar 2018, Theorem 3.6"

# the epoch of largest Fisher information found, 0.339 / lam^2 a BOTTOM: (q - w) / lam, moves of alternating sign
LEVELS = np.fromstring(
    "4.77 2.11 1.13 .72 .47 .29 .09 -.03 -.16 -.34 -.35 -.53 -.81 -1.13 -1.47 -1.79 -2.15 -2.46 -2.87 -3.17", sep=" "
)
MOVES = np.tile([0.5, -0.5], 10)

# (queries that fall by one, their level, level of a last query that rises by one): the first is nearly the worst pair
# of one epoch, the others are the best found for runs of 2 to 21 epochs at delta = 1e-6
PREFIXES = (
    (12, -0.15, -0.04),
    (10, -0.15, -0.31),
    (8, 0.09, -0.44),
    (8, -0.28, -0.37),
    (6, 0.15, -0.5),
    (5, 0.3, -0.47),
    (4, 0.3, -0.6),
)


@dataclass(frozen=True)
class StoppingTimes:
    """Index of the query at which each epoch of a run stopped; the length of the list where none fell.

    Parameters
    ----------
    queries : callable
        dataset -> vector of shape (m,), each entry of sensitivity 1.
    threshold : float, finite
    lam : float > 0
        Scale of the threshold noise.
    epochs : int >= 1
        Passes over the list: BOTTOMs of the run.
    query_scale : float >= 0, optional
        Scale of the query noise in units of lam: 2 as published, 0 for none.
    """

    queries: Callable[[Any], Any]
    threshold: float
    lam: float
    epochs: int = 1
    query_scale: float = 2.0

    def __post_init__(self) -> None:
        require_query(self.queries, "queries")
        object.__setattr__(self, "threshold", real(self.threshold, "threshold"))
        object.__setattr__(self, "lam", positive(self.lam, "lam"))
        object.__setattr__(self, "epochs", integer(self.epochs, "epochs", at_least=1))
        object.__setattr__(self, "query_scale", nonnegative(self.query_scale, "query_scale"))

    def levels(self, dataset: Any) -> np.ndarray:
        """Distance of each answer from the threshold, in units of lam."""
        return (vector_answer(self.queries, dataset) - self.threshold) / self.lam

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        levels = self.levels(dataset)
        result = np.full((size, self.epochs), levels.size)
        for epoch in range(self.epochs):
            running = np.arange(size)
            noisy_threshold = rng.laplace(size=size)
            for j, level in enumerate(levels):
                noisy = level + rng.laplace(scale=self.query_scale, size=running.size)
                falls = ~(noisy > noisy_threshold[running])
                result[running[falls], epoch] = j
                running = running[~falls]
        return result

    def law(self, dataset: Any) -> Product:
        """Law of one run: independent epochs."""
        return Product((self.epoch_law(dataset),) * self.epochs)

    def epoch_law(self, dataset: Any) -> Finite:
        """Law of one stopping time."""
        return _epoch_law(tuple(self.levels(dataset).tolist()), self.query_scale)


@dataclass(frozen=True)
class Levels:
    """Queries whose answers are stated: dataset 0 or 1 is the left or the right side of an attack.

    Parameters
    ----------
    left, right : tuples of float
        Answers on the two sides; entries differ by at most the sensitivity.
    """

    left: tuple[float, ...]
    right: tuple[float, ...]

    def __call__(self, dataset: Any) -> np.ndarray:
        return np.array(self.right if bool(np.any(dataset)) else self.left)


SIDES = (np.zeros(1), np.ones(1))  # neighboring datasets of one record: which side it is


def around(threshold: float, lam: float, levels: np.ndarray, moves: np.ndarray, lipschitz: float = 1.0) -> Levels:
    """Answers at w + lam * levels, moved by +- lipschitz * moves."""
    center = threshold + lam * np.asarray(levels)
    step = lipschitz * np.asarray(moves)
    return Levels(tuple((center + step).tolist()), tuple((center - step).tolist()))


def long_attack(calibration: Calibration, lipschitz: float = 1.0) -> StoppingTimes:
    """Run the epoch of largest Fisher information as often as the run has epochs."""
    queries = around(calibration.threshold, calibration.lam, LEVELS, MOVES, lipschitz)
    return StoppingTimes(queries, calibration.threshold, calibration.lam, calibration.epochs)


def prefix_attack(calibration: Calibration, lipschitz: float = 1.0, shape: int = 0) -> StoppingTimes:
    """Run one of the epochs of PREFIXES, at first the nearly worst one, as often as the run has epochs."""
    prefix, level, last = PREFIXES[shape]
    levels, moves = np.r_[np.full(prefix, level), last], np.r_[np.full(prefix, 0.5), -0.5]
    queries = around(calibration.threshold, calibration.lam, levels, moves, lipschitz)
    return StoppingTimes(queries, calibration.threshold, calibration.lam, calibration.epochs)


def attack_loss(attack: StoppingTimes) -> PrivacyLoss:
    """Privacy loss of a run on the two sides of an attack."""
    left, right = (attack.epoch_law(side) for side in SIDES)
    return compose([left.loss_against(right)] * attack.epochs)


def best_attack(calibration: Calibration, delta: float, lipschitz: float = 1.0) -> tuple[float, StoppingTimes]:
    """Return the largest epsilon at `delta` that a known attack shows, a lower bound of the truth, and the attack."""
    attacks = [prefix_attack(calibration, lipschitz, shape) for shape in range(len(PREFIXES))]
    attacks.append(long_attack(calibration, lipschitz))
    shown = [attack_loss(attack).epsilon_lower_bound(delta) for attack in attacks]
    best = int(np.argmax(shown))
    return shown[best], attacks[best]


@lru_cache(maxsize=256)
def _epoch_law(levels: tuple[float, ...], query_scale: float) -> Finite:
    masses, rest = stopping_masses(np.array(levels), query_scale)
    return Finite(dict(enumerate([*masses, rest])))


def stopping_masses(levels: np.ndarray, query_scale: float = 2.0) -> tuple[list[float], float]:
    """Return P(an epoch stops at query j) for each j, and P(it is still running at the end).

    Parameters
    ----------
    levels : array, shape (m,)
        (q - w) / lam; +inf for a query that always passes.
    query_scale : float >= 0
        Scale of the query noise in units of lam.
    """
    finite = levels[np.isfinite(levels)]
    nodes, weights = panelled_nodes(np.append(finite, 0.0), -TAIL, TAIL, 0.5)
    running = weights * laplace_density(nodes)
    masses = []
    for level in levels:
        below = below_probability(level - nodes, query_scale)
        masses.append(float(np.sum(running * below)))
        running = running * (1 - below if query_scale == 0 else below_probability(nodes - level, query_scale))
    return masses, float(running.sum())


def below_probability(margin: np.ndarray, query_scale: float) -> np.ndarray:
    """Return P(margin + noise <= 0), noise Laplace of the given scale or none."""
    return (margin <= 0).astype(float) if query_scale == 0 else laplace_cdf(-margin / query_scale)


def attack_check(
    name: str, attack: StoppingTimes, epsilon: float, delta: float, source: str, **settings: Any
) -> PrivacyCheck:
    """Return the check of an attack pair: its law composed exactly, and its sampler."""
    return PrivacyCheck(
        name=f"stability/{name}",
        mechanism=attack,
        claim=PrivacyClaim(epsilon, delta, Substitution(), source),
        pairs=[SIDES],
        **{"budget": 20_000, **settings},
    )


def _checks() -> list[PrivacyCheck]:
    one = prefix_attack(Calibration(1.0, 0.0, 1))
    refuted = {"expected": Verdict.FAIL, "method": "exact"}
    checks = [
        attack_check("one epoch lam=1", one, 2.0, 0.0, EPOCH),
        attack_check("one epoch lam=21.03", prefix_attack(Calibration(21.03, 0.0, 1)), 2 / 21.03, 0.0, EPOCH),
        attack_check(
            "one epoch lam=21.03 is tight: 1 % less is refuted",
            prefix_attack(Calibration(21.03, 0.0, 1)),
            0.99 * 2 / 21.03,
            1e-6,
            EPOCH,
            **refuted,
        ),
    ]
    for cutoff in (1, 10):
        run = printed(1.0, 1e-6, cutoff, 1000)
        ours = optimal(1.0, 1e-6, cutoff)
        shape = {1: 3, 10: 6}[cutoff]
        checks += [
            attack_check(f"printed noise T={cutoff}, attack", prefix_attack(run, shape=2), 1.0, 1e-6, RUN),
            attack_check(f"calibrated noise T={cutoff}, attack", prefix_attack(ours, shape=shape), 1.0, 1e-6, RUN),
        ]
    return checks


CHECKS: list[PrivacyCheck] = _checks()
