"""Plan the outputs of a privacy check: as many as resolve its claim, or as many as its time allows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from audit.checks.allowance import Allowance
from audit.checks.privacy.scope import claimed
from audit.checks.privacy.way import PrivacyTerms
from audit.game.fixed_budget import Split
from audit.game.plants import LARGEST, training_for
from audit.game.resolution import runs_to_resolve, steps_to_resolve
from audit.game.tuning import FEWEST_SEEN, SCAN_MOST, SCAN_SHARE
from audit.subjects import BadLength, Block, Stream, Subject, SubjectFailed

MOST_BUDGET = 10**9  # outputs per dataset: far beyond what any time limit allows
_FEWEST_OUTPUTS = 500  # per dataset and pair: with fewer, nothing is learned however slow a mechanism is
_SHORTEST_TIMED, _MOST_TIMED, _LONGER = 0.02, 4096, 4  # seconds and outputs of a call that shows the cost; growth
_SLOW_CALLS, _TIMING_SHARE = 3, 0.1  # calls that show that the time is too short; share of it to find that out


def needed(terms: PrivacyTerms, significance: float, pairs: int) -> tuple[int, int]:
    """Return the outputs per dataset, and the certifying runs among them, that resolve a claim at all its points."""
    level = significance * (1 - SCAN_SHARE)  # of the simple events
    runs = [_runs(terms, point, level) for point in terms.claim.points]
    most = max(runs)
    train = [training_for(claimed(each, FEWEST_SEEN, most, significance), 1, LARGEST) for each in terms.claim.points]
    return min(MOST_BUDGET, max(Split.budget_for(most, pairs), math.ceil(pairs * max(train) / SCAN_MOST))), most


def needed_steps(terms: PrivacyTerms, significance: float) -> int:
    """Return the outputs per dataset that resolve a claim in a sequential game."""
    (epsilon, delta), goal = terms.claim.point, terms.allowed_epsilon(terms.claim.point)
    return 1 + (steps_to_resolve(epsilon, goal, delta, significance) or MOST_BUDGET)


def _runs(terms: PrivacyTerms, point: Any, significance: float) -> int:
    epsilon, delta = point
    return runs_to_resolve(epsilon, terms.allowed_epsilon(point), delta, significance) or MOST_BUDGET


class Affordable(NamedTuple):
    """Hold what the time allows."""

    allowance: Allowance
    drawn: int  # outputs that measured the cost
    need: tuple[float, ...]  # outputs per dataset and seconds that would resolve the claim, where the time does not


def within_time(subject: Subject, pairs: Sequence[Any], allowance: Allowance, stream: Stream) -> Affordable:
    """Return the allowance that the time leaves, by the cost of an output, measured in growing calls.

    A machine under load measures a higher cost, so that the least of several slow calls counts. Evidence
    depends on timing only if the time limit is too short.
    """
    assert allowance.seconds is not None
    size, drawn, cost, spent, slow = 1, 0, math.inf, 0.0, 0
    while size <= _MOST_TIMED and slow < _SLOW_CALLS and spent <= _TIMING_SHARE * allowance.seconds:
        started = time.perf_counter()
        try:
            subject.draw(Block(pairs[0][0], size, stream.child(size, slow).digest()))
        except (SubjectFailed, BadLength):  # it will fail again in training, where it is recorded
            break
        elapsed, drawn = time.perf_counter() - started, drawn + size
        cost, spent = min(cost, elapsed / size), spent + elapsed
        if 2 * allowance.budget * cost <= allowance.seconds:
            break
        if elapsed >= _SHORTEST_TIMED:
            slow += 1
        else:
            size *= _LONGER
    cost = 0.0 if math.isinf(cost) else cost
    allowed = math.inf if cost == 0 else allowance.seconds / cost / 2
    if allowance.budget <= allowed:
        return Affordable(allowance, drawn, ())
    budget = min(allowance.budget, max(int(allowed), _FEWEST_OUTPUTS * len(pairs)))
    need = (float(allowance.budget), float(f"{2 * cost * allowance.budget:.2g}"))
    return Affordable(replace(allowance, budget=budget, enough=None), drawn, need)
