"""Check stability maps: are outputs as close as a transformation without noise claims, for datasets that are close?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from audit import Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    InvalidArgument,
    Judgment,
    StatedCheck,
    conclude,
    defaults,
    document_from,
    errors,
    run_alone,
    validate,
)
from audit.extensions.stability.metrics import metric_of
from audit.extensions.stability.stated_maps import KINDS, StabilityMap, Violation, stated_map, why_not_of

DEFAULT_PAIRS = 3_000  # neighbors to compare: two CPU seconds where the transformation costs little


@dataclass(frozen=True)
class StabilityTerms:
    """The distances between which a map is claimed."""

    distance_in: str
    distance_out: str


@dataclass(frozen=True)
class StabilityEvidence(Evidence):
    """Hold the counts of a search for a broken pair; `samples` counts the pairs that were compared."""

    unstable: int = 0  # datasets on which two runs differ
    unstated: int = 0  # pairs at whose distance the map states no number
    example: str = ""  # one of the unstable datasets
    violation: Violation | None = None

    @property
    def spends(self) -> tuple[str, ...]:
        return ()  # a pair that breaks a map is exact


@dataclass(frozen=True, kw_only=True)
class StabilityCheck(StatedCheck):
    """The claim that a transformation without noise maps close datasets to close outputs, and a domain to a domain.

    FAIL is a pair of datasets with their outputs, shrunk: exact, without statistics. Distances are measured in rational
    arithmetic, so that a difference of one unit in the last place is neither missed nor invented; a claim that fails by
    rounding alone is a FAIL that says so, with its size. PASS says how many pairs were compared: a search proves
    nothing about others. INCONCLUSIVE if two runs on one dataset differ, if no pair could be compared, if the map
    states a bound for none of them, or if a distance or predicate raises.

    Parameters
    ----------
    transformation : callable (dataset) -> output
        The code under audit. It is given a copy of each dataset.
    bound : number >= 0, callable, or object of a library, optional
        The map that it claims: c for distance_out <= c * distance_in, a function from the distance of the inputs to the
        largest distance of the outputs, or a transformation of OpenDP, which states its map, metrics and
        domains. Unless given, the transformation is such an object.
    distance_in : str, metric or callable (left, right) -> number, optional
        "symmetric" (multisets of records, such as the rows of a frame) unless given or stated by a library's object;
        "insert_delete" (sequences), "change_one" and "hamming" (of fixed size), "discrete", "absolute", "l0", "l1",
        "l2", "linf", an `audit.PerPartition`, or a distance of your own.
    distance_out : str, metric or callable
        The same, for outputs. Vectors may be mappings: a key that one side lacks counts as 0.
    datasets : Hypothesis strategy
        Strategy of datasets that the transformation admits: `audit.columns` draws columns that break arithmetic.
        Neighbors are made of their records.
    domain_in : callable (dataset) -> bool, optional
        Inputs that the transformation admits. With it, neighbors may hold numbers that no dataset of the strategy
        has, and an exception on an admitted dataset is a FAIL; without it, an exception on one side of a pair only is.
    domain_out : callable (output) -> bool, optional
        Outputs that it may return.
    budget : int >= 2, optional
        Pairs to compare; each costs one or two outputs.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Hay, Gaboardi and Vadhan (2020), A programming framework for OpenDP: stable transformations. Casacuberta, Shoemate,
    Vadhan and Wagaman (2022), Widespread underestimation of sensitivity in differentially private libraries.
    """

    transformation: Callable[[Any], Any]
    bound: Any | None = None
    distance_in: Any | None = None
    distance_out: Any | None = None
    datasets: Any
    domain_in: Any | None = None
    domain_out: Any | None = None

    kind: ClassVar[str] = "stability"
    noun: ClassVar[str] = "the transformation"
    unit: ClassVar[str] = "pairs"
    callables: ClassVar = {"transformation": "(dataset)"}
    terms_type: ClassVar[type[Any]] = StabilityTerms
    evidence_type: ClassVar[type[Evidence]] = StabilityEvidence

    def _validate(self) -> None:
        from hypothesis.strategies import SearchStrategy  # here, and not before: few checks search

        if not isinstance(self.datasets, SearchStrategy):
            rule = "be a Hypothesis strategy, such as audit.columns(audit.numbers(0.0, 10.0))"
            raise InvalidArgument.of("datasets", rule, self.datasets)
        self._map()

    def _map(self) -> StabilityMap:
        """Return the map that is searched; arguments given here replace the statements of an object of a library."""
        stated = stated_map(self.transformation if self.bound is None else self.bound)
        parts: dict[str, Any] = {}
        for name in ("distance_in", "distance_out"):
            given = getattr(self, name)
            parts[name] = getattr(stated, name) if given is None else metric_of(given, name)
        if parts["distance_in"] is None:
            parts["distance_in"] = metric_of("symmetric")
        if parts["distance_out"] is None:
            message = '`distance_out` must be given for this `bound`: type distance_out="l1", for example'
            raise InvalidArgument(message)
        for name in ("domain_in", "domain_out"):
            given = getattr(self, name)
            parts[name] = why_not_of(getattr(stated, name) if given is None else given, name)
        return replace(stated, **parts)

    @property
    def uses(self) -> str:
        return "searched pairs"

    @property
    def summary(self) -> str:
        terms = self.terms()
        if isinstance(self.bound, (int, float)):
            return f"{terms.distance_out} distance <= {self.bound} * {terms.distance_in} distance"
        return f"{terms.distance_out} distance within its map of {terms.distance_in} distance"

    def terms(self) -> StabilityTerms:
        """Return the names of the distances."""
        stated = self._map()
        return StabilityTerms(stated.distance_in.name, stated.distance_out.name)

    def plan_effort(self, effort: validate.Effort, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check with the usual number of pairs: a named budget is one of outputs."""
        return self, replace(allowance, budget=DEFAULT_PAIRS)

    def gather(self, allowance: Allowance) -> StabilityEvidence:
        """Search for a pair that breaks the map or a domain."""
        from audit.extensions.stability.search import Search

        seed = int(allowance.stream.child(0).seed().generate_state(1)[0])
        search = Search(self.transformation, self._map(), self.datasets)
        search.run(allowance.budget, seed, allowance.seconds)
        return StabilityEvidence(
            search.pairs, search.unstable, search.unstated, search.example, search.violation,
            uses=self.uses, failure=None if search.violation else search.failure,
        )  # fmt: skip

    @staticmethod
    def decide(terms: StabilityTerms, evidence: StabilityEvidence, significance: float) -> Judgment:
        """Return the judgment: a violation is a fact, and no probability is in it."""
        said = None if evidence.violation is None else _read_violation(terms, evidence.violation)
        why_open = None
        if evidence.unstable:
            why_open = (
                f"its outputs are not a function of its inputs: two runs on {evidence.example} differ, as on "
                f"{evidence.unstable} datasets; fix its seed, or audit the mechanism with check_privacy"
            )
        elif not evidence.samples:
            why_open = "no pair was compared: `datasets` has no dataset with an admitted neighbor at a finite distance"
        elif evidence.unstated >= evidence.samples:
            why_open = "the map raised at every distance: it states nothing about these pairs"
        kept = f"no violation found in {evidence.samples:,} pairs; a search proves nothing about others"
        broken = conclude("computed", (), broken=said, why_open=why_open, kept=kept)
        return replace(broken, basis="outputs") if said is None and why_open is None else broken


def _read_violation(terms: StabilityTerms, violation: Violation) -> str:
    """Return the facts of a violation; raise `InvalidCertificate` for one that shows nothing."""
    pair = f"{violation.left} and {violation.right} are at {terms.distance_in} distance {violation.distance_in:.10g}"
    if violation.kind not in KINDS:
        raise errors.InvalidCertificate(f"a violation of kind {violation.kind!r} is not known")
    if violation.kind in ("domain", "exception"):
        what = "an output leaves the declared domain" if violation.kind == "domain" else "a dataset raises"
        return f"{what}: {violation.said}; {pair}"
    if not violation.distance_out > violation.bound:
        raise errors.InvalidCertificate("a violation of a map must have outputs farther apart than its bound")
    excess = violation.distance_out - violation.bound
    by = f", by rounding ({excess:.3g} more)" if violation.kind == "rounding" else ""
    return (
        f"{pair}, their outputs {violation.output_left} and {violation.output_right} at {terms.distance_out} distance "
        f"{violation.distance_out:.10g}, and the map allows {violation.bound:.10g}{by}{violation.said and '; '}"
        f"{violation.said}"
    )


@document_from(StabilityCheck)
def check_stability(
    transformation: Callable[[Any], Any],
    bound: Any | None = None,
    *,
    datasets: Any,
    distance_in: Any | None = None,
    distance_out: Any | None = None,
    domain_in: Any | None = None,
    domain_out: Any | None = None,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = DEFAULT_PAIRS, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Search for two close datasets that a transformation maps farther apart than it claims.

    Examples
    --------
    >>> from audit import check_stability, columns, numbers
    >>> result = check_stability(sorted, 1, distance_in="symmetric", distance_out="insert_delete",
    ...                          datasets=columns(numbers(0, 9, integers=True)), budget=500)
    >>> print(result.verdict)
    PASS
    """
    return run_alone(
        StabilityCheck(
            name=name or UNNAMED, transformation=transformation, bound=bound, datasets=datasets,
            distance_in=distance_in, distance_out=distance_out, domain_in=domain_in, domain_out=domain_out,
            source=source, statement=statement, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
