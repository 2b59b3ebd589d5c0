"""Judge what a privacy check observed: a pure function from evidence to verdict, called live and by a replay."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, TypeVar

from audit.base.arguments import closed_probability, integer, nonnegative
from audit.base.forms import Limits, Nonnegative, Probability
from audit.checks.base import Evidence, Found, Judgment, undecided
from audit.checks.privacy.early_look import EARLY_SHARE, EarlyLook
from audit.checks.privacy.enumerated import Enumerated
from audit.checks.privacy.forked import ForkEvidence
from audit.checks.privacy.guess_game import GuessGame
from audit.checks.privacy.parameters import Searched
from audit.checks.privacy.sequential_game import SequentialGame
from audit.checks.privacy.stated_law import StatedLaw
from audit.checks.privacy.told import Ledger, Told
from audit.checks.privacy.way import CONSTANT, DEPENDENCE, Case, PrivacyTerms
from audit.claims import Point
from audit.game.resolution import blind_spot

W = TypeVar("W")


@dataclass(frozen=True)
class PrivacyEvidence(Evidence):
    """Hold all that one privacy check observed; `samples` counts both datasets and all stages together."""

    ways: tuple[
        StatedLaw | EarlyLook | GuessGame | SequentialGame | Enumerated | Searched | Ledger | Told | ForkEvidence, ...
    ] = ()  # at most one of each
    anomalies: Mapping[str, int] = field(default_factory=dict)
    tested: Point | None = None  # None: the claim's own
    # Outputs per dataset that would resolve the claim, where the budget does not; and seconds, where the time did not
    need: Annotated[tuple[Nonnegative, ...], Limits(longest=2)] = ()
    found_pair: tuple[Any, Any] | None = field(default=None, compare=False, metadata={"recorded": False})
    one_by_one: bool = field(default=False, compare=False, metadata={"recorded": False})  # one output in each call

    def __post_init__(self) -> None:
        super().__post_init__()
        for count in self.anomalies.values():
            integer(count, "anomalies", at_least=0)
        if self.tested is not None:
            nonnegative(self.tested.epsilon, "epsilon")
            closed_probability(self.tested.delta, "delta")

    def by(self, way: type[W]) -> W | None:
        """Return what one way of looking observed; None where the check did not look in that way."""
        return next((found for found in self.ways if isinstance(found, way)), None)

    @property
    def game(self) -> GuessGame | None:
        """The guess game at a fixed budget, if one was played."""
        return self.by(GuessGame)

    @property
    def searched(self) -> Searched | None:
        """The end of a search over datasets or parameters, if there was one."""
        return self.by(Searched)

    @property
    def is_final(self) -> bool:
        """True if an early look refutes the claim: it is judged at a share of the confirmation at once."""
        return (early := self.by(EarlyLook)) is not None and early.refutes

    @property
    def spent(self) -> float:
        """Share of the confirmation that an early look had."""
        return 0.0 if self.by(EarlyLook) is None else EARLY_SHARE

    @property
    def is_dependent(self) -> bool:
        """True if the runs were found not to be independent, so that no game counts."""
        return any(kind in self.anomalies for kind in DEPENDENCE)


@dataclass(frozen=True)
class PrivacyJudgment(Judgment):
    """Hold a verdict, its reason, and the numbers that it rests on; `PrivacyResult` says what they mean."""

    epsilon_lower_bound: Nonnegative
    exact_epsilon: Nonnegative | None
    resolution: Nonnegative
    blind_spot: Probability
    found: Found = field(default=(), kw_only=True, metadata={"recorded": False})


def judge(terms: PrivacyTerms, evidence: PrivacyEvidence, significance: float) -> PrivacyJudgment:
    """Judge the evidence; with independent runs the games fail a true claim with probability <= `significance`."""
    case, ways = Case(terms, evidence, significance), evidence.ways
    decided, upper = _decision(case), (way.upper_bound(case) for way in ways)
    point = case.point  # raises for one that the claim does not imply
    return PrivacyJudgment(
        decided.verdict,
        decided.basis,
        decided.reason,
        exact_epsilon=max((bound for bound in upper if bound is not None), default=None),
        epsilon_lower_bound=max((way.lower_bound(case) for way in ways), default=0.0),
        resolution=min((way.resolution(case, point) for way in ways), default=math.inf),
        blind_spot=blind_spot(max((way.trained_on for way in ways), default=0)),
    )


def _decision(case: Case) -> Judgment:
    """Ask all ways one question after the other; the worst answer to the first that is answered decides."""
    ways = case.evidence.ways
    questions: tuple[Iterable[Judgment | None], ...] = (
        (way.refutation(case) for way in ways),
        chain([case.obstacle()], (way.obstacle(case) for way in ways)),
        (way.exact(case) for way in ways),
        (way.statistical(case) for way in ways),
    )
    for answers in questions:
        if found := [answer for answer in answers if answer is not None]:
            return max(found, key=lambda answer: answer.verdict.severity)
    return undecided(CONSTANT if "constant" in case.evidence.anomalies else "nothing was tested")
