"""Choose the events of the guess game: scores compete on training outputs for the largest estimated bound.

The training outputs are split in two halves. Each scorer is fitted on either half, and thresholds are chosen on one
half and judged on the other, several times with different penalties for chance: what a naive choice gains on the half
that it saw, it loses on the other. Only the score that wins is fitted on all outputs.

A score fitted as a log-likelihood ratio is usually too bold. One slope and one offset, fitted on outputs that the score
has not seen, calibrate it. If no bin of scores contradicts this line, the share of right guesses beyond a threshold
follows from all outputs rather than from the few beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from audit.game import tuning
from audit.game.scorers import SCORERS, SLOW_SCORERS, Score, Scorer, Training
from audit.game.scorers.base import fit_logistic
from audit.game.thresholds import Ranked, TestDesign, Thresholds, best_thresholds
from audit.subjects import BLOCK, Outputs, concatenate


@dataclass(frozen=True)
class EventPair:
    """Guess "left" where score >= upper, "right" where score <= lower, else abstain."""

    score: Score  # fitted on training outputs
    thresholds: Thresholds  # a NaN makes its event empty
    estimated_bound: float  # of epsilon, from the training outputs; certifies nothing, may be negative
    # Whether some score that competed sees every difference between two laws on outputs of this kind
    complete: bool = False
    # How many times as many training outputs would choose events that refute the claim and owe nothing to chance;
    # 0 when it does not seem refutable, or when nothing was chosen by counts
    needs_more: float = 0.0

    def guess(self, outputs: Outputs) -> np.ndarray:
        """Return 1 for "left", -1 for "right", 0 for no guess; shape (size,)."""
        scores = self.score(outputs)
        guesses = (scores >= self.thresholds.upper).view(np.int8)
        guesses -= (scores <= self.thresholds.lower).view(np.int8)
        return guesses

    def delta_share(self, delta: float) -> float:
        """Return the delta that one run may use: half when one event is empty, since only half of the runs can."""
        return delta * self.thresholds.used / 2

    def describe(self) -> tuple[str, str]:
        """Return both events in words."""
        plus, minus = self.score.describe(self.thresholds.upper, self.thresholds.lower)
        upper_is_empty, lower_is_empty = map(math.isnan, (self.thresholds.upper, self.thresholds.lower))
        return ("never" if upper_is_empty else plus), ("never" if lower_is_empty else minus)


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
        return (2 / (tuning.UNSURE * self.estimated_bound)) ** 2 / (guesses + 1)


def choose_events(
    training: Training,
    design: TestDesign,
    scorers: Sequence[Scorer] = SCORERS,
    slow_scorers: Sequence[Scorer] = SLOW_SCORERS,
) -> EventPair | None:
    """Return the event pair with the largest estimated bound over all scorers; None when no scorer reads the outputs.

    Slow scorers are not asked when another score sees everything or the mechanism states its likelihood ratio, nor
    while more outputs will train if chance decides. Otherwise each is tried on a few outputs. It competes when its
    estimate on them exceeds all others, or when it would see everything and the others expect no refutation.
    """
    return choose_events_for_each(training, [design], scorers, slow_scorers)[0]


def choose_events_for_each(
    training: Training,
    designs: Sequence[TestDesign],
    scorers: Sequence[Scorer] = SCORERS,
    slow_scorers: Sequence[Scorer] = SLOW_SCORERS,
) -> list[EventPair | None]:
    """Return what `choose_events` would for several test designs, with the scores fitted once."""
    folds = Folds.of(training)
    proposals = _proposals(scorers, folds, designs)
    if _needs_slow_scorers(proposals[0], designs[0]):
        found, step = [_largest(at) for at in proposals], max(1, len(training.left) // tuning.TRIAL)
        for scorer in slow_scorers:
            trial = _proposals([scorer], Folds.of(training.every(step)) if step > 1 else folds, designs)
            if any(_may_improve(*case) for case in zip(trial, found, designs, strict=True)):
                if step > 1:
                    trial = _proposals([scorer], folds, designs)
                proposals = [at + more for at, more in zip(proposals, trial, strict=True)]
    return [_best(*at) for at in zip(proposals, designs, strict=True)]


def _needs_slow_scorers(proposals: Sequence[Proposal], design: TestDesign) -> bool:
    if any(proposal.candidate.complete or proposal.candidate.calibrated for proposal in proposals):
        return False
    return not (design.more and proposals and max(proposals, key=attrgetter("estimated_bound")).needs_more(design) > 1)


def _may_improve(trial: Sequence[Proposal], found: float, design: TestDesign) -> bool:
    sees_more = any(proposal.candidate.complete for proposal in trial)
    return _largest(trial) > found or (sees_more and found <= design.epsilon)


def _best(proposals: Sequence[Proposal], design: TestDesign) -> EventPair | None:
    for proposal in sorted(proposals, key=attrgetter("estimated_bound"), reverse=True):
        bound, candidate, thresholds = proposal
        if candidate.score is not None:
            complete, placed = any(other.candidate.complete for other in proposals), candidate.placed(thresholds)
            return EventPair(candidate.score, placed, bound, complete, proposal.needs_more(design))
    return None


def _proposals(scorers: Sequence[Scorer], folds: Folds, designs: Sequence[TestDesign]) -> list[list[Proposal]]:
    """Return, for each test design, the proposal of every candidate."""
    proposals: list[list[Proposal]] = [[] for _ in designs]
    for scorer in scorers:
        for candidate in Fits(scorer, folds).candidates():
            for design, found in zip(designs, proposals, strict=True):
                found.append(candidate.proposal(design))
            candidate.discard()
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
        first, second = (half.with_sides(*map(_ordered, half.sides)) for half in (first, second))
        if not all(map(_is_plain, training.sides)):
            return cls(training, (first, second))
        both = (_ordered(concatenate(list(sides))) for sides in zip(first.sides, second.sides, strict=True))
        return cls(training.with_sides(*both), (first, second))


def _is_plain(outputs: Outputs) -> bool:
    return outputs.is_scalar and outputs.symbols is None and outputs.numbers is outputs.raw


def _ordered(outputs: Outputs) -> Outputs:
    if not _is_plain(outputs):
        return outputs
    numbers = np.sort(outputs.numbers, kind="stable")  # fast where two halves are sorted
    return Outputs(numbers, numbers)


@dataclass(frozen=True)
class Fits:
    """Fit one scorer on the folds: on either half at once, on all outputs when its score is used."""

    scorer: Scorer
    folds: Folds

    @cached_property
    def whole(self) -> Sequence[Score]:
        return self.scorer.propose(self.folds.whole)

    @cached_property
    def halves(self) -> tuple[Sequence[Score], Sequence[Score]]:  # for a half, fitted on the other one if learned
        if not self.scorer.learned:
            return self.whole, self.whole
        first, second = self.folds.halves
        if min(map(len, (*first.sides, *second.sides))) < 2:
            return (), ()
        fitted = self.scorer.propose(second), self.scorer.propose(first)
        return fitted if len(fitted[0]) == len(fitted[1]) else ((), ())

    def candidates(self) -> list[Candidate]:
        return [Candidate(self, index) for index in range(len(self.halves[0]))]


@dataclass(frozen=True)
class Candidate:
    """One of a scorer's scores, by its index."""

    fits: Fits
    index: int

    @cached_property
    def halves(self) -> tuple[Ranked, Ranked]:  # each scored by the fit that had not seen it
        first, second = self.fits.folds.halves
        return _scores(self.fits.halves[0][self.index], first), _scores(self.fits.halves[1][self.index], second)

    @cached_property
    def both(self) -> Ranked:
        return self.halves[0].with_more(self.halves[1])

    def discard(self) -> None:
        """Drop the scores of the outputs: of many candidates only the best needs them again."""
        for scores in ("halves", "both"):
            vars(self).pop(scores, None)

    @property
    def score(self) -> Score | None:
        """Fitted on all training outputs; None in the rare case that they give other scores than the halves."""
        fitted = self.fits.whole
        return fitted[self.index] if len(fitted) == len(self.fits.halves[0]) else None

    @property
    def calibrated(self) -> bool:
        return self.fits.halves[0][self.index].calibrated

    @property
    def complete(self) -> bool:
        if self.fits.scorer.needs_all and self.score is not None:
            return self.score.complete
        return all(half[self.index].complete for half in self.fits.halves)

    def placed(self, thresholds: Thresholds) -> Thresholds:
        """Move thresholds chosen on the scores of the halves to the final score."""
        if not self.fits.scorer.learned or self.score is None:
            return thresholds
        return thresholds.moved(self.both.pooled, _scores(self.score, self.fits.folds.whole).pooled)

    def proposal(self, design: TestDesign) -> Proposal:
        """Choose thresholds by the calibration line, and by counts at the best penalty; the larger estimate wins."""
        if self.calibrated:
            thresholds = best_thresholds(self.both, design, 0.0, stated=True)
            bound = _mean_bound(design, [thresholds.frequencies(self.both)], thresholds.used, 0.0)
            return Proposal(bound, self, thresholds)
        tried = ((self._cross_fitted_bound(design, penalty), penalty) for penalty in tuning.PENALTIES)
        counted, penalty = max(tried)
        by_counts = Proposal(counted, self, best_thresholds(self.both, design, penalty))
        if self._line is None:
            return by_counts
        # by how many standard errors the line may exceed the counts; negative where it is doubtful
        long_table = self.fits.scorer.learned and self._is_table and self.halves[0].distinct > tuning.SHORT_TABLE
        allowance = -1.0 if long_table else 1.0
        if self._line.misfit:
            allowance = -tuning.CHOICE_PENALTY_LEARNED
        stated, thresholds = self._line.proposal(self.both, design, allowance)
        return by_counts if counted > stated else Proposal(stated, self, thresholds)

    @cached_property
    def _line(self) -> Line | None:
        enough = tuning.TABLE_NEEDS if self._is_table else tuning.LINE_NEEDS
        return Line.through(self.both) if not self._is_coarse and len(self.both.pooled) >= enough else None

    @property
    def _is_coarse(self) -> bool:  # no richer than its counts
        return self.halves[0].distinct <= tuning.COARSE_SCORE

    @property
    def _is_table(self) -> bool:  # scores repeat
        return self.halves[0].distinct <= tuning.TABLE_SHARE * len(self.halves[0].sides[0])

    def _cross_fitted_bound(self, design: TestDesign, penalty: float) -> float:
        """Return the estimated bound of thresholds chosen, at this penalty, on the half that does not judge them."""
        half = replace(design, training_runs=max(1, design.training_runs // 2))
        seen, used = [], 0
        for choosing, judging in (self.halves, self.halves[::-1]):
            thresholds = best_thresholds(choosing, half, penalty)
            if self.fits.scorer.learned:
                thresholds = thresholds.moved(choosing.pooled, judging.pooled)
            seen.append(thresholds.frequencies(judging))
            used = max(used, thresholds.used)
        rich = self.fits.scorer.learned and not self._is_coarse
        return _mean_bound(design, seen, used, tuning.CHOICE_PENALTY_LEARNED if rich else tuning.CHOICE_PENALTY)


def _scores(score: Score, training: Training) -> Ranked:
    """Score all outputs, in blocks that fit the cache."""
    sides = []
    for side in training.sides:
        starts = range(0, max(1, len(side)), BLOCK)
        sides.append(np.concatenate([score(side[start : start + BLOCK]) for start in starts]))
    return Ranked.of(*sides)


def _mean_bound(design: TestDesign, seen: Sequence[tuple[float, float]], used: int, penalty: float) -> float:
    """Estimate the bound from frequencies of right and wrong guesses that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(design.estimated_bound(np.array(right), np.array(wrong), np.array(used), penalty))


@dataclass(frozen=True)
class Line:
    """Calibrate a score: slope * score + offset is a log-likelihood ratio, or nearly so if the counts show a misfit."""

    slope: float
    offset: float
    misfit: bool = False

    @classmethod
    def through(cls, ranked: Ranked) -> Line | None:
        """Fit to fresh scores of both sides; None when the line is flat."""
        pooled = ranked.pooled
        if not len(pooled) or not np.isfinite(pooled[[0, -1]]).all():
            return None
        edges = np.unique(pooled[np.arange(1, tuning.LINE_BINS) * len(pooled) // tuning.LINE_BINS])
        left, right = (_counts(side, edges) for side in ranked.sides)
        starts = np.r_[0, np.searchsorted(pooled, edges)]
        centers = np.add.reduceat(pooled, np.minimum(starts, len(pooled) - 1)) / np.maximum(left + right, 1)
        scale = float(np.std(centers))
        if not scale > 0:
            return None
        design = np.column_stack([np.ones(len(centers)), centers / scale])
        weights, errors = fit_logistic(design, left, left + right, ridge=1e-6)
        if weights[1] < tuning.LINE_ERRORS * errors[1]:
            return None
        offset, slope, error = float(weights[0]), float(weights[1]) / scale, float(errors[1]) / scale
        return cls(slope - error, offset, cls(slope, offset)._fit_pvalue(ranked) < tuning.LINE_MISFIT)

    def _fit_pvalue(self, ranked: Ranked) -> float:
        """Return the p-value of the counts between the tested cuts, given the line."""
        pooled = ranked.pooled
        edges = np.unique(pooled[(np.array(tuning.LINE_CUTS) * len(pooled)).astype(int)])
        chances = special.expit(self.slope * pooled + self.offset)
        sums = np.r_[0.0, np.cumsum(chances)]
        spread = np.r_[0.0, np.cumsum(chances * (1 - chances))]
        cuts = np.r_[0, np.searchsorted(pooled, edges), len(pooled)]
        expected, variance = np.diff(sums[cuts]), np.diff(spread[cuts])
        used = variance > 5
        freedom = int(used.sum()) - 2
        if freedom < 1:
            return 0.0
        gaps = _counts(ranked.sides[0], edges) - expected
        return float(stats.chi2.sf(np.sum(gaps[used] ** 2 / variance[used]), freedom))

    def proposal(self, scores: Ranked, design: TestDesign, allowance: float) -> tuple[float, Thresholds]:
        """Return the estimated bound, at most `allowance` standard errors above the counts, and its thresholds."""
        left, right = (self.slope * side + self.offset for side in scores.sides)
        ratios = Ranked((left, right), scores.sizes)
        chosen = best_thresholds(ratios, design, 0.0, stated=True)
        plus, minus = ratios.pooled[ratios.pooled >= chosen.upper], ratios.pooled[ratios.pooled <= chosen.lower]
        correct = (special.expit(plus).sum() + special.expit(-minus).sum()) / ratios.total
        wrong = (special.expit(-plus).sum() + special.expit(minus).sum()) / ratios.total
        seen = chosen.frequencies(ratios)
        stated, counted = (_mean_bound(design, [pair], chosen.used, 0.0) for pair in ((correct, wrong), seen))
        error = 2 / math.sqrt(1 + sum(seen) * ratios.total)
        upper, lower = ((threshold - self.offset) / self.slope for threshold in (chosen.upper, chosen.lower))
        return min(stated, counted + allowance * error), Thresholds(upper, lower)


def _counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.r_[0, np.searchsorted(ordered, edges), len(ordered)])
