"""The result of a privacy or precision check, with the witness of a claim that a guess game refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.checks.base import Result
from audit.checks.judge import PrivacyEvidence, PrivacyJudgment
from audit.claims import Point
from audit.evidence.stated_law import StatedLaw
from audit.mechanism.call import show, write_code
from audit.outputs.encode import encode
from audit.scorers.base import stated_log_likelihood
from audit.statistics.bounds import GameCounts
from audit.verdict import Verdict

WITNESS_LENGTH = 4000  # a certificate keeps a witness as code that can be pasted up to this many characters


@dataclass(frozen=True)
class Witness:
    """Hold an event, a pair and a direction that break a claim."""

    pair: tuple[Any, Any]
    direction: str  # "left" or "right": the dataset whose outputs the event catches more often than the claim allows
    # outputs -> bool array: those on which the auditor guesses that dataset; None when the event is another process's
    event: Callable[[Any], np.ndarray] | None
    text: str  # the event in words
    counts: GameCounts | None  # of the certifying runs; None by a stated law


def count_event(counts: GameCounts, direction: str) -> str:
    """Return how often an event came on either dataset, in words."""
    of = {
        "left": (counts.left_plus, counts.left_plus + counts.left_minus + counts.left_abstain),
        "right": (counts.right_plus, counts.right_plus + counts.right_minus + counts.right_abstain),
    }
    if direction == "right":
        of = {"left": (counts.left_minus, of["left"][1]), "right": (counts.right_minus, of["right"][1])}
    return ", ".join(f"{times} of {runs} on {side}" for side, (times, runs) in of.items())


@dataclass(frozen=True, repr=False, eq=False)
class PrivacyResult(Result):
    """The outcome of one privacy or precision check.

    `str(result)` is the text that a failing pytest test prints. `repr(result)` is one line. A notebook shows the check
    as its certificate does.

    Parameters
    ----------
    check : PrivacyCheck
        The check; where it searched for its pair, with the pair that it found.
    budget : int
        Outputs per dataset of a pair that it was allowed to draw, training and certifying together.
    significance : float
        Probability that a true claim is suspected, and tested again on fresh outputs.
    evidence, judgment
        The observations, and the conclusion from them; the properties give both.
    seconds : float
        Duration.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> pairs = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
    >>> result = audit.check_privacy(lambda data, size, rng: data.sum() + rng.laplace(size=size),
    ...                              audit.PrivacyClaim(0.5), pairs, budget=10_000, name="noisy sum")
    >>> result.verdict, round(result.epsilon_lower_bound, 1), result.evidence.samples <= 20_000
    (<Verdict.FAIL: 'FAIL'>, 1.0, True)
    >>> result.witness.direction, result.witness.text.split()[:2]
    ('right', ['output', '>='])
    >>> result  # doctest: +ELLIPSIS
    <PrivacyResult noisy sum: FAIL, ... guesses were right: epsilon >= ...>
    """

    check: Any  # a privacy or a precision check, which stand above
    evidence: PrivacyEvidence
    judgment: PrivacyJudgment

    @property
    def epsilon_lower_bound(self) -> float:
        """Certified lower bound of epsilon at the tested delta, which is the claim's if it has one; 0.0 if none."""
        return self.judgment.epsilon_lower_bound

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon at the tested delta by the stated laws (upper bound, worst pair), or None."""
        return self.judgment.exact_epsilon

    @property
    def resolution(self) -> float:
        """Smallest epsilon that would have been refuted with power 0.8, on a known event of probability 0.01."""
        return self.judgment.resolution

    @property
    def blind_spot(self) -> float:
        """Events rarer than this were not examined."""
        return self.judgment.blind_spot

    @property
    def tested(self) -> Point:
        """The (epsilon, delta) that was tested: the claim's own, or a point of the curve that it implies."""
        return self.evidence.tested or self.check.claim.point

    @property
    def witness(self) -> Witness | None:
        """Event, pair and direction that break the claim, where outputs or a stated law refuted it.

        Of a sequential game or an early look, the event is an example, counted on further outputs. Of a law it is a
        privacy loss above epsilon, which is the event that breaks the claim most; nothing was counted.
        """
        game = self.evidence.witnessing
        if self.verdict is not Verdict.FAIL:
            return None
        if game is None:
            return self._find_event_of_law() or self._find_event_of_proof()
        events = game.events
        counts = game.counts
        sign = 1 if counts.leads_left else -1

        def event(outputs: Any) -> np.ndarray:
            """Return whether each output makes the auditor guess the witness's side."""
            return np.asarray(events is not None and events.guess(encode(outputs, len(outputs))) == sign)

        direction, text = ("left", game.plus) if counts.leads_left else ("right", game.minus)
        return Witness(self.check.pairs[game.pair], direction, None if events is None else event, text, counts)

    def _find_event_of_proof(self) -> Witness | None:
        """Return the outputs that are too likely by a law that was computed; None where there is none."""
        found = next(filter(None, (way.find_event(self.tested) for way in self.evidence.ways)), None)
        if found is None or self.basis not in ("proof", "computed"):
            return None
        pair, direction, text = found
        return Witness(self.check.pairs[pair], direction, None, text, None)

    def _find_event_of_law(self) -> Witness | None:
        """Return the outputs whose stated privacy loss exceeds epsilon; all where only a divergence is broken."""
        law, (epsilon, delta) = self.evidence.by(StatedLaw), self.tested
        if law is None or law.curve is None or self.basis != "law":
            return None
        at = {row[0]: row[1:] for row in law.curve.profile}.get(epsilon, (0.0, 0.0))
        direction, other, sign = ("left", "right", 1) if at[0] >= at[1] else ("right", "left", -1)
        pair, stated = self.check.pairs[law.curve.pair], stated_log_likelihood(self.check.subject)
        if max(at) <= delta:
            return Witness(pair, direction, None, "any output: the reason names the divergence over all of them", None)

        def event(outputs: Any) -> np.ndarray:
            """Return whether the stated privacy loss of each output exceeds epsilon."""
            left, right = (np.asarray(stated and stated(data, outputs), dtype=float) for data in pair)
            return np.asarray(sign * (left - right) > epsilon)

        text = f"privacy loss log P(output on {direction}) / P(output on {other}) > {epsilon:.6g}, by the stated law"
        return Witness(pair, direction, None if stated is None else event, text, None)

    @property
    def ledger(self) -> Any:
        """The ledger of the code: which line draws noise, and its cost; None where no noise was followed.

        It has `draws` and `observations`, and prints as two tables. It is of the followed run that costs most, an
        estimate beside the bound that the reason names.
        """
        return next((found for way in self.evidence.ways if (found := getattr(way, "ledger", None)) is not None), None)

    def recorded_inputs(self) -> dict[str, Any]:
        """Return pairs and witness as plain data."""
        plain = None
        if (witness := self.witness) is not None:
            left, right = (show(side, WITNESS_LENGTH) for side in witness.pair)
            pair = next(number for number, pair in enumerate(self.check.pairs) if pair is witness.pair)
            plain = {"pair": pair, "left": left, "right": right, "direction": witness.direction, "event": witness.text}
        pairs = [{"left": show(left), "right": show(right)} for left, right in self.check.pairs]
        return {"pairs": pairs, "witness": plain}

    def details(self) -> Iterator[str]:
        """Yield the setting and the witness of the search."""
        if (searched := self.evidence.searched) is not None:
            setting = ", ".join(f"{name}={value!r}" for name, value in searched.setting.items())
            worst = f"the worst of {searched.settings:,} settings: {setting}; " if setting else ""
            yield f"{worst}{searched.cases:,} cases were tried"
        if (witness := self.witness) is not None:
            left, right = witness.pair
            yield f"left  = {write_code(left)}"
            yield f"right = {write_code(right)}"
            counts = witness.counts if self.evidence.game is None else None  # else the reason names them
            often = f": {count_event(counts, witness.direction)}" if counts else ""
            yield f"event: {witness.text}, likelier on {witness.direction}{often}"
        if self.ledger is not None and (self.basis == "noise followed" or self.verdict is Verdict.FAIL):
            yield from str(self.ledger).splitlines()
