"""Two-stage training (LP-2ST): one half of the labels teaches a prior for the release of the other half.

A baseline of section 5 of Zhao et al. (2024): Algorithm 3 of Ghazi, Golowich, Kumar, Manurangsi & Zhang (2021) with two
stages. The records are cut into halves at random; the labels of the first are released by randomized response and a
first model is fitted to them; each label of the second is released by RRWithPrior under this model's prediction at its
features; the final model is fitted to all releases. Each label is released once, and its prior depends on releases of
other labels: (epsilon, 0)-DP under label flip. LP-1ST* and LP-2ST* learn on features from a network that was trained
on public labels (`network.PublicFeatures`), in the place of X: they are as private.

Departures: the final model sees both halves; the prior of nearest neighbors is the frequency of released labels among
the k neighbors in the first half.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.papers.zhao2024.neighbors import TargetModel
from mechanisms.papers.zhao2024.response import PriorResponseEncoder, ResponseEncoder
from mechanisms.papers.zhao2024.vector import FloatArray


@dataclass(frozen=True)
class TwoStageEncoder(ResponseEncoder):
    """Labels released in two stages; (epsilon, 0)-DP under label flip."""

    model: Callable[[], TargetModel] = field(kw_only=True)  # builds that of the first stage

    def release_all(
        self, points: FloatArray, labels: NDArray[np.int64], seed: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Release the labels of a random half, then those of the others under priors, shape (n,)."""
        if len(labels) < 2:
            raise InvalidArgument.of("X", "hold at least two points, one for each stage", len(points))
        first, second = np.array_split(np.random.default_rng(seed).permutation(len(labels)), 2)
        released = np.empty(len(labels), dtype=np.int64)
        released[first] = self.release(labels[first], rng)
        priors = self.priors(points[first], released[first], points[second], seed)
        released[second] = self.response.release_under(labels[second], priors, rng)
        return released

    @property
    def response(self) -> PriorResponseEncoder:
        """The mechanism of the second stage."""
        return PriorResponseEncoder(self.n_classes, self.epsilon, prior=np.ones(self.n_classes))

    def priors(self, points: FloatArray, released: NDArray[np.int64], asked: FloatArray, seed: int) -> FloatArray:
        """Return the first model's predictions at the points asked, from released labels alone, shape (m, K)."""
        scores = self.model().fit(points, self.targets(released), np.random.default_rng(seed)).scores(asked)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def law_of_all(self, dataset: Labeled) -> Finite:
        """Return the law of the releases of a few records, for a model without randomness: the mean over all halves."""
        points, labels, n = np.asarray(dataset.X), np.asarray(dataset.y), len(dataset)
        halves = list(itertools.combinations(range(n), n - n // 2))
        mixed: dict[Hashable, float] = {}
        for first in map(list, halves):
            second = np.setdiff1d(np.arange(n), first)
            for row, chance in self._stages(points, labels, np.array(first), second):
                mixed[row] = mixed.get(row, 0.0) + chance / len(halves)
        return Finite(mixed)

    def _stages(
        self, points: FloatArray, labels: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> list[tuple[tuple[int, ...], float]]:
        """Return all releases, in the order of the records, with their probabilities for the given halves."""
        found = []
        for shown in itertools.product(range(self.n_classes), repeat=len(first)):
            priors = self.priors(points[first], np.array(shown), points[second], 0)
            pmfs = [self.law(int(label)).pmf for label in labels[first]]
            for prior, label in zip(priors, labels[second], strict=True):
                pmfs.append(PriorResponseEncoder(self.n_classes, self.epsilon, prior=prior).law(int(label)).pmf)
            places = np.argsort(np.r_[first, second])
            for more in itertools.product(range(self.n_classes), repeat=len(second)):
                row = (*shown, *more)
                chance = float(np.prod([pmf.get(value, 0.0) for pmf, value in zip(pmfs, row, strict=True)]))
                found.append((tuple(row[place] for place in places), chance))
        return found
