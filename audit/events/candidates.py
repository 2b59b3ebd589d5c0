"""Choose the events of the guess game: scores compete on training outputs for the largest estimated bound.

The training outputs are split in two halves. Each scorer is fitted on either half, and thresholds are chosen on one
half, with a penalty for chance, and judged on the other: a naive choice loses on one half its gain on the other. Only
the score that wins is fitted on all outputs.

A score fitted as a log-likelihood ratio is usually too bold. One slope and one offset, fitted on outputs that the score
has not seen, calibrate it. If no bin of scores contradicts this line, the share of right guesses beyond a threshold
follows from all outputs rather than from the few beyond it.

The estimated bound of two thresholds is the one that the certifying runs would give if the frequencies seen were true,
less a penalty for training noise. Without the penalty, the best of many thresholds is the one that chance favors most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from scipy import special

from audit.execution.seeds import BLOCK
from audit.outputs.encode import OutputForm, Outputs, Reading, Repeats, by_column, concatenate, count_texts
from audit.scorers import SCORERS, SLOW_SCORERS, Score, Scorer, Training
from audit.scorers.base import STRUCTURED, distinct, fit_logistic, logistic, merge_in_order
from audit.scorers.counts import SHORT_TABLE, find_coarse
from audit.scorers.intervals import Excess
from audit.statistics.bounds import GameTest

# Thresholds on one score: tuned by `tests/core/events`, `benchmarks.overhead`
COARSE_GRID = (24, 40)  # fewest and most thresholds of each spacing: even ranks, and ranks spaced from either end
FINE_GRID = 12  # ranks tried on either side of a threshold that was chosen on the coarse grid

# The judgment of candidates: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
CHOICE_PENALTY_LEARNED = 3.0  # the same for learned scores: at equal estimates the simpler score is safer
LINE_BINS = 200  # of equal mass, in which the calibration line is fitted
LINE_CUTS = (0.001, 0.003, 0.01, 0.03, *np.linspace(0.1, 0.9, 9), 0.97, 0.99, 0.997, 0.999)  # of the test of fit
LINE_MISFIT = 0.001  # level of the test of fit
LINE_ERRORS = 3.0  # standard errors by which the slope must exceed 0

Sides = tuple[np.ndarray, np.ndarray]  # of left and of right outputs


@dataclass(frozen=True)
class Ranked:
    """Scores of left and of right outputs, sorted once: only their order is used, many times."""

    sides: Sides  # sorted; without the NaN of outputs that abstain
    sizes: tuple[int, int]  # how many outputs there were on each side
    # Counts near pairs of the coarse grid, by the index of the pair: penalties often choose the same
    fine: dict[int, Tails] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> Ranked:
        """Sort the scores of both sides, unless they were sorted, as single numbers are; NaN abstains."""
        ordered = [side if np.all(side[1:] >= side[:-1]) else np.sort(side) for side in (left, right)]
        first, second = (side[: np.searchsorted(side, np.nan)] for side in ordered)  # NaN comes last
        return cls((first, second), (len(left), len(right)))

    @property
    def total(self) -> int:
        return sum(self.sizes)

    @cached_property
    def distinct(self) -> int:  # different scores of the left outputs
        return len(distinct(self.sides[0]))

    @cached_property
    def pooled(self) -> np.ndarray:  # sorted
        return merge_in_order(*self.sides)

    @cached_property
    def coarse(self) -> Tails:
        """Return the counts on the coarse grid; thresholds are chosen on it for one penalty after the other."""
        return Tails.count(coarse_grid(self.pooled), self)


@dataclass(frozen=True)
class Thresholds:
    """Guess "left" where score >= upper, "right" where score <= lower; NaN makes an event empty."""

    upper: float
    lower: float

    def move(self, source: np.ndarray, target: np.ndarray) -> Thresholds:
        """Cut off the same shares of other sorted scores; a score fitted on fewer outputs is more spread out."""
        upper = self.upper if math.isnan(self.upper) else _cut(target, self._above(source, len(source)))
        lower = self.lower if math.isnan(self.lower) else -_cut(-target[::-1], self._below(source, len(source)))
        return self if upper <= lower else Thresholds(upper, lower)

    def frequencies(self, ranked: Ranked) -> tuple[float, float]:
        """Return the frequencies of a right and of a wrong guess in one run, for a fair coin."""
        plus = [self._above(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        minus = [self._below(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        return (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2

    def _above(self, ordered: np.ndarray, size: int) -> float:
        return float(len(ordered) - np.searchsorted(ordered, self.upper)) / max(1, size)  # NaN is above all

    def _below(self, ordered: np.ndarray, size: int) -> float:
        if math.isnan(self.lower):
            return 0.0
        return float(np.searchsorted(ordered, self.lower, "right")) / max(1, size)

    @property
    def used(self) -> int:  # events that are not empty
        return 2 - math.isnan(self.upper) - math.isnan(self.lower)


@dataclass(frozen=True)
class TestDesign:
    """Hold a claim, and the outputs and the level by which events are chosen and certified."""

    epsilon: float  # the claimed one: a bound above it is a refutation
    delta: float
    training: float  # outputs per dataset
    runs: int  # certifying runs, both datasets together
    level: float
    more: bool = False  # whether more outputs will train if chance decides which events look best on these
    __test__ = False  # pytest: not a class of tests

    @cached_property
    def critical(self) -> float:
        """Standard errors by which a test at this level must be exceeded, at least 0.5."""
        return max(float(-special.ndtri(self.level)), 0.5)

    @property
    def test(self) -> GameTest:
        """The test that certifies an event on one side."""
        return GameTest(self.epsilon, self.delta / 2, self.level)

    @property
    def excess(self) -> Excess:
        """The measure by which training outputs choose an interval."""
        return Excess(self.epsilon, self.delta, self.training)

    def estimated_bound(
        self, right_guess: np.ndarray, wrong_guess: np.ndarray, used: np.ndarray, penalty: float
    ) -> np.ndarray:
        """Estimate the bound of the certifying runs, less `penalty` standard errors of the training runs.

        It only ranks events, and certifies nothing. Solves C - t W - delta = k sqrt(C + t^2 W + t delta) for
        t = e^epsilon, with C and W the probabilities of a right and of a wrong guess in one run, and k the standard
        errors. W is raised by k^2 / 2 to keep empty counts finite.
        """
        delta, errors = self.delta * used / 2, self.standard_errors(penalty)
        c, w = right_guess, wrong_guess + errors**2 / 2
        excess = c - delta
        a = w * w - errors**2 * w
        b = 2 * w * excess + errors**2 * delta
        k = excess**2 - errors**2 * c
        root = np.sqrt(np.maximum(b * b - 4 * a * k, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = 2 * k / (b + root)  # the smaller root, in the form that survives a = 0
            bound = np.log(np.maximum(t, 1e-300))
        return np.where(excess > 0, bound, -np.inf)

    def standard_errors(self, penalty: float) -> float:
        """Return standard errors, of the test and of the penalty, in units of one run's standard deviation."""
        return self.critical / math.sqrt(self.runs) + penalty / math.sqrt(2 * self.training)


@dataclass(frozen=True)
class Tails:
    """Probabilities of {score >= threshold} and {score <= threshold} per side, for each threshold of a grid."""

    grid: np.ndarray
    at_least: Sequence[np.ndarray]
    at_most: Sequence[np.ndarray]

    @classmethod
    def count(cls, grid: np.ndarray, ranked: Ranked) -> Tails:
        pairs = list(zip(ranked.sides, ranked.sizes, strict=True))
        least = [(len(x) - np.searchsorted(x, grid, "left")) / max(n, 1) for x, n in pairs]
        most = [np.searchsorted(x, grid, "right") / max(n, 1) for x, n in pairs]
        return cls(grid, least, most)

    @classmethod
    def trust(cls, grid: np.ndarray, ranked: Ranked) -> Tails:
        """Let log-likelihood ratios say it themselves: each output came from the left with probability expit(ratio)."""
        ordered, total = ranked.pooled, ranked.total
        from_left = np.concatenate([[0.0], np.cumsum(logistic(ordered))]) * (2 / total)
        sums = [from_left, np.arange(len(ordered) + 1) * (2 / total) - from_left]
        below, upto = (np.searchsorted(ordered, grid, side) for side in ("left", "right"))
        return cls(grid, [s[-1] - s[below] for s in sums], [s[upto] for s in sums])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, ...]:
        """Return upper and lower indices of all pairs of events, and what `best` compares."""
        upper, lower, used = _list_pairs(len(self.grid))
        least, most = ([np.append(side, 0.0) for side in sides] for sides in (self.at_least, self.at_most))
        right_guess = (least[0][upper] + most[1][lower]) / 2
        wrong_guess = (least[1][upper] + most[0][lower]) / 2
        return upper, lower, right_guess, wrong_guess, used

    def best(self, design: TestDesign, penalty: float) -> int:
        """Return the index of the pair with the largest estimated bound."""
        _, _, right_guess, wrong_guess, used = self._pairs
        return int(np.argmax(design.estimated_bound(right_guess, wrong_guess, used, penalty)))

    def at(self, pair: int) -> Thresholds:
        upper, lower = (index[pair] for index in self._pairs[:2])
        return Thresholds(*(float(self.grid[i]) if i < len(self.grid) else math.nan for i in (upper, lower)))


@lru_cache(maxsize=32)
def _list_pairs(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return upper and lower indices of the disjoint events of `size` thresholds, not both empty; how many are used."""
    apart = np.tri(size + 1, k=-1, dtype=bool)
    apart[:-1, -1] = True  # the last one is that of the empty event
    upper, lower = np.nonzero(apart)
    return upper, lower, (upper < size).astype(float) + (lower < size)


def best_thresholds(ranked: Ranked, design: TestDesign, penalty: float, stated: bool = False) -> Thresholds:
    """Return the best thresholds on a coarse grid, then near them; `stated` scores are log-likelihood ratios."""
    tails = Tails.trust if stated else Tails.count
    coarse = tails(coarse_grid(ranked.pooled), ranked) if stated else ranked.coarse
    if not len(coarse.grid):
        return Thresholds(math.nan, math.nan)
    known = {} if stated else ranked.fine
    pair = coarse.best(design, penalty)
    if pair not in known:
        known[pair] = tails(_fine_grid(ranked.pooled, coarse.grid, coarse.at(pair)), ranked)
    return known[pair].at(known[pair].best(design, penalty))


def coarse_grid(ordered: np.ndarray) -> np.ndarray:
    """Pick candidate thresholds among sorted scores: all values when they are few."""
    n = len(ordered)
    size = int(np.clip(math.sqrt(n), *COARSE_GRID))
    values = distinct(ordered)
    if len(values) <= 2 * size:
        return values
    tails = np.geomspace(1, n, size).astype(int) - 1
    ranks = np.concatenate([tails, n - 1 - tails, np.linspace(0, n - 1, size).astype(int)])
    return np.unique(ordered[ranks])


def _fine_grid(ordered: np.ndarray, grid: np.ndarray, chosen: Thresholds) -> np.ndarray:
    """Pick values between the neighbors of the chosen thresholds on the coarse grid, and those thresholds."""
    ranks = []
    for value in (chosen.upper, chosen.lower):
        if not math.isnan(value):
            at = int(np.searchsorted(grid, value))
            low, high = np.searchsorted(ordered, grid[[max(0, at - 1), min(len(grid) - 1, at + 1)]])
            ranks.append(np.linspace(low, high, 2 * FINE_GRID + 1).astype(int))
            ranks.append(np.searchsorted(ordered, [value]))
    return np.unique(ordered[np.concatenate(ranks)]) if ranks else grid[:0]


def _cut(ordered: np.ndarray, share: float) -> float:
    """Return the value at or above which the share of `ordered` comes closest to `share`; ties are not divided."""
    wanted = (1 - share) * len(ordered)
    value = ordered[min(len(ordered) - 1, round(wanted))]
    first, beyond = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    exclude = beyond < len(ordered) and beyond - wanted < wanted - first
    return float(ordered[beyond] if exclude else value)


def mean_bound(design: TestDesign, seen: Sequence[tuple[float, float]], used: int, penalty: float) -> float:
    """Estimate the bound from frequencies of right and wrong guesses that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(design.estimated_bound(np.array(right), np.array(wrong), np.array(used), penalty))


@dataclass(frozen=True)
class CalibrationLine:
    """Calibrate a score: slope * score + offset is a log-likelihood ratio, or nearly so if the counts show a misfit."""

    slope: float
    offset: float
    misfit: bool = False

    @classmethod
    def through(cls, ranked: Ranked) -> CalibrationLine | None:
        """Fit to fresh scores of both sides; None when the line is flat."""
        pooled = ranked.pooled
        if not all(map(len, ranked.sides)) or not np.isfinite(pooled[[0, -1]]).all():
            return None
        if not np.mean(ranked.sides[0]) > np.mean(ranked.sides[1]):  # it would fall
            return None
        edges = np.unique(pooled[np.arange(1, LINE_BINS) * len(pooled) // LINE_BINS])
        left, right = (_counts(side, edges) for side in ranked.sides)
        starts = np.r_[0, np.searchsorted(pooled, edges)]
        centers = np.add.reduceat(pooled, np.minimum(starts, len(pooled) - 1)) / np.maximum(left + right, 1)
        scale = float(np.std(centers))
        if not scale > 0:
            return None
        design = np.column_stack([np.ones(len(centers)), centers / scale])
        weights, errors = fit_logistic(design, left, left + right, ridge=1e-6)
        if weights[1] < LINE_ERRORS * errors[1]:
            return None
        offset, slope, error = float(weights[0]), float(weights[1]) / scale, float(errors[1]) / scale
        return cls(slope - error, offset, cls(slope, offset)._fit_pvalue(ranked) < LINE_MISFIT)

    def _fit_pvalue(self, ranked: Ranked) -> float:
        """Return the p-value of the counts between the tested cuts, given the line."""
        pooled = ranked.pooled
        edges = np.unique(pooled[(np.array(LINE_CUTS) * len(pooled)).astype(int)])
        chances = logistic(self.slope * pooled + self.offset)
        sums = np.r_[0.0, np.cumsum(chances)]
        spread = np.r_[0.0, np.cumsum(chances * (1 - chances))]
        cuts = np.r_[0, np.searchsorted(pooled, edges), len(pooled)]
        expected, variance = np.diff(sums[cuts]), np.diff(spread[cuts])
        used = variance > 5
        freedom = int(used.sum()) - 2
        if freedom < 1:
            return 0.0
        gaps = _counts(ranked.sides[0], edges) - expected
        return float(special.chdtrc(freedom, np.sum(gaps[used] ** 2 / variance[used])))

    def proposal(self, scores: Ranked, design: TestDesign, allowance: float) -> tuple[float, Thresholds]:
        """Return the estimated bound, at most `allowance` standard errors above the counts, and its thresholds."""
        left, right = (self.slope * side + self.offset for side in scores.sides)
        ratios = Ranked((left, right), scores.sizes)
        chosen = best_thresholds(ratios, design, 0.0, stated=True)
        plus, minus = ratios.pooled[ratios.pooled >= chosen.upper], ratios.pooled[ratios.pooled <= chosen.lower]
        correct = (special.expit(plus).sum() + special.expit(-minus).sum()) / ratios.total
        wrong = (special.expit(-plus).sum() + special.expit(minus).sum()) / ratios.total
        seen = chosen.frequencies(ratios)
        stated, counted = (mean_bound(design, [pair], chosen.used, 0.0) for pair in ((correct, wrong), seen))
        error = 2 / math.sqrt(1 + sum(seen) * ratios.total)
        upper, lower = ((threshold - self.offset) / self.slope for threshold in (chosen.upper, chosen.lower))
        return min(stated, counted + allowance * error), Thresholds(upper, lower)


def _counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.r_[0, np.searchsorted(ordered, edges), len(ordered)])


# The division of a budget: tuned by `benchmarks.bugs.event_values`, `benchmarks.overhead`
UNSURE = 0.06  # relative standard error of the log-ratio of guesses below which no more outputs train
TRIAL = 3_000  # outputs per dataset on which slow scorers are tried before they are fitted on all. TIME
NEAR_LIMIT = 1.0  # slow scorers are not asked when the best estimate is within this of the most that runs can certify

# The judgment of candidates: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
PENALTY = 3.0  # standard errors deducted while thresholds are chosen
CHOICE_PENALTY = 2.0  # standard errors by which the best of several scores, each judged on fresh outputs, looks better
COARSE_SCORE = 6  # learned scores with at most this many values count as simple: they are the counts themselves
TABLE_SHARE = 0.5  # a score with fewer distinct values per output than this is a table, else a line
RARE_GUESSES = 5_000  # on all training outputs: with fewer, events of such a table are chosen again on all of them
LINE_NEEDS, TABLE_NEEDS = 10_000, 20_000  # outputs of a line and of a table: fewer cannot show a misfit in the tails

_FIRST = 256  # outputs that show whether there are floating-point numbers


@dataclass(frozen=True)
class EventPair:
    """Guess "left" where score >= upper, "right" where score <= lower, else abstain."""

    score: Score  # fitted on training outputs
    thresholds: Thresholds  # a NaN makes its event empty
    estimated_bound: float  # of epsilon, from the training outputs; certifies nothing, may be negative
    # How many times as many training outputs would choose events that refute the claim and owe nothing to chance;
    # 0 when it does not seem refutable, or when nothing was chosen by counts
    needs_more: float = 0.0
    form: OutputForm = field(default_factory=OutputForm)  # of the outputs that trained it
    reading: Reading | None = None  # the columns that the score reads; None for those that outputs come in

    def guess(self, outputs: Outputs) -> np.ndarray:
        """Return 1 for "left", -1 for "right", 0 for no guess; shape (size,)."""
        left, right = self.test_events(outputs)
        return left.view(np.int8) - right.view(np.int8)

    def scores(self, outputs: Outputs) -> np.ndarray:
        """Return the scores of outputs, shape (size,)."""
        return self.score(by_column(outputs if self.reading is None else self.reading.read(outputs)))

    def test_events(self, outputs: Outputs) -> tuple[np.ndarray, np.ndarray]:
        """Return where "left" and where "right" is guessed, each of shape (size,)."""
        scores = self.scores(outputs)
        return scores >= self.thresholds.upper, scores <= self.thresholds.lower

    def delta_share(self, delta: float) -> float:
        """Return the delta that one run may use: half when one event is empty, since only half of the runs can."""
        return delta * self.thresholds.used / 2

    def describe(self) -> tuple[str, str]:
        """Return both events in words."""
        plus, minus = map(self._name_columns, self.score.describe(self.thresholds.upper, self.thresholds.lower))
        upper_is_empty, lower_is_empty = map(math.isnan, (self.thresholds.upper, self.thresholds.lower))
        return ("never" if upper_is_empty else plus), ("never" if lower_is_empty else minus)

    def _name_columns(self, event: str) -> str:
        """Say columns of structured outputs by their place: `output["n"]`."""
        reading = self.reading
        if reading is None or not reading.is_named:
            return event
        if reading.is_single:
            return re.sub(r"\boutput\b", lambda _: reading.label(0), event)
        return re.sub(r"coordinate (\d+)(: output\b)?", lambda found: reading.label(int(found[1])), event)


class Proposal(NamedTuple):
    """A score, its thresholds, and their estimated bound."""

    estimated_bound: float
    candidate: Candidate
    thresholds: Thresholds

    def needs_more(self, design: TestDesign) -> float:
        """Return how many times its guesses are needed to show that it is this good; see `EventPair`."""
        if self.candidate.calibrated or not self.estimated_bound > design.epsilon:
            return 0.0
        seen = self.candidate.both
        guesses = sum(self.thresholds.frequencies(seen)) * seen.total
        return (2 / (UNSURE * self.estimated_bound)) ** 2 / (guesses + 1)


@np.errstate(all="ignore")  # sums and squares of outputs near the largest number overflow
def choose_events(
    training: Training,
    designs: Sequence[TestDesign],
    scorers: Sequence[Scorer] = SCORERS,
    slow_scorers: Sequence[Scorer] = SLOW_SCORERS,
) -> list[EventPair | None]:
    """Return for each design the event pair with the largest estimated bound over all scorers, which are fitted once.

    It is None when no scorer reads the outputs. Slow scorers are not asked when another score sees everything or the
    mechanism states its likelihood ratio, nor while more outputs will train if chance decides. Otherwise each is tried
    on a few outputs. It competes when its estimate on them exceeds all others, or when it would see everything and the
    others expect no refutation.
    """
    reading = Reading.of(training.sides)
    sides, training = training.sides, training.with_sides(*map(reading.read, training.sides))
    # Where some outputs are numbers, violations are planted in these alone.
    structured = STRUCTURED if all(side.symbolic.all() for side in training.sides) else ()
    form = _describe(sides, training.sides, reading, structured)
    folds = Folds.of(training)
    proposals = _proposals(scorers, folds, designs)
    if _needs_slow_scorers(proposals[0], designs[0]):
        found, step = [_largest(at) for at in proposals], max(1, len(training.left) // TRIAL)
        for scorer in slow_scorers:
            trial = _proposals([scorer], Folds.of(training.every(step)) if step > 1 else folds, designs)
            if step == 1 or any(_largest(at) > least for at, least in zip(trial, found, strict=True)):
                if step > 1:
                    trial = _proposals([scorer], folds, designs)
                proposals = [at + more for at, more in zip(proposals, trial, strict=True)]
    best = [_best(*at) for at in zip(proposals, designs, strict=True)]
    return [
        None if events is None else replace(events, reading=reading, form=replace(form, values=events.form.values))
        for events in best
    ]


def _describe(
    sides: Sequence[Outputs], read: Sequence[Outputs], reading: Reading, structured: Sequence[str]
) -> OutputForm:
    """Return the kinds of the outputs, from both sides as they came, and as they are read."""
    texts = count_texts(sides, read, reading.coded, structured)
    coarse = find_coarse(read, reading.label, sum(max(1, width) for _, width in reading.names))
    has_numbers = any(np.isfinite(side.numbers).any() for side in read)
    columns = max(1 if side.is_scalar else side.numbers.shape[1] for side in read) if has_numbers else 0
    return OutputForm(columns, any(map(_has_fractions, read)), places=len(texts), texts=texts, coarse=coarse)


def _has_fractions(outputs: Outputs) -> bool:
    """Test whether some of the first numbers are not whole, or are bytes, which may be those of such numbers."""
    numbers, kinds = outputs.numbers[:_FIRST], outputs.texts.get("type(output)")
    is_bytes = kinds is not None and any(kind.startswith("bytes of ") for kind in kinds.table)
    return is_bytes or bool(np.any(numbers[np.isfinite(numbers)] % 1))


def _needs_slow_scorers(proposals: Sequence[Proposal], design: TestDesign) -> bool:
    competing = [proposal.candidate for proposal in proposals]
    if any(OutputForm(values=each.values).is_counted or each.calibrated for each in competing):
        return False
    best = max(proposals, key=attrgetter("estimated_bound"), default=None)
    largest = mean_bound(design, [(1.0, 0.0)], 2, CHOICE_PENALTY_LEARNED)  # if every run is guessed right
    if best is not None and best.estimated_bound > largest - NEAR_LIMIT:
        return False
    return not (design.more and best is not None and best.needs_more(design) > 1)


def _best(proposals: Sequence[Proposal], design: TestDesign) -> EventPair | None:
    for proposal in sorted(proposals, key=attrgetter("estimated_bound"), reverse=True):
        bound, candidate, thresholds = proposal
        if candidate.score is not None:
            counted = filter(None, [other.candidate.values for other in proposals])
            return EventPair(
                candidate.score.name_values(candidate.folds.whole),
                candidate.place(thresholds, design),
                bound,
                form=OutputForm(values=min(counted, key=attrgetter("share"), default=None)),
                needs_more=proposal.needs_more(design),
            )
    return None


def _proposals(scorers: Sequence[Scorer], folds: Folds, designs: Sequence[TestDesign]) -> list[list[Proposal]]:
    """Return, for each test design, the proposal of every candidate."""
    proposals: list[list[Proposal]] = [[] for _ in designs]
    for scorer in scorers:
        if not scorer.reads(folds.whole):
            continue
        halves = fit_halves(scorer, folds)
        for candidate in [Candidate(scorer, folds, halves, index) for index in range(len(halves[0]))]:
            for design, found in zip(designs, proposals, strict=True):
                found.append(candidate.proposal(design, _largest(found)))
            for scores in ("halves", "both"):  # of many candidates only the best needs them again
                vars(candidate).pop(scores, None)
    return proposals


def _largest(proposals: Sequence[Proposal]) -> float:
    return max((proposal.estimated_bound for proposal in proposals), default=-math.inf)


class Folds(NamedTuple):
    """The training outputs, whole and in two halves: every second output forms a half."""

    whole: Training
    halves: tuple[Training, Training]

    @classmethod
    def of(cls, training: Training) -> Folds:
        """Split; single numbers are then sorted, since their order carries no information and sorted ones are fast."""
        first, second = (training.every(2, start) for start in (0, 1))
        first, second = (half.with_sides(*map(_sort_numbers, half.sides)) for half in (first, second))
        if not all(map(_is_plain, training.sides)):
            return cls(training.with_sides(*map(by_column, training.sides)), (first, second))
        both = (_sort_numbers(concatenate(list(sides))) for sides in zip(first.sides, second.sides, strict=True))
        return cls(training.with_sides(*both), (first, second))


def _is_plain(outputs: Outputs) -> bool:
    return outputs.is_scalar and outputs.symbols is None and outputs.numbers is outputs.raw


def _sort_numbers(outputs: Outputs) -> Outputs:
    if not _is_plain(outputs):
        return by_column(outputs)
    numbers = np.sort(outputs.numbers)
    return Outputs(numbers, numbers)


def fit_halves(scorer: Scorer, folds: Folds) -> tuple[Sequence[Score], Sequence[Score]]:
    """Return the scores for each half: fitted on the other one, or on all outputs by a scorer that learns nothing."""
    if not scorer.learned:
        whole = scorer.propose(folds.whole)
        return whole, whole
    first, second = folds.halves
    if min(map(len, (*first.sides, *second.sides))) < 2:
        return (), ()
    fitted = scorer.propose(second)
    others = scorer.propose(first) if fitted else ()
    return (fitted, others) if len(fitted) == len(others) else ((), ())


@dataclass(frozen=True)
class Candidate:
    """One of a scorer's scores, by its index; it is fitted on all outputs when it is used."""

    scorer: Scorer
    folds: Folds
    fits: tuple[Sequence[Score], Sequence[Score]]  # for either half
    index: int

    @cached_property
    def halves(self) -> tuple[Ranked, Ranked]:  # each scored by the fit that had not seen it
        first, second = (_scores(fit[self.index], half) for fit, half in zip(self.fits, self.folds.halves, strict=True))
        return first, second

    @cached_property
    def both(self) -> Ranked:
        first, second = self.halves
        left, right = (merge_in_order(*parts) for parts in zip(first.sides, second.sides, strict=True))
        return Ranked((left, right), (first.sizes[0] + second.sizes[0], first.sizes[1] + second.sizes[1]))

    @cached_property
    def score(self) -> Score | None:
        """Fitted on all training outputs; None in the rare case that they give other scores than the halves."""
        fitted = self.scorer.propose(self.folds.whole) if self.scorer.learned else self.fits[0]
        return fitted[self.index] if len(fitted) == len(self.fits[0]) else None

    @property
    def calibrated(self) -> bool:
        return self.fits[0][self.index].calibrated

    @property
    def values(self) -> Repeats | None:  # by the fits that tell which differences it can see
        final = self.score if self.scorer.needs_all else None
        fitted = [half[self.index] for half in self.fits] if final is None else [final]
        each = [fit.values for fit in fitted]
        return None if None in each else max(filter(None, each), key=attrgetter("share"))

    def place(self, thresholds: Thresholds, design: TestDesign) -> Thresholds:
        """Move thresholds chosen on the scores of the halves to the final score.

        The few values of a table may come in another order than on the halves, and rare events then hold others than
        were meant. They are chosen again, by the final score as the log-likelihood ratio: it is shrunk by its noise.
        """
        if not self.scorer.learned or self.score is None:
            return thresholds
        final = _scores(self.score, self.folds.whole)
        moved = thresholds.move(self.both.pooled, final.pooled)
        is_rare = sum(moved.frequencies(final)) * final.total < RARE_GUESSES
        if self._is_table and final.distinct <= SHORT_TABLE and is_rare:
            return best_thresholds(final, design, 0.0, stated=True)
        return moved

    def proposal(self, design: TestDesign, least: float = -math.inf) -> Proposal:
        """Choose thresholds by the calibration line, and by counts; the larger estimate wins.

        An estimate that cannot exceed `least`, that of another candidate, is not computed: its limit stands for it.
        """
        if self.calibrated:
            thresholds = best_thresholds(self.both, design, 0.0, stated=True)
            bound = mean_bound(design, [thresholds.frequencies(self.both)], thresholds.used, 0.0)
            return Proposal(bound, self, thresholds)
        if math.isfinite(least):
            limit = self._limit(design)
            if limit.estimated_bound < least:
                return limit
        counted = self._cross_fitted_bound(design)
        by_counts = Proposal(counted, self, best_thresholds(self.both, design, PENALTY))
        if self.line is None:
            return by_counts
        # by how many standard errors the line may exceed the counts; negative where it is doubtful
        long_table = self.scorer.learned and self._is_table and self.halves[0].distinct > SHORT_TABLE
        allowance = -1.0 if long_table else 1.0
        if self.line.misfit:
            allowance = -CHOICE_PENALTY_LEARNED
        stated, thresholds = self.line.proposal(self.both, design, allowance)
        return by_counts if counted > stated else Proposal(stated, self, thresholds)

    def _limit(self, design: TestDesign) -> Proposal:
        """Return the proposal that owes most to chance: the best on all outputs, with the gain that a line may have."""
        penalty = self._penalty if self.line is None else 0.0
        thresholds = best_thresholds(self.both, design, penalty)
        seen = thresholds.frequencies(self.both)
        gain = 0.0 if self.line is None else 2 / math.sqrt(1 + sum(seen) * self.both.total)
        return Proposal(mean_bound(design, [seen], thresholds.used, penalty) + gain, self, thresholds)

    @cached_property
    def line(self) -> CalibrationLine | None:
        enough = TABLE_NEEDS if self._is_table else LINE_NEEDS
        return CalibrationLine.through(self.both) if not self._is_coarse and len(self.both.pooled) >= enough else None

    @property
    def _penalty(self) -> float:
        is_rich = self.scorer.learned and not self._is_coarse
        return CHOICE_PENALTY_LEARNED if is_rich else CHOICE_PENALTY

    @property
    def _is_coarse(self) -> bool:  # no richer than its counts
        return self.halves[0].distinct <= COARSE_SCORE

    @property
    def _is_table(self) -> bool:  # scores repeat
        return self.halves[0].distinct <= TABLE_SHARE * len(self.halves[0].sides[0])

    def _cross_fitted_bound(self, design: TestDesign) -> float:
        """Return the estimated bound of thresholds that are chosen on the half that does not judge them."""
        half = replace(design, training=design.training / 2)
        seen, used = [], 0
        for choosing, judging in (self.halves, self.halves[::-1]):
            thresholds = best_thresholds(choosing, half, PENALTY)
            if self.scorer.learned:
                thresholds = thresholds.move(choosing.pooled, judging.pooled)
            seen.append(thresholds.frequencies(judging))
            used = max(used, thresholds.used)
        return mean_bound(design, seen, used, self._penalty)


def _scores(score: Score, training: Training) -> Ranked:
    """Score all outputs, in blocks that fit the cache."""
    sides = []
    for side in training.sides:
        starts = range(0, max(1, len(side)), BLOCK)
        sides.append(np.concatenate([score(side[start : start + BLOCK]) for start in starts]))
    return Ranked.of(*sides)
