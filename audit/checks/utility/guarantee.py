"""A guarantee "with probability at least 1 - beta": exact binomial tests at a few looks, until decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audit.base.arguments import closed_probability, positive
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Allowance, Evidence
from audit.checks.running import checked
from audit.checks.utility.simulation import BLOCK_REPLICATES, PROBED_CALLS, Unusable, draw_array, probed
from audit.checks.utility.theorem import Interval, UtilityCheck, UtilityEvidence, UtilityJudgment, UtilityResult
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.subjects import Stream

_FIRST_LOOK = 64  # trials at the first look; every look doubles them
_MOST_PROBED, _PROBED_SHARE = 32, 200  # trials a call of the probe: at most so many, and one in so many of the budget
_PROBE, _LOOK = 0, 1  # children of the check's stream
_LAST_SHARE = 0.5  # of the significance, for the look at the whole budget; the others share the rest


@dataclass(frozen=True)
class GuaranteeTerms:
    """What the judge needs of the claim."""

    beta: float
    slack: float


@dataclass(frozen=True)
class Look:
    """The trials so far."""

    trials: int
    failures: int


@dataclass(frozen=True)
class GuaranteeEvidence(UtilityEvidence):
    """The looks, and how many had been planned."""

    planned: int
    looks: tuple[Look, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GuaranteeCheck(UtilityCheck):
    """A guarantee that holds with probability at least 1 - beta over the learner's and the data's randomness.

    FAIL when the failure probability is certainly above beta; PASS when it is certainly at most beta + slack. The
    trials double from look to look until one of the two is certain or the budget is spent.

    Parameters
    ----------
    trials : callable
        `(replicates, rng) -> bool array, shape (replicates,)`: whether the guarantee held in each of so many
        independent runs.
    beta : float in [0, 1)
        Claimed failure probability.
    slack : float > 0, optional
        How much excess failure probability a PASS may leave unexcluded; max(0.01, beta / 4) unless given,
        but at most (1 - beta) / 2.

    Other parameters are those of `UtilityCheck`.
    """

    trials: Callable[..., Any]
    beta: float
    slack: float | None = None

    kind: ClassVar[str] = "guarantee"
    unit: ClassVar[str] = "trials"
    terms_type: ClassVar[type[Any]] = GuaranteeTerms
    evidence_type: ClassVar[type[Evidence]] = GuaranteeEvidence

    def _validate(self) -> None:
        if not callable(self.trials):
            raise InvalidArgument.of("trials", "be callable as (replicates, rng)", self.trials)
        object.__setattr__(self, "beta", closed_probability(self.beta, "beta"))
        if self.beta == 1.0:
            raise InvalidArgument.of("beta", "be less than 1", self.beta)
        if self.slack is not None:
            object.__setattr__(self, "slack", positive(self.slack, "slack"))

    @property
    def subject(self) -> Any:
        """The trials."""
        return self.trials

    @property
    def summary(self) -> str:
        """The claim in a few symbols."""
        return f"holds with probability >= {1 - self.beta:.6g}"

    def terms(self) -> GuaranteeTerms:
        """The numbers of the claim."""
        default = min(max(0.01, self.beta / 4), (1 - self.beta) / 2)
        return GuaranteeTerms(self.beta, default if self.slack is None else self.slack)

    def nothing(self, failure: str, cause: str = "error") -> GuaranteeEvidence:
        """Evidence of a check that observed nothing."""
        return GuaranteeEvidence(0, "simulation", 0, failure=failure)

    def gather(self, allowance: Allowance) -> GuaranteeEvidence:
        """Draw trials until a look decides."""
        budget, significance, stream = allowance.budget, allowance.significance, allowance.stream
        size = min(_MOST_PROBED, budget // _PROBED_SHARE)
        spent = PROBED_CALLS * size
        plan = planned_looks(budget - spent)
        looks: list[Look] = []
        trials = failures = 0
        try:
            if size:
                probed(lambda child: self._held(size, child), stream.child(_PROBE), "trials()")
            for index, until in enumerate(plan):
                failures += self._failures(until - trials, stream.child(_LOOK, index))
                trials = until
                looks.append(Look(trials, failures))
                evidence = GuaranteeEvidence(spent + trials, "simulation", len(plan), tuple(looks))
                if self.decide(self.terms(), evidence, significance).verdict is not Verdict.INCONCLUSIVE:
                    break
            return evidence
        except Unusable as failure:
            return GuaranteeEvidence(spent + trials, "simulation", len(plan), tuple(looks), failure=str(failure))

    @staticmethod
    def decide(terms: GuaranteeTerms, evidence: GuaranteeEvidence, significance: float) -> UtilityJudgment:
        """Judge the looks in their order; the first one that decides counts."""
        judgement = UtilityJudgment(Verdict.INCONCLUSIVE, "none", "nothing was tried")
        for index, look in enumerate(evidence.looks):
            judgement = _judge_look(terms, look, look_share(index, evidence.planned, significance))
            if judgement.verdict is not Verdict.INCONCLUSIVE:
                return judgement
        return judgement

    def _failures(self, count: int, stream: Stream) -> int:
        total = 0
        for index, start in enumerate(range(0, count, BLOCK_REPLICATES)):
            size = min(BLOCK_REPLICATES, count - start)
            total += size - int(self._held(size, stream.child(index)).sum())
        return total

    def _held(self, size: int, stream: Stream) -> np.ndarray:
        """Whether the guarantee held, in so many trials of one call."""
        values = draw_array(self.trials, (), size, stream, "trials()")
        if values.dtype.kind != "b" and not np.isin(values, (0, 1)).all():
            raise Unusable("trials() returned numbers where True or False was due")
        return values.astype(bool)


def planned_looks(budget: int) -> list[int]:
    """Numbers of trials at which the guarantee is looked at; the last one is the budget."""
    looks = []
    until = _FIRST_LOOK
    while until < budget:
        looks.append(until)
        until *= 2
    return [*looks, budget]


def look_share(index: int, planned: int, significance: float) -> float:
    """Significance of one look: half for the last one planned, the rest shared equally by those before it."""
    if planned == 1:
        return significance
    return significance * (_LAST_SHARE if index == planned - 1 else (1 - _LAST_SHARE) / (planned - 1))


def _judge_look(terms: GuaranteeTerms, look: Look, share: float) -> UtilityJudgment:
    lower = proportion_lower_bound(look.failures, look.trials, share)
    upper = proportion_upper_bound(look.failures, look.trials, share)
    found = (Interval("failure probability", lower, upper),)
    counted = f"{look.failures} failures in {look.trials} trials"
    if lower > terms.beta:
        reason = f"{counted}: the failure probability is at least {lower:.4g}, claimed {terms.beta:g}"
        return UtilityJudgment(Verdict.FAIL, "statistical", f"{reason} (error probability {share:.2g})", found)
    allowed = terms.beta + terms.slack
    if upper <= allowed:
        reason = f"{counted}: the failure probability is at most {upper:.4g}, within {terms.beta:g} + {terms.slack:g}"
        return UtilityJudgment(Verdict.PASS, "statistical", reason, found)
    reason = f"not refuted, but {counted} allow a failure probability up to {upper:.4g}, beyond {allowed:.4g}"
    return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)


def check_guarantee(
    trials: Callable[..., Any],
    beta: float,
    *,
    slack: float | None = None,
    source: str = "",
    statement: str = "",
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
) -> UtilityResult:
    """Check a guarantee that holds with probability at least 1 - beta.

    Parameters
    ----------
    trials, beta, slack, source, statement, expected
        See `audit.GuaranteeCheck`.
    budget : int >= 2
        Trials in all.
    name, significance, seed, timeout
        As for `audit.check_inequality`.

    Returns
    -------
    UtilityResult

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    result: UtilityResult = checked(GuaranteeCheck, locals())
    return result
