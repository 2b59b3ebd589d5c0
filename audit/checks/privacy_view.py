"""Say how the records of privacy checks are shown: claim, bounds and witness; each evidence shows what it observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from audit import plugins
from audit.certificate.plots import Plot
from audit.certificate.record import from_plain
from audit.checks.methods import Method
from audit.checks.pictures import errors_of_tests
from audit.checks.privacy_record import ways_of
from audit.checks.view import Changes, Part, RecordView, apart
from audit.claims import claim_of
from audit.statistics.binomial import proportion_interval
from audit.statistics.guess_game import GameCounts
from audit.text import count, interval, number

NOT_AUDITED = "not audited"  # of floating point
_NOISE = 1e-4  # probability that either end of an interval of right guesses is wrong
_COARSER = 0.02  # relative: adding a check to a run takes that little from the resolution of the others
_SAME = 1e-4  # relative: computed numbers may differ in their last digits from machine to machine
_SHOWN_PAIRS = 8
_BY_LAW, _BY_GAME = "stated law, and the sampler against it", "guess game at a fixed budget"


class PrivacyView(RecordView):
    """Show a privacy check: what its law and its games say of epsilon."""

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
    def units(self) -> str:
        claim = self.record["claim"]
        if not self._is_plain:
            return self.claimed
        return f"ε = {number(claim['epsilon'])}, δ = {number(claim['delta'])}, {claim['relation']}"

    @property
    def _is_plain(self) -> bool:
        """True for a claim that is one (epsilon, delta)."""
        return {"epsilon", "delta"} <= self.record["claim"].keys()

    @property
    def found(self) -> str:
        record = self.record
        if record["exact_epsilon"] is not None:
            return f"epsilon = {number(record['exact_epsilon'])} by its law"
        certified = f"certified epsilon ≥ {number(record['epsilon_lower_bound'])}"
        if (record["verdict"], record["basis"]) == ("PASS", "outputs"):
            return f"resolved up to epsilon = {number(record['resolution'])}, {certified}"
        return certified

    @property
    def bound(self) -> Any:
        return self.record["epsilon_lower_bound"]

    @property
    def reason(self) -> str:
        record, tested = self.record, self._at
        if (record["verdict"], record["basis"]) != ("FAIL", "outputs"):
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
        by_both = f"{_BY_LAW}; {_BY_GAME}" if "stated law" in self._ways else _BY_GAME
        known = {"fixed": _BY_GAME, "sequential": "sequential guess game", "exact": _BY_LAW, "auto": by_both}
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
        yield from self._shown("show_facts")
        if anomalies := record["evidence"]["anomalies"]:
            yield "anomalies", ", ".join(f"{kind} ({count(times)})" for kind, times in anomalies.items())

    def parts(self) -> Iterator[Part]:
        if witness := self.record.get("witness"):
            unlike = f"likelier on {witness['direction']} than the claim allows"
            said = f"On these two datasets the event “{witness['event']}” is {unlike}."
            yield Part("Witness", said, code=_as_code([witness]), code_label="the two datasets as Python")
        yield from self._shown("show_parts")
        if not witness:
            pairs = _as_code(self.record["pairs"][:_SHOWN_PAIRS])
            yield Part("datasets", code=pairs, code_label="pairs of datasets as Python", is_folded=True)

    def drawn(self) -> Iterator[Plot | None]:
        yield errors_of_tests(self.record)
        yield from self._shown("draw_pictures")

    def _shown(self, name: str) -> Iterator[Any]:
        """Yield what the classes of the evidence show of it; nothing of a class that is not installed."""
        for way, found in self._ways.items():
            if (kind := plugins.find_evidence(way)) is not None:
                yield from getattr(kind, name)(found, self.record)

    def changed_claim(self, new: Any) -> Changes:
        was, now = ({**record["claim"], "source": ""} for record in (self.record, new.record))
        if was != now:
            weaker, stronger = claim_of(was), claim_of(now)  # tested where the old one is
            implied = all(stronger.profile(point.epsilon) <= point.delta * (1 + _SAME) for point in weaker.points)
            yield f"claimed {self.claimed}, now {new.claimed}", was["relation"] != now["relation"] or not implied

    def changed_numbers(self, new: Any) -> Changes:
        """Yield epsilons and a resolution that have moved by more than noise."""
        before, after = self.record, new.record
        if before["exact_epsilon"] is not None and after["exact_epsilon"] is not None:
            was, now = float(before["exact_epsilon"]), float(after["exact_epsilon"])
            if apart(was, now):
                yield f"exact epsilon was {number(was, 6)}, is {number(now, 6)}", now > was
        old, recent = self.right_guesses, new.right_guesses
        if old and recent and recent[0] > old[1]:
            bounds = [number(record["epsilon_lower_bound"]) for record in (before, after)]
            rates = f"right guesses were {interval(old)} of all, are {interval(recent)}"
            yield f"certified epsilon >= {bounds[0]}, now {bounds[1]}: {rates}", True
        was, now = float(before["resolution"]), float(after["resolution"])
        if now > was * (1 + _COARSER):
            rests_on_it = (after["verdict"], after["basis"]) == ("PASS", "outputs")
            yield f"resolution was {number(was)}, is {number(now)}", rests_on_it

    @property
    def right_guesses(self) -> tuple[float, float] | None:
        """An exact interval of the rate of right guesses; None without a game."""
        if (game := self._ways.get("guess game")) is None:
            return None
        counts = GameCounts(**game["counts"])
        guesses = counts.correct + counts.wrong
        return proportion_interval(counts.correct, guesses, _NOISE) if guesses else None


class PrecisionView(PrivacyView):
    """Show that a precision check looked at bits."""

    @property
    def basis(self) -> str:
        return f"{super().basis}, bits".removeprefix(", ")

    @property
    def method(self) -> str:
        return f"{super().method}, on the bits of the outputs"


def _resolution(value: Any) -> str:
    if value == "inf":
        return "none at this budget"
    event = "on one event that training found and that has one output in a hundred"
    return f"ε = {number(value)}: a violation beyond it, {event}, would have been caught four times in five"


def _as_code(pairs: Any) -> str:
    return "\n\n".join(f"left = {pair['left']}\nright = {pair['right']}" for pair in pairs)
