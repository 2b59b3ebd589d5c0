"""Record conversations that were forked on the way, and test a pure claim by what survived of them.

Before a turn each conversation that is still in an event is copied, and copies weigh less. The weight of those that
survive the last turn is an unbiased estimate, within [0, 1], of the probability of the event, whatever copies share.
Conversations opened afresh are independent. With C the weight of one that was guessed right, and W of one that was
guessed wrong, the product over n conversations on either dataset of 1 + b (e^-epsilon C - W) has a mean of at most 1
under epsilon-DP: the factors of left and of right have means 1 + u and 1 + v with u + v <= 0, and
(1 + u)(1 + v) <= 1. By Markov's inequality it reaches 1 / alpha with probability at most alpha, for every object, every
event, all copies and every bet 0 <= b < 1 that were fixed before. No law of the survivors, no normal limit is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from audit.api import (
    Case,
    Count,
    Finding,
    GameLimits,
    InvalidCertificate,
    Limits,
    Number,
    RecordedCase,
    Way,
    largest_refuted,
)

_NO_PASS = "not refuted by conversations that were forked, which never pass a claim: leave out `fork` for a PASS"


@dataclass(frozen=True)
class ForkEvidence(Way):
    """Hold what survived of conversations that were forked between turns."""

    conversations: Number  # opened on each dataset
    pair: Count
    copies: Annotated[tuple[Number, ...], Limits(shortest=1)]  # of each survivor, before each turn
    bet: Annotated[float, Limits(least=0, below=1)]
    survivors: tuple[tuple[Count, Count, Number], ...]  # guessed right, guessed wrong, in how many conversations
    guess: str  # what survives, in words

    way: ClassVar[str] = "forks"
    spends: ClassVar[str] = "forked conversations"

    def __post_init__(self) -> None:
        if sum(number for *_, number in self.survivors) > 2 * self.conversations:
            raise InvalidCertificate("`survivors` counts more conversations than were opened")
        if any(right + wrong > math.prod(self.copies) for right, wrong, _ in self.survivors):
            raise InvalidCertificate("`survivors` holds more than all copies of a conversation")

    def evidence_against(self, epsilon: float) -> float:
        """Return the logarithm of the product, which falls as epsilon grows."""
        if not self.survivors:
            return 0.0
        right, wrong, number = np.array(self.survivors, dtype=float).T
        gains = (math.exp(-epsilon) * right - wrong) / math.prod(self.copies)
        return float(number @ np.log1p(self.bet * gains))

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the product is too large for the claim, and the epsilon up to which claims are refuted."""
        if case.point.delta:
            raise InvalidCertificate("conversations that were forked test pure claims only")
        needed, refutation = -math.log(case.significance), None
        lower = largest_refuted(lambda epsilon: self.evidence_against(epsilon) >= needed)
        if self.evidence_against(case.point.epsilon) >= needed:
            refutation = case.refuted(lower, f"{self.conversations:,} forked conversations on each dataset")
        return Finding(refutation, lower_bound=lower)

    def limits(self, case: Case) -> GameLimits:
        """Return that it resolves nothing: what forks would find was not measured."""
        return GameLimits(unresolvable=_NO_PASS)

    @property
    def named_pairs(self) -> tuple[int, ...]:
        return (self.pair,)

    def contradictions(self, case: RecordedCase) -> Iterator[str]:
        """Yield that it opened more conversations than were held."""
        if 2 * self.conversations > case.evidence.samples:
            yield "opened more conversations than were held"


@dataclass(frozen=True)
class BranchingProcess:
    """Estimate what forked conversations certify, from the chances to survive each turn; answers taken as independent.

    A plan decides how much is certified, and never whether it holds.
    """

    chances: np.ndarray  # shape (2 events, 2 datasets, turns); the right guess of an event comes first

    def copies(self, start: int) -> tuple[int, ...]:
        """Return numbers of copies that keep as many conversations as survive the first `start` turns."""
        mean, alive, found, kept = self.chances.mean(axis=1), np.ones(2), list[int](), 1.0
        for turn in range(self.chances.shape[2]):
            now = float(alive.mean())
            kept = now if turn <= start else kept
            found.append(max(1, round(kept / max(1e-9, now))))
            alive = alive * found[-1] * mean[:, turn]
        return tuple(found)

    def answers(self, copies: tuple[int, ...]) -> float:
        """Return the answers of one conversation with all of its copies, on the dataset that gives more."""
        alive, total = np.ones((2, 2)), np.zeros(2)
        for turn, number in enumerate(copies):
            both = alive[0] + alive[1, ::-1]  # on the left and on the right; the first answer serves both events
            total += number * both if turn else 1.0
            alive = number * alive * self.chances[:, :, turn]
        return float(total.max())

    def moments(self, copies: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return means and mean squares of the weight of each event on each dataset, shape (2, 2)."""
        mean, square = np.ones((2, 2)), np.ones((2, 2))
        for turn in reversed(range(len(copies))):
            chance, share = self.chances[:, :, turn], 1 / copies[turn]
            mean, square = chance * mean, share * chance * square + (1 - share) * (chance * mean) ** 2
        return mean, square

    def bound(self, copies: tuple[int, ...], bet: float, answers: float, significance: float) -> float:
        """Return the epsilon that as many answers on each dataset are expected to refute, to second order."""
        mean, square = self.moments(copies)
        (right, wrong), (right_square, wrong_square) = mean.sum(axis=0), square.sum(axis=0)
        number, needed = answers / self.answers(copies), -math.log(significance)

        def refuted(epsilon: float) -> bool:
            odds = math.exp(-epsilon)
            gain = bet * (odds * right - wrong) - bet**2 * (odds**2 * right_square + wrong_square) / 2
            return bool(number * gain >= needed)

        return largest_refuted(refuted, error=1e-4)
