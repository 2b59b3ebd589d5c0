"""Say FAIL only with certainty: a claim that the first outputs refute is tested again on fresh ones.

The first outputs are judged at the significance. Where they refute the claim, the check gathers evidence again, from
outputs that nothing has seen, and this evidence is judged at a level so small that both tests together refute a true
claim with the probability `confirmation`. They are independent, so that their error probabilities multiply. There may
be two looks at fresh outputs, a short one and a long one, which share the level. What cannot be drawn again, such as a
training run that is over, is judged at `confirmation` at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scipy import special

from audit.checks.allowance import Allowance
from audit.statistics.power import POWER
from audit.verdict import Verdict

CONFIRMING = 50  # child of a check's stream, for the first look at fresh outputs; the next one is for the second
LOOKS = 2  # at fresh outputs, at most
DOUBTFUL = 0.001  # level at which fresh outputs bar a PASS, although they do not confirm a FAIL
CONFIRMING_POWER = 0.99  # with which a violation that the first outputs detect with power 0.8 is confirmed


def confirming_level(significance: float, confirmation: float | None, spent: float = 0.0) -> float | None:
    """Return the level of one look at fresh outputs; None where the first outputs decide alone.

    `spent` is the share of the confirmation that earlier looks had.
    """
    if confirmation is None or confirmation >= significance:
        return None
    return (1 - spent) * confirmation / significance / LOOKS


def growth(significance: float, level: float) -> float:
    """Return how many times as many outputs confirm a violation as show it: at `level` with power 0.99.

    It is shown at `significance` with power 0.8. By the normal approximation, which only plans a budget.
    """
    shown = special.ndtri(POWER) - special.ndtri(significance)
    return float(max(1.0, ((special.ndtri(CONFIRMING_POWER) - special.ndtri(level)) / shown) ** 2))


def fresh_allowances(allowance: Allowance, level: float) -> Iterator[Allowance]:
    """Yield what each look at fresh outputs may spend: the same budget, then one that confirms for sure."""
    for look, times in enumerate((1.0, growth(allowance.significance, level))):
        budget, stream = math.ceil(times * allowance.budget), allowance.stream.child(CONFIRMING + look)
        yield replace(allowance, budget=budget, significance=level, confirmation=None, stream=stream)


def judge(
    kind: Any, terms: Any, evidence: Any, significance: float, confirmation: float | None, first: Any = None
) -> Any:
    """Judge the evidence of a kind of check, unless it is judged; where it refutes the claim, fresh outputs decide."""
    first, fresh = first or kind.judge(terms, evidence, significance), evidence.confirmation
    level = confirming_level(significance, confirmation, evidence.spent)
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
    if level < DOUBTFUL and is_refuted(again := kind.judge(terms, fresh, DOUBTFUL)):
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

    What the first judgment found at the significance is told beside what is certain.
    """
    if (certain := kind.judge(terms, evidence, confirmation)).verdict is Verdict.FAIL:
        return _with_found(certain, first)
    if is_refuted(doubtful := kind.judge(terms, evidence, DOUBTFUL)):
        why = f"what is over cannot be drawn again, and a FAIL needs an error probability of {confirmation:.2g}"
        return _open(_with_found(doubtful, first), f"refuted, but not for certain: {doubtful.reason}; {why}")
    said = f"refuted at the significance alone: {first.reason}"
    if doubtful.verdict is Verdict.PASS:
        return _with_found(replace(doubtful, scope=(*doubtful.scope, said)), first)
    return _with_found(replace(doubtful, reason=f"{doubtful.reason}; {said}"), first)


def _with_found(judgment: Any, first: Any) -> Any:
    told = {part.quantity for part in judgment.found}
    return replace(judgment, found=(*judgment.found, *(part for part in first.found if part.quantity not in told)))


def _open(judgment: Any, reason: str) -> Any:
    return replace(judgment, verdict=Verdict.INCONCLUSIVE, basis="none", reason=reason)


def is_refuted(judgment: Any) -> bool:
    """Return whether statistics refute the claim; what is computed without noise needs no second look."""
    return judgment.verdict is Verdict.FAIL and judgment.basis == "outputs"
