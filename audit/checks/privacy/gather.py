"""Gather the evidence of a privacy check: each method looks at the mechanism in one or two ways."""

from typing import Any

from audit.checks.privacy.choice import trained
from audit.checks.privacy.guess_game import certify
from audit.checks.privacy.judge import PrivacyEvidence
from audit.checks.privacy.sequential_game import play_to_the_end
from audit.checks.privacy.session import FIT, Session
from audit.checks.privacy.stated_law import UNEVALUATED, compare_with_law
from audit.claims import Point
from audit.game.drawing import Stage, carry_out


def gather(session: Session) -> PrivacyEvidence:
    """Probe, then look in the ways of the session's method."""
    session.open()
    if session.method == "sequential":
        return _evidence(session, [play_to_the_end(session)], session.terms.claim.point)
    return carry_out(_at_fixed_budget(session))


def _at_fixed_budget(session: Session) -> Stage[PrivacyEvidence]:
    """Train, compare with the stated law, certify."""
    training = yield from trained(session)
    choice, claim, mechanism = training.choice, session.terms.claim, session.subject.mechanism
    point, failure, ways = claim.point if choice is None else choice.point, None, list[Any]()
    if session.is_stated:
        stream, level = session.allowance.stream.child(FIT), session.allowance.significance
        try:
            ways.append(compare_with_law(mechanism, claim, session.pairs, training.drawn, point, stream, level))
        except Exception as error:  # the statement is the mechanism's code; what cannot be evaluated bars a PASS
            failure = f"{UNEVALUATED}: {type(error).__name__}: {error}"
    if choice is not None:
        ways.append((yield from certify(session, training, choice)))
    return _evidence(session, ways, point, failure)


def _evidence(session: Session, ways: list[Any], point: Point, failure: str | None = None) -> PrivacyEvidence:
    return PrivacyEvidence(
        session.samples,
        tuple(ways),
        session.noted(),
        tested=point if session.terms.claim.is_curve else None,
        need=session.need,
        one_by_one=session.subject.one_by_one,
        failure=failure,
    )
