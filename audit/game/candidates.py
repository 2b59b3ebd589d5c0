"""Judge candidate scores on training outputs that they were not fitted on.

The training outputs are split in two halves. Each scorer is fitted on either half, and thresholds are chosen on one
half and judged on the other, several times with different penalties for chance: what a naive choice gains on the half
that it saw, it loses on the other. Only the score that wins is fitted on all outputs.

A score fitted as a log-likelihood ratio is usually too bold. One slope and one offset, fitted on outputs that the score
has not seen, calibrate it. If no bin of scores contradicts this line, the share of right guesses beyond a threshold
follows from all outputs rather than from the few beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from audit.game import tuning
from audit.game.scorers import Score, Scorer, Training
from audit.game.scorers.base import fit_logistic
from audit.game.thresholds import Ranked, TestDesign, Thresholds, best_thresholds
from audit.subjects import BLOCK, Outputs, concatenate


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
    def halves(self) -> tuple[Sequence[Score], Sequence[Score]]:
        """Return the scores for either half: fitted on the other half when they are learned."""
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
    def halves(self) -> tuple[Ranked, Ranked]:
        """Scores of either half, by the fit that had not seen it."""
        first, second = self.fits.folds.halves
        return _scores(self.fits.halves[0][self.index], first), _scores(self.fits.halves[1][self.index], second)

    @cached_property
    def both(self) -> Ranked:
        """Scores of all outputs, each by the fit that had not seen it."""
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
    def learned(self) -> bool:
        return self.fits.scorer.learned

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
        if not self.learned or self.score is None:
            return thresholds
        return thresholds.moved(self.both.pooled, _scores(self.score, self.fits.folds.whole).pooled)

    def proposal(self, design: TestDesign) -> tuple[Thresholds, float]:
        """Return the thresholds chosen in the way that did best on fresh halves, and its estimated bound."""
        if self.calibrated:
            thresholds = best_thresholds(self.both, design, 0.0, stated=True)
            return thresholds, _mean_bound(design, [thresholds.frequencies(self.both)], thresholds.used, 0.0)
        bound, thresholds = max(self._ways(design), key=lambda way: way[0])
        return thresholds, bound

    def _ways(self, design: TestDesign) -> Iterator[tuple[float, Thresholds]]:
        """Yield estimated bounds and thresholds: by the calibration line, and by counts at the best penalty."""
        line = self._line
        if line is not None:
            yield line.proposal(self.both, design, self._allowance(line))
        tried = ((self._cross_fitted_bound(design, penalty), penalty) for penalty in tuning.PENALTIES)
        bound, penalty = max(tried)
        yield bound, best_thresholds(self.both, design, penalty)

    @cached_property
    def _line(self) -> Line | None:
        enough = tuning.TABLE_NEEDS if self._is_table else tuning.LINE_NEEDS
        return Line.through(self.both) if not self._is_coarse and len(self.both.pooled) >= enough else None

    def _allowance(self, line: Line) -> float:
        """Return by how many standard errors a line may exceed the counts; negative where it is doubtful."""
        if line.misfit:
            return -tuning.CHOICE_PENALTY_LEARNED
        long_table = self.learned and self._is_table and self.halves[0].distinct > tuning.SHORT_TABLE
        return -1.0 if long_table else 1.0

    @property
    def _is_coarse(self) -> bool:
        """Return whether the score takes so few values that it is no richer than its counts."""
        return self.halves[0].distinct <= tuning.COARSE_SCORE

    @property
    def _is_table(self) -> bool:
        """Return whether scores repeat."""
        return self.halves[0].distinct <= tuning.TABLE_SHARE * len(self.halves[0].sides[0])

    def _cross_fitted_bound(self, design: TestDesign, penalty: float) -> float:
        """Return the estimated bound of thresholds chosen, at this penalty, on the half that does not judge them."""
        half = replace(design, training_runs=max(1, design.training_runs // 2))
        seen, used = [], 0
        for choosing, judging in (self.halves, self.halves[::-1]):
            thresholds = best_thresholds(choosing, half, penalty)
            if self.learned:
                thresholds = thresholds.moved(choosing.pooled, judging.pooled)
            seen.append(thresholds.frequencies(judging))
            used = max(used, thresholds.used)
        rich = self.learned and not self._is_coarse
        return _mean_bound(design, seen, used, tuning.CHOICE_PENALTY_LEARNED if rich else tuning.CHOICE_PENALTY)


def _scores(score: Score, training: Training) -> Ranked:
    return Ranked.of(*(_in_blocks(score, side) for side in training.sides))


def _in_blocks(score: Score, outputs: Outputs) -> np.ndarray:
    """Score all outputs in blocks that fit the cache."""
    starts = range(0, max(1, len(outputs)), BLOCK)
    return np.concatenate([score(outputs[start : start + BLOCK]) for start in starts])


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
        """Return the thresholds that are best by the line, and their estimated bound as far as the counts allow.

        Parameters
        ----------
        scores : Ranked
            Those that the line was fitted to.
        design : TestDesign
        allowance : float
            Standard errors by which the estimate may exceed what the counts show; must lie below it, if < 0.
        """
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
