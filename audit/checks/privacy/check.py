"""A check: a claim about one mechanism, with the settings to test it; the unit that gets a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from hypothesis.strategies import SearchStrategy

from audit.base.arguments import integer, positive
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.claims import Claim, require_claim, require_neighboring

Method = Literal["auto", "fixed", "sequential", "exact"]


@dataclass(frozen=True, kw_only=True)
class PrivacyCheck:
    """A privacy claim about one mechanism, on given pairs of neighboring datasets.

    Parameters
    ----------
    name : str
        Unique within a run; `--select` matches it.
    mechanism : callable
        `(dataset, size, rng) -> array-like` whose first axis has length `size`. Optional methods:
        `law(dataset)` (an `audit.laws` law), `log_likelihood(dataset, outputs)`, `privacy_loss(left, right)`.
    claim : PrivacyClaim, GaussianClaim, TradeOffClaim, RenyiClaim or ZeroConcentratedClaim
        What is promised. All but the first imply a whole curve of (epsilon, delta): the stated law is judged on all
        of it, the guess game tests the point of it where the training outputs promise most.
    pairs : sequence of (left, right)
        Neighboring datasets; every pair is examined, the most promising one is certified.
    datasets : hypothesis SearchStrategy, optional
        In place of `pairs`: datasets (records under Local) among whose neighbors the worst pair is searched,
        shrunk, and certified on fresh outputs. The search draws beyond the budget; the result counts it.
    expected : Verdict
        PASS for a mechanism that should keep its claim; FAIL for a fault that the audit must convict, or for
        a claim known to be false. A run counts an expected FAIL as met.
    budget : int >= 2, optional
        Outputs per side; None takes the run's budget.
    method : {"auto", "fixed", "sequential", "exact"}
        "exact" judges the stated law and tests the sampler against it; "fixed" plays the guess game at a fixed
        budget; "sequential" plays it on one pair until the claim is refuted or the tolerance is reached; "auto"
        does the first two where a law is stated.
    tolerance : float > 0, optional
        A statistical PASS needs a resolution within claim + tolerance; None means max(0.05, epsilon / 4). Where the
        claim implies a curve, every point of `claim.points` must be resolved so.
    timeout : float > 0, optional
        Seconds after which the check is stopped and is INCONCLUSIVE; None takes the run's limit.
    """

    name: str
    mechanism: Any
    claim: Claim
    pairs: Sequence[tuple[Any, Any]] = ()
    datasets: Any = None
    expected: Verdict = Verdict.PASS
    budget: int | None = None
    method: Method = "auto"
    tolerance: float | None = None
    timeout: float | None = None

    kind: ClassVar[str] = "privacy"

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if not callable(self.mechanism):
            raise InvalidArgument.of("mechanism", "be callable as (dataset, size, rng)", self.mechanism)
        require_claim(self.claim)
        if not isinstance(self.expected, Verdict):
            raise InvalidArgument.of("expected", "be a Verdict", self.expected)
        if self.method not in get_args(Method):
            raise InvalidArgument.of("method", f"be one of {', '.join(get_args(Method))}", self.method)
        if self.budget is not None:
            object.__setattr__(self, "budget", integer(self.budget, "budget", at_least=2))
        for name in ("tolerance", "timeout"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive(getattr(self, name), name))
        if self.datasets is None:
            object.__setattr__(self, "pairs", _checked_pairs(self.pairs, self.claim))
        elif not isinstance(self.datasets, SearchStrategy):
            raise InvalidArgument.of("datasets", "be a Hypothesis strategy", self.datasets)
        elif self.pairs:
            raise InvalidArgument("`pairs` must be left out when `datasets` are searched")


def _checked_pairs(pairs: Any, claim: Claim) -> tuple[tuple[Any, Any], ...]:
    try:
        listed = tuple((left, right) for left, right in pairs)
    except (TypeError, ValueError):
        raise InvalidArgument.of("pairs", "be a sequence of (left, right)", pairs) from None
    if not listed:
        raise InvalidArgument("`pairs` must hold at least one pair, got none")
    for index, (left, right) in enumerate(listed):
        require_neighboring(claim.relation, left, right, f"pairs[{index}]")
    return listed
