"""Define a way of looking at a privacy claim: what follows from what it observed.

Each way is a frozen dataclass in a file with its gatherer: a stated law, an early look, a guess game, a sequential
game, an enumeration, a search. What follows is a pure function of the way and of the `Case`; `judge.py` decides by
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from audit import plugins
from audit.certificate.plots import Plot
from audit.checks.base import Judgment
from audit.checks.recorded import RecordedCase
from audit.checks.view import Part
from audit.claims import Claim, Point
from audit.statistics.independence import OF_CALLS
from audit.verdict import Verdict

USUAL_SHARE = 0.25  # tolerance of a claim along a curve: a share of rho, mu or the Renyi epsilon
_LEAST_APART = 1e-6  # a point that a wider claim implies, too, is resolved by no budget
ROUNDING = 1e-9  # relative, of recorded numbers
MOST_BUDGET = 10**9  # outputs per dataset: far beyond what any time limit allows
LIMITED = "time limit: "  # begins an anomaly that says how the limit ended the drawing, and what limit would do
STATEFUL = "own state"  # of a function with a parameter `rng` that is called once for each output
DEPENDENCE = ("mutated its dataset between calls", *OF_CALLS)  # runs were not independent: no game counts


class PrivacyTerms(NamedTuple):
    """State what the judge needs of a check: its claim and the tolerance of a statistical PASS."""

    claim: Claim
    tolerance: float | None = None

    def allowed_epsilon(self, point: Point) -> float:
        """Return the resolution that a statistical PASS needs."""
        if (wider := self.wider()) is not None and math.isfinite(epsilon := wider.epsilon_at(point.delta)):
            return float(max(epsilon, point.epsilon + _LEAST_APART))
        return point.epsilon + (usual_tolerance(point.epsilon) if self.tolerance is None else self.tolerance)

    def wider(self, share: float | None = None) -> Any:
        """Return a claim along a curve with a parameter larger by a share; None where the tolerance is of epsilon.

        By default it is the claim that a PASS has to tell from this one.
        """
        claim: Any = self.claim
        if not claim.is_curve:
            return None
        usual = USUAL_SHARE if self.tolerance is None else self.tolerance
        return claim.scaled(1 + (usual if share is None else share))


def usual_tolerance(epsilon: float) -> float:
    """Return the tolerance of a check that states none."""
    return max(0.05, 0.25 * epsilon)


class Finding(NamedTuple):
    """Say what follows from one way of looking; what it leaves open is left to the other ways."""

    refutation: Judgment | None = None  # FAIL if outputs that were counted refute the claim; nothing prevents that
    obstacle: Judgment | None = None  # INCONCLUSIVE if what was observed prevents every other verdict
    exact: Judgment | None = None  # what an exact law decides
    lower_bound: float = 0.0  # of epsilon, certified
    upper_bound: float | None = None  # of epsilon, by an exact law
    resolution: float = math.inf  # smallest epsilon beyond the tested point that would have been refuted
    trained_on: float = 0  # outputs per dataset from which events were learned; inf if every event was examined


@dataclass(frozen=True)
class GameLimits:
    """Say what a game would have refuted, and what bars a PASS although it is resolved."""

    resolved: tuple[tuple[Point, float], ...] = ()  # each point of the claim, and the smallest epsilon beyond it
    trained_on: float = 0
    is_general: bool = True  # some score that competed sees every difference between large sets of outputs
    gaps: tuple[str, ...] = ()  # places of the output that nothing read
    unresolvable: str = ""  # why no game of this kind resolves the claim
    barred: str = ""  # why there is no PASS even if the claim is resolved
    floats: str = ""  # what a PASS says of floating-point numbers; empty where the outputs have none
    scope: tuple[str, ...] = ()  # what a PASS speaks of, beyond the resolution
    most_certified: float = math.inf  # largest epsilon that as many runs certify, whatever they show


@dataclass(frozen=True)
class Case:
    """Hold what every way is judged by: the claim, what the whole check observed, and the significance."""

    terms: PrivacyTerms
    point: Point  # the (epsilon, delta) that was tested
    evidence: Any  # a `PrivacyEvidence`
    significance: float

    def refuted(self, lower: float, found: str) -> Judgment:
        """Return FAIL by a certified bound of epsilon, with what was found."""
        (epsilon, delta), claim = self.point, self.terms.claim
        claimed = f"{claim.short} implies {epsilon:.4g}" if claim.is_curve else f"claimed {epsilon:g}"
        bound = f">= {lower:.4g}" if f"{lower:.4g}" != f"{epsilon:.4g}" else f"> {epsilon:.4g}"
        reason = f"{found}: epsilon {bound} at delta = {delta:.6g}, {claimed}"
        cause = "".join(way.cause for way in self.evidence.ways)
        return Judgment(Verdict.FAIL, "outputs", f"{reason} (error probability {self.significance:.2g}){cause}")


@dataclass(frozen=True)
class Way:
    """Hold what one way of looking observed; nothing follows unless a subclass says so."""

    way: ClassVar[str]  # its name in records
    find: ClassVar[Any] = staticmethod(plugins.find_evidence)  # a record is read by the name that it holds
    list_ways: ClassVar[Any] = staticmethod(lambda: plugins.list_keys("evidence"))
    methods: ClassVar[tuple[str, ...]] = ()  # of checks that look in this way; any if there are none
    spends: ClassVar[str] = ""  # the test that has the significance of the check; none if it is empty

    def finding(self, case: Case) -> Finding:
        """Return what follows from what was observed."""
        return Finding()

    @property
    def cause(self) -> str:
        """The addition to the reason of a FAIL; empty for most."""
        return ""

    def limits(self, case: Case) -> GameLimits | None:
        """Return what a game would have found of a claim that nothing else decides; None if no game was played."""
        return None

    @property
    def named_pairs(self) -> tuple[int, ...]:
        """The numbers of the pairs that it speaks of."""
        return ()

    def contradictions(self, case: RecordedCase) -> Iterator[str]:
        """Yield how it contradicts itself, the evidence that it is a part of, its check or its run."""
        return iter(())

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield what the page says of it, names and texts; `way` is what a record of a check holds of it."""
        return iter(())

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Part]:
        """Yield its parts of the section on the page."""
        return iter(())

    @classmethod
    def draw_pictures(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Plot | None]:
        """Yield its pictures, None in place of one that would be empty."""
        return iter(())
