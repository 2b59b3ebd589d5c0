"""The posterior probability that an output came from the left: experts on features of outputs, mixed by their success.

An expert that has no probability for an output is asleep there (NaN): it takes no part and is not scored. It learns
from an output only after the bets on that output were settled.

On single numbers, which are centered and scaled by past outputs, a family of log-likelihood ratios, mixed by their
likelihood, tells a shift from a change of scale after a few outputs. Cells of the line, of all sizes at once, find any
event, but need more of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from operator import itemgetter

import numpy as np
from scipy import special

from audit.api import Outputs

# The sequential game: tuned by `benchmarks.sequential`, `benchmarks.overhead`
EXPERT_WEIGHTS = {
    **{"Laplace": 6.0, "Gaussian": 5.0, "cells": 0.8, "no opinion": 0.5, "kinds of symbols": 0.5},
    **{"repeated outputs": 8.0, "a learned direction": 3.0, "stated ratio": 8.0},  # atoms sleep on unseen outputs
}
READ_COORDINATES, MOST_COORDINATES = 4, 128  # coordinates of a vector read alone, and in a direction
MOST_COUNTED_ATOMS = 100_000  # bounds memory
TABLE_GROWTH, DIRECTION_GROWTH = 1.03, 1.05  # growth after which cells are tabulated, and the direction computed, again
LARGEST_RATIO, LARGEST_STATED_RATIO = 8.0, 30.0  # absolute log-likelihood ratios are cut here
LARGEST_OUTPUT, LARGEST_COORDINATE = 1e150, 1e100  # larger numbers are cut; differences of two stay finite
FARTHEST_OUTPUT, FARTHEST_COORDINATE = 1e6, 8.0  # largest standardized value: a wild one must not set the direction
DIRECTION_NEEDS = 40  # outputs by which coordinates are centered and scaled, before the first prediction
RIDGE = 0.1  # added to the variances within the sides
REFIT_GROWTH, LAST_REFIT = 1.06, 5000  # growth of the outputs at which the scale follows; outputs until it does
FINEST_CELLS = 2**9
WINSOR = 8.0  # deviations are cut at this many median deviations: one wild output must not set the scale
SHIFTS = (0.15, 0.3, 0.5, 0.7, 0.9, 1.15, 1.5, 2.0, 2.8, 4.0, 8.0)  # in mean absolute deviations
RATIOS = (0.2, 0.4, 0.65, 0.95, 1.4, 2.0, 3.0)  # logarithms of ratios of scales
KIND_WEIGHTS = (0.05, 0.4, 0.35)  # of no difference, a shift, another scale
EARLY_DOUBT = 5.0  # after this many steps half of the log-odds are used: experts do not know yet how little they saw
NAMED_SHARE = 0.01  # share of the mixture from which an expert is named
POSTERIOR_MARGIN = 1e-9  # posteriors stay this far from 0 and 1, so that no single output costs all the wealth
RETURNING_SHARE = 0.1  # share of weight that returns to the prior, divided by the number of outputs so far

Score = Callable[[Outputs], np.ndarray]
Line = Callable[[np.ndarray], np.ndarray]


class Learner:
    """Experts on columns read from the outputs, whose layout the first outputs decide.

    The experts' predictions are mixed into one posterior, which is drawn toward one half while they saw little. Weights
    follow the likelihood of the predictions. A little weight keeps returning to the prior, so that a slow expert can
    take over.
    """

    def __init__(self, first: Outputs, score: Score | None) -> None:
        self._readers = _readers(first, score)
        self._experts = _experts(list(self._readers), first, score)
        self._names = ["no opinion", *(name for _, expert in self._experts for name in expert.names)]
        weights = np.array([EXPERT_WEIGHTS["no opinion"], *(w for _, expert in self._experts for w in expert.weights)])
        self._prior = weights / weights.sum()
        self._weights, self._awake = self._prior.copy(), np.zeros(len(weights))
        self._steps = 0

    def predict_and_learn(self, left: Outputs, right: Outputs) -> tuple[np.ndarray, np.ndarray]:
        """Return posteriors at the outputs of either side, given earlier batches only; then learn from these."""
        columns = {name: np.concatenate([read(left), read(right)]) for name, read in self._readers.items()}
        sides = np.arange(len(left) + len(right)) < len(left)
        even = np.full((1, len(sides)), 0.5)  # the mark that the others must beat before the bets grow
        predictions = np.vstack([even, *(expert.predict(columns[name]) for name, expert in self._experts)])
        mixed = self._mix(predictions)
        posterior = special.expit(special.logit(mixed) * self._steps / (self._steps + EARLY_DOUBT))
        self._weigh(predictions, mixed, sides)
        self._steps += len(left)
        for name, expert in self._experts:
            expert.learn(columns[name], sides)
        return posterior[: len(left)], posterior[len(left) :]

    def describe(self, most: int = 3) -> str:
        """Return the experts that weigh most at the end, those asleep on most outputs accordingly less."""
        active = self._weights * self._awake
        shares = active / max(active.sum(), 1e-300)
        order = [i for i in np.argsort(-shares)[:most] if shares[i] >= NAMED_SHARE]
        return ", ".join(f"{self._names[i]} ({shares[i]:.2f})" for i in order)

    def _mix(self, predictions: np.ndarray) -> np.ndarray:
        """Return the mixed probability of "left", shape (n,), from predictions of shape (K, n), NaN where asleep."""
        awake = ~np.isnan(predictions)
        mixed = self._weights @ np.where(awake, predictions, 0.0) / (self._weights @ awake)
        return np.clip(mixed, POSTERIOR_MARGIN, 1 - POSTERIOR_MARGIN)

    def _weigh(self, predictions: np.ndarray, mixed: np.ndarray, left: np.ndarray) -> None:
        """Multiply the weights by the likelihood of the sides that came; one that is asleep keeps its weight."""
        awake = ~np.isnan(predictions)
        own = np.where(left, predictions, 1 - predictions)
        ours = np.where(left, mixed, 1 - mixed)
        gains = np.log(np.maximum(np.where(awake, own, 1.0), 1e-12)) - np.where(awake, np.log(ours), 0.0)
        posterior = special.softmax(np.log(self._weights) + gains.sum(axis=1))
        self._awake += awake.sum(axis=1)
        back = min(0.5, RETURNING_SHARE * len(left) / (2 * self._steps + len(left) + 10))
        self._weights = (1 - back) * posterior + back * self._prior


def _experts(columns: list[str], first: Outputs, score: Score | None) -> list[tuple[str, Expert]]:
    """Return the experts, each with the name of the column that it reads."""
    lines = columns[: columns.index("atoms")]
    experts: list[tuple[str, Expert]] = [(name, LineExperts(name, 1 / len(lines), every=not name)) for name in lines]
    experts += [("atoms", AtomExpert("repeated outputs")), ("kinds", AtomExpert("kinds of symbols"))]
    if not first.is_scalar and first.numbers.shape[1]:
        experts += [("vectors", LinearExpert())]
    if score is not None:
        experts += [("ratios", StatedExpert()), ("ratios", LineExperts("the stated ratio", 1.0, every=True))]
    return experts


def _readers(first: Outputs, score: Score | None) -> dict[str, Callable[[Outputs], np.ndarray]]:
    """Return how each column is read from outputs; the columns of numbers come first."""
    numbers: dict[str, Callable[[np.ndarray], np.ndarray]] = {"": lambda x: x}
    width = 0 if first.is_scalar else first.numbers.shape[1]
    if not first.is_scalar:
        numbers = {
            "the sum": lambda x: x.sum(axis=1),
            "the norm": lambda x: np.sqrt(np.square(x).sum(axis=1)),
            "the maximum": lambda x: x.max(axis=1, initial=-np.inf),
        }
        for i in range(min(width, READ_COORDINATES)):
            numbers[f"coordinate {i}"] = itemgetter((slice(None), i))
    readers: dict[str, Callable[[Outputs], np.ndarray]] = {
        name: partial(_numbers, read, ()) for name, read in numbers.items()
    }
    readers |= {"atoms": Outputs.keys, "kinds": _kinds}
    if width:
        readers["vectors"] = partial(_numbers, lambda x: x, (width,))
    if score is not None:
        readers["ratios"] = partial(_read_ratios, score)
    return readers


def _numbers(read: Callable[[np.ndarray], np.ndarray], width: tuple[int, ...], outputs: Outputs) -> np.ndarray:
    """Return what is read, or nothing but NaN if the outputs have changed their shape."""
    shape = (len(outputs), *width)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            column = np.asarray(read(outputs.numbers), dtype=float)
    except (IndexError, ValueError):
        return np.full(shape, np.nan)
    return column if column.shape == shape else np.full(shape, np.nan)


def _read_ratios(score: Score, outputs: Outputs) -> np.ndarray:
    ratios = np.asarray(score(outputs), dtype=float)
    return np.where(outputs.symbolic, np.nan, np.clip(ratios, -LARGEST_STATED_RATIO, LARGEST_STATED_RATIO))


def _kinds(outputs: Outputs) -> np.ndarray:
    """Return the kind of each symbol ("str", "raised ValueError", ...); numbers are of kind "number"."""
    kinds = np.full(len(outputs), "number", dtype=object)
    if outputs.symbols is not None:
        for row in np.flatnonzero(outputs.symbolic):
            kinds[row] = (outputs.symbols.at(int(row)) or "").split(":")[0]
    return kinds


class Expert(ABC):
    """One way to predict from a column of values; it may hold several predictions."""

    names: tuple[str, ...]

    @property
    def weights(self) -> list[float]:
        """Prior weights of the predictions."""
        return [EXPERT_WEIGHTS[name] for name in self.names]

    @abstractmethod
    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return probabilities of "left", shape (len(names), n); NaN where the expert is asleep."""

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:  # noqa: B027
        """Learn from further values; `left` is True where the output came from the left."""


class StatedExpert(Expert):
    """Trust the stated log-likelihood ratio."""

    names = ("stated ratio",)

    def predict(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(special.expit(values))[None]


class AtomExpert(Expert):
    """Count outputs that repeat; asleep on new outputs."""

    def __init__(self, name: str) -> None:
        self.names = (name,)
        self._counts: dict[int, list[int]] = {}

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        for key, side in zip(values.tolist(), left.tolist(), strict=True):
            if key in self._counts or len(self._counts) < MOST_COUNTED_ATOMS:
                self._counts.setdefault(key, [0, 0])[0 if side else 1] += 1

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the estimates of Krichevsky and Trofimov, from counts with half a pseudo-count for each side."""
        seen = [self._counts.get(key) for key in values.tolist()]
        return np.array([np.nan if c is None else (c[0] + 0.5) / (c[0] + c[1] + 1.0) for c in seen])[None]


class LinearExpert(Expert):
    """Fisher's discriminant: the log-odds of two normal laws with one covariance, shrunk while outputs are few."""

    names = ("a learned direction",)

    def __init__(self) -> None:
        self._first: list[tuple[np.ndarray, np.ndarray]] = []
        self._seen, self._directed = 0, 0
        self._center: np.ndarray | None = None

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        rows = ~np.isnan(values).any(axis=1)
        values, left = values[rows, :MOST_COORDINATES], left[rows]
        self._seen += len(values)
        if self._center is None:
            self._first.append((values, left))
            if self._seen < DIRECTION_NEEDS:
                return
            values, left = (np.concatenate(part) for part in zip(*self._first, strict=True))
            self._first.clear()
            self._start(values)
        known = self._standardize(values)
        self._counts += [left.sum(), (~left).sum()]
        self._sums += [known[left].sum(axis=0), known[~left].sum(axis=0)]
        self._squares += known.T @ known
        if self._seen > DIRECTION_GROWTH * self._directed:
            self._direct()

    def predict(self, values: np.ndarray) -> np.ndarray:
        found = np.full(len(values), np.nan)
        if self._center is not None:
            rows = ~np.isnan(values).any(axis=1)
            odds = (self._standardize(values[rows, :MOST_COORDINATES]) - self._middle) @ self._direction
            found[rows] = special.expit(np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO))
        return found[None]

    def _start(self, values: np.ndarray) -> None:
        """Fix the centers and scales of the coordinates by the first outputs."""
        near = np.clip(values, -LARGEST_COORDINATE, LARGEST_COORDINATE)
        self._center = np.median(near, axis=0)
        spread = np.mean(np.abs(near - self._center), axis=0)
        self._spread = np.where(spread > 1 / LARGEST_COORDINATE, spread, 1.0)
        width = len(self._center)
        self._counts = np.zeros(2)
        self._sums, self._squares = np.zeros((2, width)), np.zeros((width, width))

    def _standardize(self, values: np.ndarray) -> np.ndarray:
        near = np.clip(values, -LARGEST_COORDINATE, LARGEST_COORDINATE)
        return np.clip((near - self._center) / self._spread, -FARTHEST_COORDINATE, FARTHEST_COORDINATE)

    def _direct(self) -> None:
        """Compute the direction and the middle from the sums so far."""
        total, width = self._counts.sum(), len(self._squares)
        means = self._sums / np.maximum(self._counts, 1)[:, None]
        within = self._squares / total - means.T @ (means * (self._counts / total)[:, None])
        toward = np.linalg.solve(within + RIDGE * np.eye(width), means[0] - means[1])
        self._direction = toward * total / (total + 8 * width)
        self._middle = means.mean(axis=0)
        self._directed = self._seen


class LineExperts(Expert):
    """The experts on one column, fitted again to all the past whenever its center and scale move.

    `column` is empty if it is the only one; `share` is its weight among the columns. Use `every` family, or the one
    that finds most.
    """

    def __init__(self, column: str, share: float, every: bool) -> None:
        self._families = families()[: None if every else 1]
        self._experts = self._afresh()
        self.names = tuple(f"{n} on {column}" if column else n for expert in self._experts for n in expert.names)
        self._share = share
        self._scale: Line | None = None
        self._values, self._left = np.empty(0), np.empty(0, dtype=bool)
        self._seen, self._refit_at = 0, 0

    @property
    def weights(self) -> list[float]:
        return [self._share * weight for expert in self._experts for weight in expert.weights]

    def predict(self, values: np.ndarray) -> np.ndarray:
        if self._scale is None:
            return np.full((len(self.names), len(values)), np.nan)
        scaled = self._scale(values)
        return np.vstack([expert.predict(scaled) for expert in self._experts])

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        self._seen += len(values)
        if self._seen <= LAST_REFIT:
            self._values, self._left = np.append(self._values, values), np.append(self._left, left)
            if self._seen >= self._refit_at or self._scale is None:
                values, left = self._values, self._left
                self._scale = scale_of(values)
                self._experts = self._afresh()
                self._refit_at = int(self._seen * REFIT_GROWTH)
        if self._scale is not None:
            scaled = self._scale(values)
            for expert in self._experts:
                expert.learn(scaled, left)

    def _afresh(self) -> list[Expert]:
        return [*map(FamilyExpert, self._families), CellExpert()]


def scale_of(values: np.ndarray) -> Line | None:
    """Return x -> (x - median) / mean absolute deviation; None unless `values` hold two different numbers."""
    past = np.clip(values[~np.isnan(values)], -LARGEST_OUTPUT, LARGEST_OUTPUT)
    if len(past) < 2:
        return None
    center = float(np.median(past))
    deviations = np.abs(past - center)
    middle = float(np.median(deviations))
    spread = float(np.mean(np.minimum(deviations, WINSOR * middle) if middle > 0 else deviations))
    if spread == 0:
        return None

    def standardize(x: np.ndarray) -> np.ndarray:
        near = np.clip(x, -LARGEST_OUTPUT, LARGEST_OUTPUT)
        scaled = (near - center) / max(spread, 1 / LARGEST_OUTPUT)
        return np.clip(scaled, -FARTHEST_OUTPUT, FARTHEST_OUTPUT)

    return standardize


@dataclass(frozen=True)
class Family:
    """A finite set of functions u -> log P(u) / Q(u) with prior weights; `ratios` maps shape (n,) to (K, n)."""

    name: str
    log_prior: np.ndarray
    ratios: Line


class FamilyExpert(Expert):
    """The Bayesian posterior mean over a family."""

    def __init__(self, family: Family) -> None:
        self.names = (family.name,)
        self._family = family
        self._log_weights = family.log_prior

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        signs = np.where(left[seen], 1.0, -1.0)
        ratios = self._family.ratios(values[seen])
        self._log_weights = self._log_weights - np.log1p(np.exp(-signs * ratios)).sum(axis=1)

    def predict(self, values: np.ndarray) -> np.ndarray:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(weights / weights.sum() @ (1 / (1 + np.exp(-self._family.ratios(values)))))[None]


@cache
def families() -> tuple[Family, ...]:
    return (
        _location_scale("Laplace", lambda x: -np.abs(x), _laplace_deviation),
        _location_scale("Gaussian", lambda x: -0.5 * np.square(x), _gaussian_deviation),
    )


def _location_scale(name: str, log_density: Line, deviation: Callable[[float, float], float]) -> Family:
    """Put left at +d/2 with scale e^(r/2), right at -d/2 with e^(-r/2), in units of their mean absolute deviation.

    One of d and r is 0: a shift together with a change of scale is told as soon by the greater of the two.
    """
    shifts, ratios = (sorted(sign * size for size in sizes for sign in (1, -1)) for sizes in (SHIFTS, RATIOS))
    grid = np.array([(0.0, 0.0), *product(shifts, (0.0,)), *product((0.0,), ratios)])
    d, r = grid[:, :1], grid[:, 1:]
    wide, narrow = np.exp(r / 2), np.exp(-r / 2)
    scales = zip(d.flat, wide.flat, narrow.flat, strict=True)
    unit = np.array([[(deviation(shift, a) + deviation(shift, b)) / 2] for shift, a, b in scales])

    def log_ratios(u: np.ndarray) -> np.ndarray:
        x = u * unit
        found = log_density((x - d / 2) / wide) - log_density((x + d / 2) / narrow) - r
        return np.clip(found, -LARGEST_RATIO, LARGEST_RATIO)

    kind = (grid[:, 0] != 0) * 1 + (grid[:, 1] != 0) * 2
    usual = np.exp(-0.5 * np.abs(grid[:, 1]))  # smaller changes of scale are likelier
    prior = np.array(KIND_WEIGHTS)[kind] * usual / np.bincount(kind, weights=usual)[kind]
    return Family(name, np.log(prior), log_ratios)


def _laplace_deviation(shift: float, scale: float) -> float:
    """Return E|X| of a Laplace variable at shift/2: |m| + s exp(-|m| / s)."""
    m = abs(shift) / 2
    return m + scale * math.exp(-m / scale)


def _gaussian_deviation(shift: float, scale: float) -> float:
    """Return E|X| of a Gaussian variable at shift/2, the mean of a folded normal."""
    m = abs(shift) / 2
    spread = scale * math.sqrt(2 / math.pi) * math.exp(-((m / scale) ** 2) / 2)
    return spread + m * (1 - 2 * float(special.ndtr(-m / scale)))


class CellExpert(Expert):
    """Count in cells of the line; the sizes of the cells are learned."""

    names = ("cells",)

    def __init__(self) -> None:
        self._counts = np.zeros((2, FINEST_CELLS))
        self._table = np.full(FINEST_CELLS, 0.5)
        self._seen, self._tabled = 0, 0

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        side = np.where(left[seen], 0, FINEST_CELLS)
        found = np.bincount(side + self._cell(values[seen]), minlength=self._counts.size)
        self._counts += found.reshape(self._counts.shape)
        self._seen += int(seen.sum())

    def predict(self, values: np.ndarray) -> np.ndarray:
        if self._seen > TABLE_GROWTH * self._tabled:
            self._table = tree_predictions(self._counts)
            self._tabled = self._seen
        seen = ~np.isnan(values)
        found = np.full((1, len(values)), np.nan)
        found[:, seen] = self._table[self._cell(values[seen])]
        return found

    @staticmethod
    def _cell(values: np.ndarray) -> np.ndarray:
        place = (1 + values / (1 + np.abs(values))) / 2
        return np.minimum((place * FINEST_CELLS).astype(np.int64), FINEST_CELLS - 1)


def tree_predictions(counts: np.ndarray) -> np.ndarray:
    """Return the probability of "left" for the next output in each of the finest cells, 2^depth of them.

    A tree cuts the line into cells of different sizes. In each cell outputs come from the left with one unknown
    probability, or with one half. One pass averages over all trees, weighted by how well they predicted past sides: an
    event that fills a few cells costs a few bits to find, whatever happens in the rest of the line. `counts` are past
    outputs from the left and from the right in each of the finest cells. The weighting by a recursion from the leaves
    is that of Willems, Shtarkov & Tjalkens 1995, "The context-tree weighting method: basic properties".
    """
    levels = [counts]
    while levels[-1].shape[1] > 1:
        levels.append(levels[-1][:, ::2] + levels[-1][:, 1::2])
    ends = np.cumsum([level.shape[1] for level in levels])[:-1]
    own, told = (np.split(part, ends) for part in _uncut(np.concatenate(levels, axis=1)))
    weighted, cut = own[0], [np.zeros(counts.shape[1])]  # posterior probability that a cell is cut in two
    for whole in own[1:]:
        apart = weighted[::2] + weighted[1::2]
        weighted = np.logaddexp(whole, apart) + math.log(0.5)
        cut.append(np.exp(apart + math.log(0.5) - weighted))
    reach, found = np.ones(1), np.zeros(1)  # the probability that the path to a cell goes on, and the mean so far
    for prediction, share in zip(told[:0:-1], cut[:0:-1], strict=True):
        found = np.repeat(found + reach * (1 - share) * prediction, 2)
        reach = np.repeat(reach * share, 2)
    return np.asarray(found + reach * told[0])


def _uncut(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probability of the sides seen in cells that are not cut, and their probability of "left"."""
    left, right = counts
    total = left + right
    even = math.log(0.75) - total * math.log(2)
    uneven = math.log(0.25) + special.betaln(left + 0.5, right + 0.5) - math.log(math.pi)  # B(1/2, 1/2) = pi
    both = np.logaddexp(even, uneven)
    share = np.exp(uneven - both)
    return both, 0.5 + share * ((left + 0.5) / (total + 1.0) - 0.5)
