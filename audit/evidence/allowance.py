"""Bound the costs of a check, and state when a FAIL is certain: draws, error probabilities, seeds, time, place.

The first outputs are judged at the significance. Where they refute the claim, the check gathers evidence again, from
outputs that nothing has seen, and this evidence is judged at a level so small that both tests together refute a true
claim with the probability `confirmation`. They are independent, so that their error probabilities multiply. There may
be two looks at fresh outputs, a short one and a long one, which share the level. Evidence that cannot be drawn
again, such as a training run that is over, is judged at `confirmation` at once.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from scipy import special

from audit.defaults import DEFAULT_CONFIRMATION
from audit.execution.deadline import clock
from audit.execution.seeds import HERE, Place, Stream
from audit.statistics.guess_game import POWER
from audit.validate import Budget, Effort, integer, open_probability, read_budget
from audit.verdict import Verdict

DRAWING_SHARE, FIRST_SHARE = 0.8, 0.6  # of a time limit, for drawing; of that, for the stages before fresh outputs

CONFIRMING = 50  # child of a check's stream, for the first look at fresh outputs; the next one is for the second
LOOKS = 2  # at fresh outputs, at most
DOUBTFUL = 0.001  # level at which fresh outputs bar a PASS, although they do not confirm a FAIL
CONFIRMING_POWER = 0.99  # with which a violation that the first outputs detect with power 0.8 is confirmed


def name_key(name: str) -> int:
    """Return the number of a check's name: its seeds depend on it, and on no other check."""
    return zlib.crc32(name.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Allowance:
    """Bound the costs of one check."""

    budget: Any  # outputs per dataset of a pair, draws in all for other kinds; a name before the check has planned them
    significance: float  # probability that a true claim is suspected, and tested again on fresh outputs
    stream: Stream  # source of all seeds
    confirmation: float | None = None  # probability of a wrong FAIL; None: the significance is
    place: Place = HERE  # where blocks of outputs are drawn when they take long; the evidence does not depend on it
    enough: int | None = None  # runs of a guess game that resolve the claim; None: all that the budget has
    seconds: float | None = None  # for which outputs may be drawn, where the budget is a name
    limit: float | None = None  # seconds until all drawing ends, that of fresh outputs too
    setting: str = "timeout={:g}"  # how the user sets the time limit
    effort: Effort | None = None  # by which a check plans that has to search for its claim first

    @classmethod
    def of(
        cls,
        budget: Budget,
        significance: float,
        seed: int,
        workers: int | None = 0,
        confirmation: float | None = DEFAULT_CONFIRMATION,
    ) -> Allowance:
        """Return the allowance of a check that runs alone; raise for a value outside its admissible set."""
        return cls(
            budget=read_budget(budget),
            significance=open_probability(significance, "significance"),
            stream=Stream(integer(seed, "seed", at_least=0)),
            confirmation=None if confirmation is None else open_probability(confirmation, "confirmation"),
            place=Place(workers=workers),
        )

    def limit_time(self, timeout: float) -> Allowance:
        """Return the allowance within a time limit of a check, in seconds; a part is for other work than drawing."""
        return replace(self, limit=DRAWING_SHARE * timeout)

    @property
    def first_seconds(self) -> float:
        """Seconds for outputs before there is a suspicion that fresh ones have to confirm."""
        limit = math.inf if self.limit is None else FIRST_SHARE * min(self.limit, clock().left)
        return min(limit, math.inf if self.seconds is None else self.seconds)

    def timeout_for(self, seconds: float) -> str:
        """Return the time limit to set, in the user's words, for that many seconds of drawing at first."""
        wanted = max(1.2 * seconds / FIRST_SHARE, 2 * (self.limit or 0.0)) / DRAWING_SHARE
        return self.setting.format(float(f"{wanted:.2g}"))

    def out_of_time(self, noun: str) -> str:
        """Return the reason of a check whose drawing the limit ended: whose time it was, and a sufficient limit."""
        now, timeout = clock(), (self.limit or 0.0) / DRAWING_SHARE
        is_own = 2 * now.called < now.elapsed
        said = f"{'the audit' if is_own else noun} took longer than {timeout:g} s"
        wanted = now.planned * now.pace + (now.elapsed - now.called if is_own else 0.0)
        enough = float(f"{max(2 * timeout, 1.2 * wanted / DRAWING_SHARE):.2g}")
        took = f"{now.called:.2g} of {now.elapsed:.2g} s in its calls, which gave {now.outputs:,} outputs"
        return f"{said} ({took}): set {self.setting.format(enough)}"

    def share(self, checks: int) -> Allowance:
        """Return the allowance of each of some checks that share both probabilities equally."""
        confirmation = None if self.confirmation is None else self.confirmation / checks
        return replace(self, significance=self.significance / checks, confirmation=confirmation)


def find_confirming_level(significance: float, confirmation: float | None, spent: float = 0.0) -> float | None:
    """Return the level of one look at fresh outputs; None where the first outputs decide alone.

    `spent` is the share of the confirmation that earlier looks had.
    """
    if confirmation is None or confirmation >= significance:
        return None
    return (1 - spent) * confirmation / significance / LOOKS


def estimate_growth(significance: float, level: float) -> float:
    """Return how many times as many outputs confirm a violation as show it: at `level` with power 0.99.

    It is shown at `significance` with power 0.8. By the normal approximation, which only plans a budget.
    """
    shown = special.ndtri(POWER) - special.ndtri(significance)
    return float(max(1.0, ((special.ndtri(CONFIRMING_POWER) - special.ndtri(level)) / shown) ** 2))


def list_fresh_allowances(allowance: Allowance, level: float) -> Iterator[Allowance]:
    """Yield the budget of each look at fresh outputs: the same one, then one that surely confirms."""
    for look, times in enumerate((1.0, estimate_growth(allowance.significance, level))):
        budget, stream = math.ceil(times * allowance.budget), allowance.stream.child(CONFIRMING + look)
        yield replace(allowance, budget=budget, significance=level, confirmation=None, stream=stream)


def judge_confirmed(
    kind: Any, terms: Any, evidence: Any, significance: float, confirmation: float | None, first: Any = None
) -> Any:
    """Judge the evidence of a kind of check, unless it is judged; where it refutes the claim, fresh outputs decide."""
    first, fresh = first or kind.judge(terms, evidence, significance), evidence.confirmation
    level = find_confirming_level(significance, confirmation, evidence.spent)
    if level is None or not is_refuted(first):
        return first if fresh is None else _open(first, "fresh outputs were drawn where nothing was refuted")
    if evidence.is_final:
        return _judge_once(kind, terms, evidence, first, confirmation or level)
    if fresh is None:
        return _open(first, f"refuted at first, but no fresh outputs were drawn to confirm it: {first.reason}")
    second = kind.judge(terms, fresh, level)
    if is_refuted(second):
        both = f"confirmed on fresh draws, error probability together {significance * LOOKS * level:.2g}"
        return replace(first, reason=f"{first.reason}; {both}")
    if is_refuted(again := kind.judge(terms, fresh, DOUBTFUL)):
        return _open(again, f"refuted twice, but not for certain: {first.reason}; on fresh draws: {again.reason}")
    ended = "and fresh ones could not be drawn" if fresh.failure else "fresh ones did not"
    if said := evidence.unlike(fresh):
        return _open(second, said)
    doubt = f"the first draws seemed to refute the claim (error probability {significance:.2g}), {ended}"
    if second.verdict is Verdict.PASS:
        return replace(second, scope=(*second.scope, doubt))
    return replace(second, reason=f"{second.reason}; {doubt}")


def _judge_once(kind: Any, terms: Any, evidence: Any, first: Any, confirmation: float) -> Any:
    """Judge suspected evidence that nothing fresh can confirm: FAIL at `confirmation`, INCONCLUSIVE in doubt.

    The reason reports the first judgment at the significance beside the certain one.
    """
    if (certain := kind.judge(terms, evidence, confirmation)).verdict is Verdict.FAIL:
        return _add_found(certain, first)
    if is_refuted(doubtful := kind.judge(terms, evidence, DOUBTFUL)):
        why = f"a finished run cannot be repeated, and a FAIL needs an error probability of {confirmation:.2g}"
        return _open(_add_found(doubtful, first), f"refuted, but not for certain: {doubtful.reason}; {why}")
    said = f"refuted at the significance alone: {first.reason}"
    if doubtful.verdict is Verdict.PASS:
        return _add_found(replace(doubtful, scope=(*doubtful.scope, said)), first)
    return _add_found(replace(doubtful, reason=f"{doubtful.reason}; {said}"), first)


def _add_found(judgment: Any, first: Any) -> Any:
    told = {part.quantity for part in judgment.found}
    return replace(judgment, found=(*judgment.found, *(part for part in first.found if part.quantity not in told)))


def _open(judgment: Any, reason: str) -> Any:
    return replace(judgment, verdict=Verdict.INCONCLUSIVE, basis="none", reason=reason)


def is_refuted(judgment: Any) -> bool:
    """Return whether statistics refute the claim; a value computed without noise needs no second look."""
    return judgment.verdict is Verdict.FAIL and judgment.basis == "outputs"
