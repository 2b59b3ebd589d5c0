"""The scores that compete for an event: each is judged on the half of the training outputs that it was not fitted on.

For each score thresholds are picked on one half of the training outputs and judged on the other, several times with a
different penalty for chance: what a naive choice gains on one half it loses on the half that did not see it. A score
that fresh outputs confirm may instead say itself where to cut. Only the score that wins is fitted on all outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from audit.game.calibration import Line
from audit.game.folds import Folds
from audit.game.scorers import Score, Scorer, Training
from audit.game.thresholds import Ranked, TestDesign, Thresholds, best_thresholds
from audit.subjects import BLOCK, Outputs

PENALTIES = (2.0, 3.0)  # standard errors by which candidate thresholds may be charged
PENALTIES_ON_A_LINE = (2.0, 5.0)  # when no score repeats: the larger event is better where the ratio is flat
_JUDGED = 2.0  # standard errors by which the best of several scores, each judged on fresh outputs, flatters itself
_JUDGED_LEARNED = 3.0  # and when the score is learned too: at equal estimates the simpler one is the safer choice
_TABLE = 0.5  # different scores an output below which a score is not a line but a table of values
_COARSE = 6  # values of a score that is simple although it is learned: it is the counts themselves
_SHORT = 12  # values of a table so short that each is seen often: it does not look good by chance
_LINE_NEEDS, _TABLE_NEEDS = 10_000, 20_000  # outputs: fewer do not show that a line is wrong in the tails


@dataclass(frozen=True)
class Fits:
    """One scorer on the folds: fitted on either half at once, on all outputs when its score is wanted."""

    scorer: Scorer
    folds: Folds

    @cached_property
    def whole(self) -> Sequence[Score]:
        """Fitted on all training outputs."""
        return self.scorer.propose(self.folds.whole)

    @cached_property
    def halves(self) -> tuple[Sequence[Score], Sequence[Score]]:
        """What scores either half: a fit on the other half, when the scores are learned."""
        if not self.scorer.learned:
            return self.whole, self.whole
        first, second = self.folds.halves
        if min(map(len, (first.left, first.right, second.left, second.right))) < 2:
            return (), ()
        fitted = self.scorer.propose(second), self.scorer.propose(first)
        return fitted if len(fitted[0]) == len(fitted[1]) else ((), ())

    def candidates(self) -> list[Candidate]:
        """All its scores."""
        return [Candidate(self, index) for index in range(len(self.halves[0]))]


@dataclass(frozen=True)
class Candidate:
    """One of a scorer's scores.

    Parameters
    ----------
    fits : Fits
        Of its scorer.
    index : int
        Which of the scorer's scores it is.
    """

    fits: Fits
    index: int

    @cached_property
    def halves(self) -> tuple[Ranked, Ranked]:
        """Its scores of either half, by the fit that had not seen it."""
        first, second = self.fits.folds.halves
        return _scores(self.fits.halves[0][self.index], first), _scores(self.fits.halves[1][self.index], second)

    @property
    def score(self) -> Score | None:
        """Fitted on all training outputs; None in the odd case that they give other scores than the halves."""
        fitted = self.fits.whole
        return fitted[self.index] if len(fitted) == len(self.fits.halves[0]) else None

    @property
    def learned(self) -> bool:
        """Whether the outputs that it was fitted on flatter it."""
        return self.fits.scorer.learned

    @property
    def calibrated(self) -> bool:
        """Whether it says itself where to cut."""
        return self.fits.halves[0][self.index].calibrated

    @property
    def complete(self) -> bool:
        """Whether every difference between two laws shows in it."""
        if self.fits.scorer.needs_all and self.score is not None:
            return self.score.complete
        return all(half[self.index].complete for half in self.fits.halves)

    def placed(self, thresholds: Thresholds) -> Thresholds:
        """Where thresholds that were picked on the scores of the halves belong on the final score."""
        if not self.learned or self.score is None:
            return thresholds
        return thresholds.moved(self.both.pooled, _scores(self.score, self.fits.folds.whole).pooled)

    def proposal(self, design: TestDesign) -> tuple[Thresholds, float]:
        """The thresholds picked in the way that did best on fresh halves, and what that way promises."""
        if self.calibrated:  # it says itself where to cut: nothing is compared on the counts
            thresholds = best_thresholds(self.both, design, 0.0, stated=True)
            return thresholds, _mean_bound(design, [thresholds.frequencies(self.both)], thresholds.used, 0.0)
        estimated_bound, thresholds = max(self._ways(design), key=lambda way: way[0])
        return thresholds, estimated_bound

    def _ways(self, design: TestDesign) -> Iterator[tuple[float, Thresholds]]:
        """Promises and thresholds: by the line that makes the score honest, and by counts at the best penalty."""
        if self._line is not None:
            thresholds, estimated_bound = self._line.best_thresholds(self.both, design, self._allowance(self._line))
            yield estimated_bound, thresholds
        bound, penalty = max((self._cross_fitted_bound(design, penalty), penalty) for penalty in self._penalties)
        yield bound, best_thresholds(self.both, design, penalty)

    @cached_property
    def _line(self) -> Line | None:
        enough = _TABLE_NEEDS if self._is_table else _LINE_NEEDS
        return Line.through(self.both) if not self._is_coarse and len(self.both.pooled) >= enough else None

    def _allowance(self, line: Line) -> float:
        """Standard errors by which a line may exceed what counts show; below them where it is doubtful."""
        if line.bent:
            return -_JUDGED_LEARNED
        long_table = self.learned and self._is_table and self._values > _SHORT  # it looks good by chance
        return -1.0 if long_table else 1.0

    @property
    def _values(self) -> int:
        return self.halves[0].distinct

    @property
    def _is_coarse(self) -> bool:
        """Whether the score is no richer than its counts: no line shows which values are best."""
        return self._values <= _COARSE

    @property
    def _is_table(self) -> bool:
        return self._values <= _TABLE * len(self.halves[0].sides[0])

    @property
    def _penalties(self) -> tuple[float, float]:
        return PENALTIES if self._is_table else PENALTIES_ON_A_LINE

    @cached_property
    def both(self) -> Ranked:
        """Its scores of all outputs, each by the fit that had not seen it."""
        return self.halves[0].with_more(self.halves[1])

    def discard(self) -> None:
        """Drop the scores of the outputs: of many candidates only the best needs them again."""
        for scores in ("halves", "both"):
            vars(self).pop(scores, None)

    def _cross_fitted_bound(self, design: TestDesign, penalty: float) -> float:
        """The estimated bound of thresholds picked, at this penalty, on the half that does not judge them."""
        half = replace(design, training_runs=max(1, design.training_runs // 2))
        seen, used = [], 0
        for picking, judging in (self.halves, self.halves[::-1]):
            thresholds = best_thresholds(picking, half, penalty)
            if self.learned:
                thresholds = thresholds.moved(picking.pooled, judging.pooled)
            seen.append(thresholds.frequencies(judging))
            used = max(used, thresholds.used)
        return _mean_bound(design, seen, used, self._choice_penalty)

    @property
    def _choice_penalty(self) -> float:
        return _JUDGED_LEARNED if self.learned and not self._is_coarse else _JUDGED


def _scores(score: Score, training: Training) -> Ranked:
    return Ranked.of(_in_blocks(score, training.left), _in_blocks(score, training.right))


def _in_blocks(score: Score, outputs: Outputs) -> np.ndarray:
    """The scores of all outputs: what is computed on the way stays in the cache."""
    starts = range(0, max(1, len(outputs)), BLOCK)
    return np.concatenate([score(outputs[start : start + BLOCK]) for start in starts])


def _mean_bound(design: TestDesign, seen: Sequence[tuple[float, float]], used: int, penalty: float) -> float:
    """What frequencies of right and wrong guesses estimated_bound that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(design.estimated_bound(np.array(right), np.array(wrong), np.array(used), penalty))
