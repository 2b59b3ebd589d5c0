"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`bit_scorers` compete where floating point is audited (`floats="audit"` and the precision audit), and guess the two
exact answers and the scale of the noise. All only choose events, which the guess game certifies: a wrong guess costs
power, never validity.

A round trip (x - c) + c != x shows that x is not fl(c + noise), whatever the noise. The event needs the two exact
answers and nothing else, and refutes every mechanism that adds double-precision noise to a double, however fine the
noise (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha & Hay 2022).

The inverse-CDF Laplace sampler of numpy's `Generator.laplace` gives few doubles, x = fl(c + scale * log(u)) for a
uniform u on the 2^-53 grid. The two answers give different ones, so most outputs identify their dataset (Mironov 2012,
section 4.1). The scale is guessed from the outputs and the claim.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from audit.api import Outputs, scorers

# Scorers of bits: tuned by `tests/extensions/precision`, `benchmarks.overhead`
MOST_STEPS, MOST_LABELS, MOST_RECORDS = 2, 64, 2_000_000  # integers by the median, labels, records read for guesses
OWN_ROUND_TRIPS, MOST_ROUND_TRIPS = 0.99, 4  # share of its own outputs that a true answer reaches (ties may fail)
OWN_REACHED, MOST_SCALES = 0.98, 2  # the same for a true scale; guesses proposed
PROBED_OUTPUTS, MOST_ANSWERS = 100, 40  # outputs per dataset on which a scale is tried; answers tried

_STEP = 2.0**-53
_libm_log = np.frompyfunc(math.log, 1, 1)  # numpy's own vectorized logarithm may differ from the C library's by one ulp


@dataclass(frozen=True)
class AnswerPair:
    """Hold the possible answers of the query on either dataset."""

    left: np.ndarray  # guessed exact answers; shape () or (d,)
    right: np.ndarray
    origin: str  # where the guess comes from; shown in the event

    @property
    def gap(self) -> float:  # largest change of a coordinate
        return float(np.max(np.abs(self.left - self.right)))


STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "the data": lambda data: data,
    "sum": lambda data: data.sum(axis=0),
    "mean": lambda data: data.mean(axis=0),
    "number of records": lambda data: len(data) if data.ndim else 1,
    "count above zero": lambda data: np.count_nonzero(data > 0),
    "count not zero": lambda data: np.count_nonzero(data),
    "maximum": lambda data: data.max(axis=0),
    "minimum": lambda data: data.min(axis=0),
    "median": lambda data: np.median(data, axis=0),
}


def guess_answers(training: scorers.Training) -> list[AnswerPair]:
    """Return distinct guesses that differ between the sides and have the shape of an output; a known query first."""
    shape = training.left.numbers.shape[1:]
    if shape != training.right.numbers.shape[1:]:
        return []
    found: dict[bytes, AnswerPair] = {}
    query = getattr(training.mechanism, "query", None)
    guesses = [*_answer("the mechanism's query", query, *training.pair)] if callable(query) else []
    guesses += _statistics(training.pair)
    guesses.append(AnswerPair(np.array(0.0), np.array(1.0), "0 and 1"))
    guesses.append(AnswerPair(np.array(1.0), np.array(0.0), "1 and 0"))
    for guess in (*guesses, *_whole(training, shape)):
        fits = guess.left.shape == guess.right.shape and guess.left.shape in ((), shape)
        both = np.concatenate([guess.left.ravel(), guess.right.ravel()])
        if fits and np.isfinite(both).all() and guess.gap > 0:
            found.setdefault(both.tobytes(), guess)
    return list(found.values())


def survives_round_trip(values: np.ndarray, constant: np.ndarray | float) -> np.ndarray:
    """Return whether (x - c) + c == x: if fl(c + n) = x for any n, then for that nearest to x - c, up to ties."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((values - constant) + constant == values)


def print_answer(answer: np.ndarray) -> str:
    """Return an answer in words: a number, or the first entries of a vector."""
    if answer.ndim == 0:
        return f"{float(answer):.17g}"
    return "(" + ", ".join(f"{c:.6g}" for c in answer[:4]) + (", ...)" if len(answer) > 4 else ")")


def _answer(name: str, function: Callable[..., Any], left: Any, right: Any) -> Iterator[AnswerPair]:
    """Yield the guess that a function of the dataset makes; none when it raises or answers without numbers."""
    try:
        values = [np.asarray(function(side), dtype=float) for side in (left, right)]
    except Exception:  # a guess may fail on any dataset
        return
    yield AnswerPair(values[0], values[1], name)


def _statistics(pair: tuple[Any, Any]) -> Iterator[AnswerPair]:
    for left, right in zip(*map(_views, pair), strict=False):
        for name, statistic in STATISTICS.items():
            yield from _answer(name, statistic, left, right)
        if left.ndim != 1 or right.ndim != 1:
            continue
        labels = np.unique(np.concatenate([left, right]))
        if len(labels) <= MOST_LABELS:
            counts = [(labels[:, None] == side[None, :]).sum(axis=1).astype(float) for side in (left, right)]
            yield AnswerPair(counts[0], counts[1], "counts of each value")


def _views(dataset: Any) -> list[np.ndarray]:
    """Return the numeric arrays in a dataset: itself, or the parts of a labeled one."""
    parts = [dataset.y, dataset.X] if hasattr(dataset, "X") and hasattr(dataset, "y") else [dataset]
    arrays = []
    for part in parts:
        try:
            array = np.asarray(part, dtype=float)
        except (ValueError, TypeError):
            continue
        if array.ndim == 0 or 0 < array.size <= MOST_RECORDS:
            arrays.append(array)
    return arrays


def _whole(training: scorers.Training, shape: tuple[int, ...]) -> Iterator[AnswerPair]:
    """Yield whole numbers near the medians; for a vector, the nearest ones."""
    sides = [side.numbers.reshape(len(side), -1) for side in training.sides]
    if any(np.isnan(side).all(axis=0).any() or not len(side) for side in sides):
        return
    centers = [np.rint(np.nanmedian(side, axis=0)).reshape(shape) + 0.0 for side in sides]
    steps = range(-MOST_STEPS, MOST_STEPS + 1) if shape == () else (0,)
    for a, b in product(steps, steps):
        yield AnswerPair(np.asarray(centers[0] + a), np.asarray(centers[1] + b), "whole numbers near the medians")


@dataclass(frozen=True)
class ReachScore(scorers.Score):
    """40 for each coordinate that only the left answer reaches, -40 for each that only the right one does."""

    answers: AnswerPair
    calibrated: bool = field(kw_only=True)

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = outputs.numbers.reshape(len(outputs), -1)
        left, right = (self.find_reachable(numbers, answer) for answer in (self.answers.left, self.answers.right))
        score = scorers.CERTAIN * (left.sum(axis=1) - right.sum(axis=1, dtype=float))
        return np.where(outputs.symbolic, np.nan, score)

    def shares(self, sides: Sequence[np.ndarray], answers: Sequence[np.ndarray]) -> list[float]:
        return [float(self.find_reachable(x, c).mean()) for x, c in zip(sides, answers, strict=True)]

    def rates(self, sides: Sequence[np.ndarray]) -> tuple[float, float]:
        """Return the share of coordinates that their own answer reaches (the least), and that the other does not."""
        left, right = self.answers.left, self.answers.right
        return min(self.shares(sides, (left, right))), 2.0 - sum(self.shares(sides, (right, left)))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = print_answer(self.answers.left), print_answer(self.answers.right)
        return self.event(left, right, upper / scorers.CERTAIN), self.event(right, left, -lower / scorers.CERTAIN)

    @abstractmethod
    def find_reachable(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Return which coordinates the answer reaches; shape (size, d)."""

    @abstractmethod
    def event(self, reached: str, other: str, more: float) -> str:
        """Say that one answer reaches `more` coordinates more than the other one."""


@dataclass(frozen=True)
class RoundTripScore(ReachScore):
    """Reached means that some double n gives x = fl(c + n)."""

    name = "round trips"

    def find_reachable(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        return survives_round_trip(numbers, np.atleast_1d(answer))

    def event(self, reached: str, other: str, more: float) -> str:
        said = f"fl({reached} + n), and not fl({other} + n), for a double n (answers: {self.answers.origin})"
        return f"in {more:g} coordinates more the output is {said}"


@dataclass(frozen=True)
class RoundTrips(scorers.Scorer):
    """Propose the guesses of the exact answers that their own outputs do not contradict, most informative first."""

    learned = False

    def propose(self, training: scorers.Training) -> Sequence[scorers.Score]:
        sides = scorers.numeric_columns(training)
        if sides is None:
            return []
        rated = []
        for answers in guess_answers(training):
            score = RoundTripScore(answers, calibrated=False)
            own, told = score.rates(sides)
            if own >= OWN_ROUND_TRIPS and told > 0:
                rated.append((told, replace(score, calibrated=own == 1.0)))
        rated.sort(key=lambda part: -part[0])
        return [score for _, score in rated[:MOST_ROUND_TRIPS]]


@dataclass(frozen=True)
class InverseCdfScore(ReachScore):
    """Reached means that numpy's Laplace sampler of this scale can give x."""

    scale: float
    name = "inverse-CDF reachability"

    def find_reachable(self, numbers: np.ndarray, answer: np.ndarray) -> np.ndarray:
        constants = np.broadcast_to(answer, numbers.shape[1:])
        return np.stack([reachable(numbers[:, i], float(c), self.scale) for i, c in enumerate(constants)], axis=1)

    def event(self, reached: str, other: str, more: float) -> str:
        form = f"c + {self.scale:.17g} log u for a 53-bit u"
        return f"{form} gives the output from c = {reached}, not from {other}, in {more:g} coordinates more"


@dataclass(frozen=True)
class InverseCdf(scorers.Scorer):
    """Propose the guesses of answers and scale under which the sampler gives (nearly) every training output."""

    epsilon: float
    learned = False

    def propose(self, training: scorers.Training) -> Sequence[scorers.Score]:
        sides = scorers.numeric_columns(training)
        if sides is None:
            return []
        probes = [side[:PROBED_OUTPUTS] for side in sides]
        found: list[tuple[float, float, scorers.Score]] = []
        for answers in guess_answers(training)[:MOST_ANSWERS]:
            for scale in candidate_scales(sides, answers, self.epsilon):
                score = InverseCdfScore(answers, scale, calibrated=False)
                if min(score.shares(probes, (answers.left, answers.right))) >= OWN_REACHED:
                    share, told = score.rates(sides)
                    found.append((share, told, replace(score, calibrated=share == 1.0)))
        found.sort(key=lambda part: (-part[0], -part[1]))
        best = found[:MOST_SCALES]
        return [score for share, told, score in best if share >= OWN_REACHED and told > 0]


def reachable(values: np.ndarray, constant: float, scale: float) -> np.ndarray:
    """Return whether numpy's Laplace sampler can give each value; shape as `values`."""
    distance = (values - constant) / scale
    half = np.exp(-np.abs(distance)) / 2
    center = np.where(distance > 0, 1 - half, np.rint(half / _STEP) * _STEP)
    found = np.zeros(values.shape, dtype=bool)
    for step in (-1, 0, 1):  # rounding may put the inverse one step off
        u = np.nan_to_num(np.clip(center + step * _STEP, _STEP, 1 - _STEP), nan=0.5)
        logs = np.asarray(_libm_log(np.where(u >= 0.5, 2.0 - u - u, u + u)), dtype=float)
        found |= np.where(u >= 0.5, constant - scale * logs, constant + scale * logs) == values
    return found


def candidate_scales(sides: Sequence[np.ndarray], answers: AnswerPair, epsilon: float) -> list[float]:
    """Return the scales within four standard errors of the outputs' mean distance from the guessed answers."""
    both = zip(sides, (answers.left, answers.right), strict=True)
    distances = np.concatenate([np.abs(x - c).ravel() for x, c in both])
    distances = distances[np.isfinite(distances)]
    mean = float(np.mean(distances)) if len(distances) else 0.0
    if not 0 < mean < math.inf:
        return []
    guesses = [*_round_numbers(mean), *(1 / r for r in _round_numbers(1 / mean))]
    if epsilon > 0:
        steps = {answers.gap, float(np.sum(np.abs(np.atleast_1d(answers.left - answers.right)))), 1.0, 2.0}
        guesses += [step / epsilon for step in steps]
    margin = 4 * mean / math.sqrt(len(distances))
    return sorted({scale for scale in guesses if abs(scale - mean) <= margin})


def _round_numbers(near: float) -> list[float]:
    """Return the numbers of two significant digits within a factor of 1.3."""
    power = math.floor(math.log10(near))
    numbers = (float(f"{digits}e{power - 1}") for digits in range(10, 131))
    return [number for number in numbers if near / 1.3 <= number <= near * 1.3]


def low_bytes(values: np.ndarray) -> np.ndarray:
    """Return the last eight bits of the significand, 0..255."""
    return (np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) & np.uint64(255)).astype(np.int64)


BitFeature = Callable[[np.ndarray], np.ndarray]  # from numbers, shape (size,), to codes: integers


@dataclass(frozen=True)
class TableScore(scorers.Score):
    """Sum over some coordinates of the log-ratio of a code of the number there; 0 for codes not seen in training."""

    parts: tuple[tuple[int, BitFeature, scorers.RatioTable], ...]
    name: str

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = outputs.numbers.reshape(len(outputs), -1)
        if numbers.shape[1] <= max(index for index, _, _ in self.parts):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(feature(numbers[:, index])) for index, feature, table in self.parts], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.parts) > 1:
            return super().describe(upper, lower)
        ratios = self.parts[0][2].ratios
        return self._list_keys(ratios >= upper), self._list_keys(ratios <= lower)

    def meaning(self) -> str:
        return f"sum over coordinates of the log-ratios of the {self.name}"

    def _list_keys(self, chosen: np.ndarray, most: int = 8) -> str:
        index, _, table = self.parts[0]
        codes = table.keys[chosen]
        more = f" and {len(codes) - most} more" if len(codes) > most else ""
        return f"{self.name} of coordinate {index} in {{{', '.join(map(str, codes[:most].tolist()))}}}{more}"


@dataclass(frozen=True)
class BitPatterns(scorers.Scorer):
    """Propose one feature of the bits: of the most informative coordinate alone, and of all together."""

    name: str
    feature: BitFeature

    def propose(self, training: scorers.Training) -> Sequence[TableScore]:
        sides = scorers.numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return []
        parts, strengths = [], []
        for index in range(sides[0].shape[1]):
            left, right = (self.feature(side[:, index]) for side in sides)
            table = scorers.RatioTable.fit(left, right)
            parts.append((index, self.feature, table))
            strengths.append(float(table(left).mean() - table(right).mean()))
        alone = TableScore((parts[int(np.argmax(strengths))],), self.name)
        return [alone] if len(parts) == 1 else [alone, TableScore(tuple(parts), self.name)]


def bit_scorers(epsilon: float) -> tuple[scorers.Scorer, ...]:
    """Return the scorers of the precision audit; `epsilon` of the claim helps to guess the scale of the noise."""
    return (
        BitPatterns("low-order byte", low_bytes),
        RoundTrips(),
        InverseCdf(epsilon),
    )
