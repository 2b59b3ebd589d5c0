"""Look at a claim about Renyi divergences by the divergence itself, on cells of the score that training outputs chose.

The points (epsilon, delta) that such a claim implies are loose: Gaussian noise may exceed its rho by a fifth, and keep
them all. For every g >= 0 and order a > 1, Hoelder's inequality gives

    D_a(P, Q) >= (a log E_P[g] - (a - 1) log E_Q[g^(a / (a - 1))]) / (a - 1),

and at a = 1, D_1(P, Q) >= E_P[f] - log E_Q[e^f] (Donsker & Varadhan 1983). Both are equalities at g = (P/Q)^(a - 1) and
f = log(P/Q). Here g and f have one value in each cell, learned from outputs that are not used again, so that two means
of bounded variables, each bounded by bets, bound the divergence in finite samples.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from audit import Verdict
from audit.api import (
    Case,
    EventPair,
    Finding,
    Judgment,
    Outputs,
    Session,
    Stream,
    Way,
    bounds,
    claims,
    independence,
    laws,
    leave_open,
    text,
    validate,
    view,
)

_TAILS = (0.45, 0.35, 0.25, 0.17, 0.1, 0.05, 0.02, 0.006, 0.002)  # shares of the scores beyond the edges of the cells
_FIRST_RUNS = 400_000  # that choose order and direction, both datasets together
_MOST_RUNS = 800_000  # that test them
_LEVEL = 1e-4  # at which the first ones have to refute the claim

_CELLS = 2 * len(_TAILS) + 1
Cells = Annotated[tuple[validate.Natural, ...], validate.Limits(shortest=_CELLS, longest=_CELLS)]


def renyi_lower_bound(learned: np.ndarray, counts: np.ndarray, order: float, significance: float) -> float:
    """Return a lower confidence bound of a Renyi divergence; too high with probability <= `significance`.

    Parameters
    ----------
    learned, counts : array of int, shape (2, cells)
        How often each cell came, on the dataset whose law stands in the numerator, then on the other one: of outputs
        that choose the function of the cells, and of those that test it.
    order : float >= 1
        1 is the Kullback-Leibler divergence.
    significance : float
        Probability over the outputs that are counted, for every law and every number of them.
    """
    shares = (learned + 0.5) / (learned + 0.5).sum(axis=1, keepdims=True)
    ratios = np.log(shares[0] / shares[1])
    if not (np.ptp(ratios) > 0 and counts.sum(axis=1).all() and learned.sum(axis=1).all()):
        return 0.0
    largest = float(ratios.max())
    powers = np.exp(order * (ratios - largest))  # g^(a / (a - 1)) or e^f; scaled, as g is, so that the largest is 1

    def bound_mean(values: np.ndarray, side: int) -> bounds.MeanSample:
        return bounds.summarize_counts(values, learned[side], counts[side], significance / 2)

    paid = order * largest + math.log(bound_mean(powers, 1).upper_bound(significance / 2))
    if order == 1:
        return max(0.0, bound_mean(ratios, 0).lower_bound(significance / 2) - paid)
    gain = bound_mean(np.exp((order - 1) * (ratios - largest)), 0).lower_bound(significance / 2)
    if gain <= 0:
        return 0.0
    return max(0.0, order * largest + (order * math.log(gain)) / (order - 1) - paid)


@dataclass(frozen=True)
class DivergenceTest(Way):
    """Hold a test of a Renyi divergence, on the pair that was chosen on training outputs."""

    pair: int
    order: Annotated[float, validate.Limits(least=1)]
    direction: laws.Direction  # the dataset whose law stands in the numerator
    plus: str  # the upper cells in words
    minus: str  # the lower cells
    learned: tuple[Cells, Cells]  # how often each cell came on left and right, from low to high scores, beforehand
    counted: tuple[Cells, Cells]  # the same of the outputs that test
    calls: independence.CallStatistics  # what they show of dependence, by the upper and the lower cells
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})

    way: ClassVar[str] = "divergence"
    spends: ClassVar[str] = "divergence"
    is_witness: ClassVar[bool] = True

    @property
    def counts(self) -> bounds.GameCounts:
        """The counts of the upper and of the lower cells, beyond those edges that told most beforehand."""
        return _count_beyond(self.counted, _find_telling(self.learned))

    @property
    def sample_size(self) -> int:
        """The outputs that chose, and those that tested."""
        return int(np.sum(self.learned) + np.sum(self.counted))

    def lower_bound(self, significance: float) -> float:
        """Return the bound of the divergence; the counts are divided by the design effect of their calls."""
        effect = self.calls.design_effect(0.0, significance)
        turned = slice(None, None, 1 if self.direction == "left" else -1)
        counts = np.floor(np.array(self.counted) / effect).astype(int)
        return renyi_lower_bound(np.array(self.learned)[turned], counts[turned], self.order, significance)

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the bound exceeds the claimed divergence; else INCONCLUSIVE: it takes the game's place."""
        claim = case.terms.claim
        if (
            case.evidence.is_dependent
            or not isinstance(claim, claims.DivergenceClaim)
            or self.order not in claim.orders
        ):
            return Finding()  # of a larger order than is claimed, nothing follows
        if (dependence := self.calls.explain_dependence()) is not None:
            return Finding(obstacle=leave_open(dependence))
        lower, claimed = self.lower_bound(case.significance), claim.divergence_at(self.order)
        other = laws.DIRECTIONS[1 - laws.DIRECTIONS.index(self.direction)]
        named = "Kullback-Leibler divergence" if self.order == 1 else f"Renyi divergence of order {self.order:g}"
        found = f"the {named} of the output's law on {self.direction} from that on {other} is >= {lower:.4g}"
        if lower <= claimed:
            allowed = f"{claim.short} allows {claimed:.4g}, which earlier outputs exceeded: use a larger budget"
            return Finding(obstacle=leave_open(f"not refuted: {found}, {allowed}"))
        reason = f"{found} in {self.counts.runs:,} outputs: {claim.short} allows {claimed:.4g}"
        return Finding(Judgment(Verdict.FAIL, "outputs", f"{reason} (error probability {case.significance:.2g})"))

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield where it counts other outputs than its calls, or is of an order that the claim does not bound."""
        if self.order not in getattr(claims.claim_of(record["claim"]), "orders", ()):
            yield f"its test of the divergence is of order {self.order:g}, which the claim does not bound"
        if not self.calls.agree_with(self.counts):
            yield "its test of the divergence counts other outputs than its calls"

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[view.Part]:
        """Yield the counts of the cells."""
        rows = [
            (text.count(at + 1), *map(text.count, sides)) for at, sides in enumerate(zip(*way["counted"], strict=True))
        ]
        title = f"Cells of the score on pair {way['pair']}, from low to high, counted on fresh outputs"
        yield view.Part(title, head=("cell", "left", "right"), rows=rows)


def test_divergence(session: Session, training: Any) -> DivergenceTest | None:
    """Return the test of the order and the direction in which outputs exceed the claim; None where they do not.

    The training outputs fitted the score, which may flatter it: fresh ones decide whether there is a test, and which.
    """
    claim, choice = session.terms.claim, training.choice
    if not isinstance(claim, claims.DivergenceClaim) or choice is None:
        return None
    if choice.events.estimated_bound > choice.point.epsilon:  # one point refutes it
        return None
    sides = training.drawn[choice.pair]
    pairs = _divide(choice.events, sides)
    if _find_excess(claim, np.array(_count_cells(pairs, sides)), 0.5) is None:
        return None
    stream, size = session.allowance.stream, training.split.call
    few, runs = _divide_runs(session, choice.runs)
    first = session.play(choice.pair, pairs, (few,), stream.child(Stream.DIVERGENCE, 0), size)
    learned = _read_cells(first.games)
    if (worst := _find_excess(claim, np.array(learned), _LEVEL)) is None:
        return None
    last = (min(runs, _MOST_RUNS),)
    played = session.play(choice.pair, pairs, last, stream.child(Stream.DIVERGENCE, 1), size)
    telling = _find_telling(learned)
    events, (_, calls) = pairs[telling], played.games[telling]
    return DivergenceTest(choice.pair, *worst, *events.describe(), learned, _read_cells(played.games), calls, events)


def _divide_runs(session: Session, runs: int) -> tuple[int, int]:
    """Return the runs that choose a test, and those left for it: the budget holds both."""
    spare = max(0, 2 * session.allowance.budget - session.samples - runs)
    few = min(runs, _FIRST_RUNS, max(spare, runs // 4))
    return few, min(runs, runs + spare - few)


def _divide(events: EventPair, sides: Sequence[Outputs]) -> list[EventPair]:
    """Return nested pairs of events, the widest first; between each and the next lie two cells of the score."""
    scores = np.concatenate([events.scores(side) for side in sides])
    scores = scores[~np.isnan(scores)]
    uppers, lowers = np.quantile(scores, 1 - np.array(_TAILS)), np.quantile(scores, _TAILS)
    lowers = np.minimum(lowers, np.nextafter(uppers[0], -np.inf))  # apart, where many scores are equal
    return [
        replace(events, thresholds=replace(events.thresholds, upper=float(upper), lower=float(lower)))
        for upper, lower in zip(uppers, lowers, strict=True)
    ]


def _count_cells(pairs: Sequence[EventPair], sides: Sequence[Outputs]) -> tuple[list[int], list[int]]:
    counted = [[pair.guess(side) for pair in pairs] for side in sides]
    left, right = ([(int(np.sum(g == 1)), int(np.sum(g == -1)), int(np.sum(g == 0))) for g in side] for side in counted)
    return _split(left), _split(right)


def _split(nested: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return how often each cell came, from low to high scores, by how often each nested pair of events did."""
    plus, minus, abstained = zip(*nested, strict=True)
    above = [wide - narrow for wide, narrow in itertools.pairwise((*plus, 0))]
    below = [wide - narrow for wide, narrow in itertools.pairwise((*minus, 0))]
    return [*below[::-1], abstained[0], *above]


def _count_beyond(cells: tuple[Cells, Cells], edge: int) -> bounds.GameCounts:
    """Return the counts of a nested pair of events."""
    below, above = len(_TAILS) - edge, len(_TAILS) + 1 + edge
    left, right = ((sum(side[above:]), sum(side[:below]), sum(side[below:above])) for side in cells)
    return bounds.GameCounts(*left, *right)


def _find_telling(learned: tuple[Cells, Cells]) -> int:
    """Return the nested pair of events whose guesses are right most often more than wrong."""
    games = [_count_beyond(learned, edge) for edge in range(len(_TAILS))]
    return max(range(len(games)), key=lambda edge: abs(games[edge].correct - games[edge].wrong))


def _read_cells(played: Sequence[tuple[bounds.GameCounts, independence.CallStatistics]]) -> tuple[Cells, Cells]:
    games = [counts for counts, _ in played]
    left = _split([(game.left_plus, game.left_minus, game.left_abstain) for game in games])
    return tuple(left), tuple(_split([(game.right_plus, game.right_minus, game.right_abstain) for game in games]))


def _find_excess(claim: claims.DivergenceClaim, cells: np.ndarray, level: float) -> tuple[float, laws.Direction] | None:
    """Return the order and the direction whose bound exceeds the claim by the largest share; None if none does."""
    excess = {
        (order, direction): renyi_lower_bound(turned, turned, order, level) - claim.divergence_at(order)
        for direction, turned in zip(laws.DIRECTIONS, (cells, cells[::-1]), strict=True)
        for order in claim.orders
    }
    worst = max(excess, key=lambda case: excess[case] / max(claim.divergence_at(case[0]), 1e-9), default=None)
    return worst if worst is not None and excess[worst] > 0 else None
