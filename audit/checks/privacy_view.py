"""Show the records of privacy checks: claim, bounds, witness and pictures; each evidence shows its observations.

The pictures are the errors of tests between the two datasets: a claim forbids the region below a curve, the stated law
has a curve of its own, and the game certifies one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from audit import plugins
from audit.checks.methods import Method
from audit.claims import PrivacyClaim, claim_of
from audit.records.plain import from_plain
from audit.records.view import ALLOWED, Axis, Part, Plot, Points, RecordView
from audit.text import count, number

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
    def found(self) -> str:
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
