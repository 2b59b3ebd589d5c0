"""The method `Following` of privacy checks: follow the noise of the code, and confirm it by few outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, ClassVar

from audit import PrivacyCheck
from audit.api import Allowance, Method, PrivacyEvidence, Session, Stream, laws, sandbox, validate
from audit.extensions.following.evidence import FEWEST, LEFT_OUT, SLACK, Bound, Followed, is_kept, plan_runs

_CERTIFYING, _SHORTEST = 0.5, 10.0  # share of an audit's usual time; seconds that there are at least
_TRIAL = 0.1  # share of that time for a trial before it
_USUAL_SECONDS = 4.0  # of an audit whose outputs take no time
_AROUND = 120  # calls that train, and find out whether a shift holds
_SLOW = 1e-3  # seconds of a call, above which few are made in fresh processes
_FEWEST = 5_000  # outputs per dataset: fewer take less time than to follow the noise


@dataclass(frozen=True, kw_only=True)
class Following(Method):
    """Follow the noise from the generator to the output: an upper confidence bound of the privacy of code.

    `check_privacy(..., method=Following(...))`; `method="follow"` is short for `method=Following()`, and
    `method="auto"` tries it first, for a small part of its usual time. The claim PASSes where the noise was followed,
    costs no more than is claimed, and a bound of delta' is small. The guess game decides where it was not followed.

    Parameters
    ----------
    left_out : float in (0, 1), default 0.05
        The largest delta', the upper confidence bound of the share of runs that are not like the others. At the
        default, calls too slow for it pass with up to 0.2, which is printed, where one shift holds in all runs.
    time_limit : float > 0, default 60
        Seconds for each pair.

    Raises
    ------
    InvalidArgument
        For an argument outside its admissible set.

    References
    ----------
    Zhang & Kifer (2017), LightDP: randomness alignments.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> def total(data, rng):
    ...     return data.sum() + rng.laplace(scale=2.0)
    >>> pairs = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
    >>> result = audit.check_privacy(audit.per_call(total), audit.PrivacyClaim(0.5), pairs, method="follow")
    >>> result.verdict, result.basis
    (<Verdict.PASS: 'PASS'>, 'noise followed')
    """

    left_out: float = LEFT_OUT
    time_limit: float = 60.0

    way: ClassVar[str] = "follow"
    plays: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "left_out", validate.open_probability(self.left_out, "left_out"))
        object.__setattr__(self, "time_limit", validate.positive(self.time_limit, "time_limit"))

    @property
    def words(self) -> str:
        return "followed noise, and a guess game beside it"

    def gather(self, check: PrivacyCheck, allowance: Allowance) -> PrivacyEvidence:
        """Return the bounds of all pairs, and a guess game."""
        return check.gather_by_game(allowance, (self,))

    def look_first(self, session: Session) -> Followed | None:
        """Return the bounds of all pairs, found in a copy of this process, whose state the games do not see."""
        allowance, pairs = session.allowance, session.pairs
        if not session.is_asked and not session.cost and allowance.budget < _FEWEST:
            return None
        from audit.extensions.following.engine import Search  # a replay does without; copies of this process have it

        usual = min(allowance.first_seconds, _USUAL_SECONDS + 2 * allowance.budget * session.cost) / len(pairs)
        certifying = max(_SHORTEST, _CERTIFYING * usual)
        if allowance.limit is not None:
            certifying = min(certifying, 0.3 * allowance.limit)
        trial = _TRIAL * certifying
        if session.is_asked:
            certifying = trial = self.time_limit
        followed: Followed | None = sandbox.call_in_fork(
            lambda: self._follow_pairs(Search, session, certifying, trial), 2 + 2 * len(pairs) * certifying
        )
        if followed is None:
            unseen = Bound(reason="following took too long, or ended its process")
            return Followed((unseen,) * len(pairs), None, self.left_out)
        return followed

    def _follow_pairs(self, kind: Any, session: Session, seconds: float, trial: float) -> Followed:
        """Follow each pair; one without a bound ends it."""
        claim, allowance = session.terms.claim, session.allowance
        point, level = claim.point, allowance.significance / len(session.pairs)
        plans = plan_runs(claim, allowance.significance, len(session.pairs), self.left_out)
        runs, is_few = _plan_few(session, plans, seconds)
        is_pure = claim.is_curve or not point.delta
        bounds, ledgers = list[Bound](), []
        for number, pair in enumerate(session.pairs):
            if bounds and bounds[-1].reason:
                bounds.append(Bound(reason=bounds[-1].reason))
                continue
            search = kind(
                session.subject.mechanism, pair, runs,
                int(allowance.stream.child(Stream.FIRST, number).seed().generate_state(1)[0]), seconds, trial=trial,
                epsilon=None if claim.is_curve else point.epsilon, confidence=1 - level,
                fresh=1 if session.pace > _SLOW else 3, plans=plans, is_few=is_few,
                is_kept=partial(is_kept, claim) if is_pure else lambda epsilon, mu: True,
            )  # fmt: skip
            bounds.append(search.run())
            ledgers.append((search.spent, search.write_ledger()))
        return Followed(tuple(bounds), max(ledgers, key=itemgetter(0))[1], self.left_out)

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the cost of a traced run; NaN where it is not followed."""
        from audit.extensions.following.engine import estimate_loss

        cost, mu = estimate_loss(mechanism, pair)
        gaussian = _weigh_gaussian(mu, delta) if 0 < mu < math.inf else mu
        return (cost + gaussian) / (1 + SLACK)  # at most the claim, where it is the claim but for rounding


@lru_cache(maxsize=256)  # a search asks for the same few again and again
def _weigh_gaussian(mu: float, delta: float) -> float:
    return float(laws.GaussianLoss(mu).epsilon(delta))


def _plan_few(session: Session, plans: Mapping[str, int], seconds: float) -> tuple[int, bool]:
    """Return the runs in a direction, and whether calls are too slow for as many as usual, and for pilots."""
    calls, usual = seconds / session.pace if session.pace > _SLOW else math.inf, plans["constant"]
    if calls >= 4 * usual + _AROUND or not session.subject.calls_share_a_copy:
        return usual, False
    few = min(usual, max(plans[FEWEST], int(calls / 4) - 1))
    longest = max(seconds, session.allowance.first_seconds / len(session.pairs))
    return (few, True) if 4 * (few + 1) * session.pace <= longest else (usual, False)
