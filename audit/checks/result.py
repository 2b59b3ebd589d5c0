"""The result of a privacy or precision check, with the witness of a claim that was refuted, and how records are shown.

The pictures are the errors of tests between the two datasets: a claim forbids the region below a curve, the stated law
has a curve of its own, and the game certifies one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audit import plugins
from audit.checks.base import Result
from audit.checks.judge import PrivacyEvidence, PrivacyJudgment
from audit.claims import Point, PrivacyClaim, claim_of
from audit.evidence.base import Method
from audit.evidence.stated_law import StatedLaw
from audit.mechanism.call import show, write_code
from audit.outputs.encode import encode
from audit.records.plain import from_plain
from audit.records.view import ALLOWED, Axis, Part, Plot, Points, RecordView
from audit.scorers.base import stated_log_likelihood
from audit.statistics.bounds import GameCounts
from audit.text import count, number
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
        if self.verdict is not Verdict.FAIL:
            return None
        game: Any = next((way for way in self.evidence.ways if way.is_witness), None)
        if game is None:
            return self._find_event_of_law() or self._find_event_of_proof()
        events, counts = game.events, game.counts
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
        _, *at = min(law.curve.profile, key=lambda row: abs(row[0] - epsilon))
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


NOT_AUDITED = "not audited"  # of floating point
_SHOWN_PAIRS = 8
_BY_LAW, _BY_GAME = "stated law, and the sampler against it", "guess game at a fixed budget"


class PrivacyView(RecordView):
    """Show a privacy check: epsilon by its law and by its games."""

    table: ClassVar[str] = "privacy"

    @property
    def relation(self) -> str | None:  # type: ignore[override]
        found: str | None = self.record.get("claim", {}).get("relation")
        return found

    @property
    def _ways(self) -> dict[str, Any]:
        return ways_of(self.record["evidence"])

    @property
    def _at(self) -> Any:
        """The (epsilon, delta) that was tested, or the claim."""
        return self.record["evidence"].get("tested") or self.record["claim"]

    @property
    def claimed(self) -> str:
        claim = self.record["claim"]
        return f"{claim_of(claim).short} {claim['relation']}"

    @property
    def _is_plain(self) -> bool:
        """True for a claim that is one (epsilon, delta)."""
        return {"epsilon", "delta"} <= self.record["claim"].keys()

    @property
    def main_finding(self) -> str:
        record = self.record
        if record["exact_epsilon"] is not None:
            return f"epsilon = {number(record['exact_epsilon'])} by its law"
        certified = f"certified epsilon ≥ {number(record['epsilon_lower_bound'])}"
        if (record["verdict"], record["basis"]) == ("PASS", "outputs"):
            return f"resolved up to epsilon = {number(record['resolution'])}, {certified}"
        return certified

    @property
    def reason(self) -> str:
        record, tested = self.record, self._at
        if (record["verdict"], record["basis"]) != ("FAIL", "outputs") or "divergence" in self._ways:
            return super().reason
        at = f" at delta {number(tested['delta'])}" if tested["delta"] else ""
        fresh = record["evidence"].get("confirmation")
        wrong = record["settings"]["confirmation" if fresh else "significance"]
        certified = f"certified epsilon >= {number(record['epsilon_lower_bound'])}{at}"
        return f"{certified}, claimed {number(tested['epsilon'])}: refuted with error probability {number(wrong)}"

    @property
    def floats(self) -> str:
        read = self._ways.get("guess game", {}).get("floats", "none")
        return {"none": "", "real": NOT_AUDITED}.get(read, str(self.record["verdict"]))

    @property
    def method(self) -> str:
        settings = self.record["settings"]
        if isinstance(settings["method"], Mapping):
            if plugins.find_method(settings["method"]["way"]) is None:  # of an extension that is not installed
                return str(settings["method"]["way"])
            return from_plain(Method, settings["method"]).words  # type: ignore[type-abstract]
        by_game = f"{_BY_GAME}, on the bits of the outputs too" if settings.get("floats") else _BY_GAME
        by_both = f"{_BY_LAW}; {by_game}" if "stated law" in self._ways else by_game
        known = {"fixed": by_game, "exact": _BY_LAW, "auto": by_both}
        return known.get(settings["method"], settings["method"])

    @property
    def counterexample(self) -> str:
        if not (witness := self.record.get("witness")):
            return ""
        event = f"event: {witness['event']}, likelier on {witness['direction']}"
        return f"left  = {witness['left']}\nright = {witness['right']}\n{event}"

    def facts(self) -> Iterator[tuple[str, str]]:
        record, ways = self.record, self._ways
        claimed = f", claimed {number(record['claim']['epsilon'])}" if self._is_plain else ""
        delta = f"at δ = {number(self._at['delta'])}" if "delta" in self._at else ""
        if record["exact_epsilon"] is not None:
            yield "by its law", f"ε = {number(record['exact_epsilon'])} {delta}{claimed}"
        if "guess game" in ways or "sequential game" in ways:
            yield "certified", f"ε ≥ {number(record['epsilon_lower_bound'])} {delta}{claimed}"
            yield "resolution", _resolution(record["resolution"])
            if self.floats:
                advice = ': numbers are read as real ones; set floats="audit"' if self.floats == NOT_AUDITED else ""
                yield "floating point", f"{self.floats}{advice}"
            yield "blind spot", f"events rarer than {number(record['blind_spot'])} were not examined"
        yield from self._show("show_facts")
        if anomalies := record["evidence"]["anomalies"]:
            yield "anomalies", ", ".join(f"{kind} ({count(times)})" for kind, times in anomalies.items())

    def parts(self) -> Iterator[Part]:
        if witness := self.record.get("witness"):
            unlike = f"likelier on {witness['direction']} than the claim allows"
            said = f"On these two datasets the event “{witness['event']}” is {unlike}."
            yield Part("Witness", said, code=_as_code([witness]), code_label="the two datasets as Python")
        yield from self._show("show_parts")
        if not witness:
            pairs = _as_code(self.record["pairs"][:_SHOWN_PAIRS])
            yield Part("datasets", code=pairs, code_label="pairs of datasets as Python", is_folded=True)

    def draw_pictures(self) -> Iterator[Plot | None]:
        yield errors_of_tests(self.record)

    def _show(self, name: str) -> Iterator[Any]:
        """Yield the views that the classes of the evidence give; nothing of a class that is not installed."""
        for way, found in self._ways.items():
            if (kind := plugins.find_evidence(way)) is not None:
                yield from getattr(kind, name)(found, self.record)


def _resolution(value: Any) -> str:
    if value == "inf":
        return "none at this budget"
    event = "on one event that training found and that has one output in a hundred"
    return f"ε = {number(value)}: a violation beyond it, {event}, would have been caught four times in five"


def _as_code(pairs: Any) -> str:
    return "\n\n".join(f"left = {pair['left']}\nright = {pair['right']}" for pair in pairs)


_ALPHAS = (1 - np.cos(np.linspace(0, math.pi, 81))) / 2  # dense at both ends, where the curves bend
_MANY = 10  # lines: their corners are closer together than the grid
_CURVE_POINTS = 40  # of the claim's profile, where it implies a whole curve

Record = Mapping[str, Any]
Line = tuple[float, float, float]  # epsilon, and delta with the left and with the right law in the numerator


def ways_of(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ways in which a privacy check looked, by name, as they are recorded; none for other evidence."""
    return {way["way"]: way for way in evidence.get("ways", ())}


def trade_off(lines: Sequence[Line]) -> Points:
    """Return the highest function, (type I error, type II error), below which all lines of a profile keep."""
    corners = [max(0.0, 1 - max(left, right)) / (1 + math.exp(min(epsilon, 700.0))) for epsilon, left, right in lines]
    alphas = np.union1d(_ALPHAS, corners if len(corners) < _MANY else [])
    best = np.zeros_like(alphas)
    for epsilon, left, right in lines:  # b >= 1 - delta_right - e^eps a and b >= e^-eps (1 - delta_left - a)
        best = np.maximum(best, 1 - right - np.exp(min(epsilon, 700.0)) * alphas)
        best = np.maximum(best, np.exp(-epsilon) * (1 - left - alphas))
    return list(zip(alphas.tolist(), best.tolist(), strict=True))


def errors_of_tests(record: Record) -> Plot | None:
    """Return the errors of tests that tell the datasets apart: claimed, stated and certified."""
    evidence, claim, bound = record["evidence"], claim_of(record["claim"]), record["epsilon_lower_bound"]
    ways = ways_of(evidence)
    game, curve = ways.get("guess game"), ways.get("stated law", {}).get("curve")  # of the worst pair
    tested = evidence["tested"] or record["claim"]
    if not game and not curve:
        return None
    if isinstance(claim, PrivacyClaim):
        lines = [(claim.epsilon, claim.delta, claim.delta)]
    else:
        grid = np.linspace(0.0, 1.5 * claim.points[-1].epsilon, _CURVE_POINTS).tolist()
        lines = [(epsilon, claim.profile(epsilon), claim.profile(epsilon)) for epsilon in grid]
    shown = [f"The claim {claim.short} allows the shaded region."]
    plot = Plot("Errors of tests that tell the two datasets apart", "", Axis("type I error"), Axis("type II error"))
    plot.area([*(allowed := trade_off(lines)), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], "allowed", ALLOWED)
    plot.line(allowed, "claim", "claimed limit")
    if curve:
        plot.line(trade_off(curve["profile"]), "law", "best test, by the stated law")
        shown.append("The curve is that of the best tests by the stated law.")
    if bound > 0:
        limit = bound, float(tested["delta"]), float(tested["delta"])
        plot.line(trade_off([limit]), "certified", "certified: some test touches it")
        shown.append(f"Some test is certified to touch the dashed line, of epsilon {number(bound)}.")
    plot.description = " ".join(shown)
    return plot
