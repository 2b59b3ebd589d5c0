"""Check a guarantee "with probability at least 1 - beta" by exact binomial tests at a few looks, until decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from audit import Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    InvalidArgument,
    Judgment,
    StatedCheck,
    Stream,
    bounds,
    conclude,
    defaults,
    document_from,
    errors,
    leave_open,
    run_alone,
    validate,
)
from audit.extensions.utility.estimates import estimate_proportion
from audit.extensions.utility.means import PROBED_CALLS, draw_array, draw_blocks, probe_calls

_FIRST_LOOK = 16  # trials
_GROWTH = 1.25  # factor of the trials from look to look; more looks end sooner, and each has less significance
_MOST_PROBED, _PROBED_SHARE = 32, 200  # trials per call of the probe: at most this many, and one in 200 of the budget
_PROBE, _LOOK = 0, 1  # children of the check's stream
_LAST_SHARE = 0.5  # of the significance, for the look at the whole budget; the others share the rest


@dataclass(frozen=True)
class GuaranteeTerms:
    beta: float
    slack: float


@dataclass(frozen=True)
class Look:
    """The counts at one look."""

    trials: int  # so far
    failures: int


@dataclass(frozen=True)
class GuaranteeEvidence(Evidence):
    """The looks that were taken, and how many were planned."""

    planned: int = 0
    looks: tuple[Look, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GuaranteeCheck(StatedCheck):
    """The claim that a guarantee holds with probability at least 1 - beta over learner and data.

    FAIL if the failure probability is certainly above beta; PASS if it is certainly at most beta + slack. From look
    to look a quarter more trials are drawn, until one of the two is certain or the budget is spent.

    Parameters
    ----------
    trials : callable
        `(replicates, rng) -> bool array, shape (replicates,)`: whether the guarantee held in each of `replicates`
        independent runs.
    beta : float in [0, 1)
        Claimed failure probability.
    slack : float > 0, optional
        Excess failure probability that a PASS may leave unexcluded; max(0.01, beta / 4) unless given, but at most
        (1 - beta) / 2.
    budget : int >= 2, optional
        Trials drawn at most; None takes the run's budget.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
    """

    trials: Callable[..., Any]
    beta: float
    slack: float | None = None

    kind: ClassVar[str] = "guarantee"
    unit: ClassVar[str] = "trials"
    callables: ClassVar = {"trials": "(replicates, rng)"}
    terms_type: ClassVar[type[Any]] = GuaranteeTerms
    evidence_type: ClassVar[type[Evidence]] = GuaranteeEvidence

    def _validate(self) -> None:
        self._convert(beta=validate.closed_probability, slack=validate.positive)
        if self.beta == 1.0:
            raise InvalidArgument.of("beta", "be less than 1", self.beta)

    @property
    def summary(self) -> str:
        return f"holds with probability >= {1 - self.terms().beta:.6g}"

    def terms(self) -> GuaranteeTerms:
        slack = min(max(0.01, self.beta / 4), (1 - self.beta) / 2) if self.slack is None else self.slack
        return GuaranteeTerms(self.beta, slack)

    def gather(self, allowance: Allowance) -> GuaranteeEvidence:
        """Draw trials until a look decides. Those of the probe count, but for the repetition of its first call."""
        size = min(_MOST_PROBED, allowance.budget // _PROBED_SHARE)
        plan = planned_looks(allowance.budget - size)
        evidence = GuaranteeEvidence(PROBED_CALLS * size, len(plan), uses="simulation")
        try:
            drawn = np.empty(0, bool)
            if size:
                probe = allowance.stream.child(_PROBE)
                drawn = probe_calls(lambda child: self._draw_failures(size, child), probe, "trials()")
            for index, until in enumerate(plan):
                if until > len(drawn):
                    more = draw_blocks(self._draw_failures, until - len(drawn), allowance.stream.child(_LOOK, index))
                    drawn = np.concatenate([drawn, more])
                looks = (*evidence.looks, Look(until, int(drawn[:until].sum())))
                evidence = replace(evidence, samples=size + len(drawn), looks=looks)
                if self.decide(self.terms(), evidence, allowance.significance).verdict is not Verdict.INCONCLUSIVE:
                    break
            return evidence
        except errors.Unusable as failure:
            return replace(evidence, failure=str(failure))

    def estimate(self, evidence: GuaranteeEvidence, significance: float) -> Iterator[str]:
        """Yield a line with the intervals at the last look."""
        for look in evidence.looks[-1:]:
            yield from estimate_proportion(look.failures, look.trials, significance)

    def _draw_failures(self, count: int, stream: Stream) -> np.ndarray:
        values = draw_array(self.trials, count=count, stream=stream, what="trials()")
        if values.dtype.kind != "b" and not np.isin(values, (0, 1)).all():
            raise errors.Unusable("trials() must return True or False, got numbers")
        return ~values.astype(bool)

    @staticmethod
    def decide(terms: GuaranteeTerms, evidence: GuaranteeEvidence, significance: float) -> Judgment:
        judgment = leave_open("nothing was tried")
        for index, look in enumerate(evidence.looks):
            share = look_share(index, evidence.planned, significance)
            lower = bounds.proportion_lower_bound(look.failures, look.trials, share)
            upper = bounds.proportion_upper_bound(look.failures, look.trials, share)
            counted, allowed = f"{look.failures} failures in {look.trials} trials", terms.beta + terms.slack
            least = f"{counted}: the failure probability is at least {lower:.4g}, claimed {terms.beta:g}"
            loose = f"not refuted, but {counted} allow a failure probability up to {upper:.4g}, beyond {allowed:.4g}"
            kept = f"{counted}: the failure probability is at most {upper:.4g}, within {terms.beta:g} + {terms.slack:g}"
            judgment = conclude(
                "outputs",
                (Interval("failure probability", lower, upper),),
                broken=f"{least} (error probability {share:.2g})" if lower > terms.beta else None,
                why_open=loose if upper > allowed else None,
                kept=kept,
            )
            if judgment.verdict is not Verdict.INCONCLUSIVE:
                break
        return judgment


def planned_looks(budget: int) -> list[int]:
    """Return the numbers of trials at which the guarantee is tested; the last one is the budget."""
    looks, following = [], _FIRST_LOOK
    while following < budget:
        looks.append(following)
        following = int(_GROWTH * following)
    return [*looks, budget]


def look_share(index: int, planned: int, significance: float) -> float:
    """Return the significance of one look: half for the last one planned, the rest shared by those before it."""
    if planned == 1:
        return significance
    return significance * (_LAST_SHARE if index == planned - 1 else (1 - _LAST_SHARE) / (planned - 1))


@document_from(GuaranteeCheck)
def check_guarantee(
    trials: Callable[..., Any],
    beta: float,
    *,
    slack: float | None = None,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = defaults.DEFAULT_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Check that a guarantee holds with probability at least 1 - beta.

    Examples
    --------
    >>> from audit import check_guarantee
    >>> result = check_guarantee(lambda replicates, rng: rng.random(replicates) < 0.8, 0.05)
    >>> print(result.verdict, result.samples)  # fails in 20 % of the trials, claimed 5 %
    FAIL 576
    """
    return run_alone(
        GuaranteeCheck(
            name=name or UNNAMED, trials=trials, beta=beta, slack=slack, source=source, statement=statement,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
