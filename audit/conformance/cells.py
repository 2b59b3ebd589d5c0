"""A cell of the table: one query of a library on one case, what is asked of it, and what came out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np

from audit.base.verdict import Verdict
from audit.checks.privacy.check import PrivacyCheck
from audit.claims import PrivacyClaim
from audit.conformance.cases import CASES, Case, InputPair
from audit.conformance.library import Answer, Call, LawfulCall, Library, caught, takes_generator
from audit.conformance.neighbors import OrderRelation, relation_of
from audit.conformance.queries import QUERIES, Parameters, Query

Status = Literal[
    "PASS", "screened", "FAIL A", "FAIL B", "FAIL C", "FAIL D", "excluded", "refused", "raises on both", "waived",
    "does not return", "undecided", "not offered", "does not apply",
]  # fmt: skip
STATUSES: dict[Status, str] = {
    "PASS": "no violation above the printed epsilon found",
    "screened": "looked at briefly: only what shows in a few thousand outputs would have been found",
    "FAIL A": "no noise, or an exact leak",
    "FAIL B": "wrong calibration",
    "FAIL C": "edge of the usual input",
    "FAIL D": "outside the usual domain",
    "excluded": "fails, where the documentation excludes the input",
    "refused": "the library refuses the public parameters",
    "raises on both": "the library refuses both inputs alike",
    "waived": "not asked, for the reason shown",
    "does not return": "a call took longer than the limit",
    "undecided": "the audit could not decide, for the reason shown",
    "not offered": "the library has no such query",
    "does not apply": "the case has no meaning for the query",
}
FEW, MANY = 4_000, 60_000  # outputs per dataset: for odd inputs, and where a wrong calibration would show
WIDE = 0.5  # tolerance of a PASS, as a share of the claimed epsilon
_CLASS: dict[str, Status] = {"edge": "FAIL C", "unusual": "FAIL D"}
_LEAK = 3.0  # above the claim: what no wrong scale explains
_SHORT = 16  # records that are written one by one
_ROUNDING = 1e-3  # of what noise was scaled for: by less a value without noise may move more


@dataclass(frozen=True)
class Cell:
    """One query of a library on one case.

    Parameters
    ----------
    library : Library
        Whose.
    query, case : str
        Of the table.
    """

    library: Library
    query: str
    case: str

    @property
    def id(self) -> str:
        """The name of the cell within its library."""
        return f"{self.query}-{self.case}".replace(" ", "_")

    @property
    def row(self) -> Case:
        """The case."""
        return CASES[self.case]

    @property
    def answer(self) -> Answer:
        """The library's answer to the query."""
        return self.library.answers[self.query]

    def parts(self) -> list[CellPart] | str:
        """Return what is asked: the inputs by parameters; or the reason why nothing is.

        Raises
        ------
        AuditError
            When a pair of the table is not neighboring: the table is wrong then, and no library is accused.
        """
        query, answer = QUERIES[self.query], self.answer
        if self.case == "another order" and not self.library.unordered:
            return "the library claims nothing about the order of records"
        instances = self.row.instances(query, answer.relation)
        if isinstance(instances, str):
            return instances
        by_parameters: dict[Parameters, list[InputPair]] = {}
        for instance in instances:
            changes = {**instance.changes, **self.library.setting(self.query, self.case)}
            if "scale" in changes and answer.native is None:
                return "the library has no parameter of the noise itself"
            by_parameters.setdefault(query.parameters.changed(changes), []).append(instance)
        return [CellPart(self, p, self._relation(query, p), found) for p, found in by_parameters.items()]

    def _relation(self, query: Query, parameters: Parameters) -> Any:
        relation = relation_of(query, self.answer.relation, parameters)
        return OrderRelation() if self.case == "another order" else relation


@dataclass(frozen=True)
class CellPart:
    """The inputs of a cell at one setting of the public parameters."""

    cell: Cell
    parameters: Parameters
    relation: Any
    instances: Sequence[InputPair]

    @cached_property
    def mechanism(self) -> Call:
        """The query at these parameters: one object, which processes that are forked have without a copy."""
        answer = self.cell.answer
        if answer.law is not None and self.cell.row.rank in ("usual", "parameters"):
            return LawfulCall(answer.build, self.parameters, answer.law)
        return Call(answer.build, self.parameters)

    def check(self, name: str, draws: int = MANY) -> PrivacyCheck:
        """Return the privacy check of these inputs, at the claim that the library states for the parameters."""
        answer, row = self.cell.answer, self.cell.row
        claim = self.claim()
        return PrivacyCheck(
            name=name,
            mechanism=self.mechanism,
            claim=claim,
            pairs=[(instance.left, instance.right) for instance in self.instances],
            budget=min(draws if row.rank in ("usual", "parameters") else FEW, answer.draws or draws, draws),
            tolerance=max(0.05, WIDE * claim.point.epsilon),
        )

    def claim(self) -> Any:
        """Return the library's claim under the relation of the pairs."""
        answer, p = self.cell.answer, self.parameters
        state = answer.native if p.scale is not None else answer.claim
        stated = PrivacyClaim(p.epsilon, p.delta) if state is None else state(p)
        return replace(stated, relation=self.relation, source=answer.quote or self.cell.library.quote)


class FirstLook(NamedTuple):
    """Hold what a few calls and the noiseless values showed, as plain data."""

    refused: str = ""  # by the library, of public parameters
    raises: str = ""  # on both sides of all pairs, whatever was drawn
    excess: float = 0.0  # largest change without noise, in units of what the noise was scaled for
    pair: int = 0  # that shows it

    @property
    def exceeds(self) -> bool:
        """Return whether a value without noise moves more than the noise was scaled for, beyond rounding."""
        return self.excess > 1 + _ROUNDING


def probe(part: CellPart, calls: int = 3, seed: int = 0) -> FirstLook:
    """Build the query, compare values without noise, and call it a few times on each side."""
    answer, p = part.cell.answer, part.parameters
    try:
        release = answer.build(p)
    except Exception as error:
        return FirstLook(refused=f"{type(error).__name__}: {error}"[:300])
    found = [_excess(answer, p, instance) for instance in part.instances]
    given = {"rng": np.random.default_rng(seed)} if takes_generator(release) else {}
    outputs = [
        caught(release, side, **given)
        for instance in part.instances
        for side in (instance.left, instance.right)
        for _ in range(calls)
    ]
    kinds = {output["raised"] if isinstance(output, dict) and set(output) == {"raised"} else "" for output in outputs}
    raises = kinds.pop() if len(kinds) == 1 else ""
    return FirstLook(raises=raises, excess=max(found), pair=int(np.argmax(found)))


def _excess(answer: Answer, parameters: Parameters, instance: InputPair) -> float:
    if answer.noiseless is None or answer.sensitivity is None:
        return 0.0
    try:
        exact, declared = answer.noiseless(parameters), Fraction(answer.sensitivity(parameters))
        left, right = (exact(side) for side in (instance.left, instance.right))
        if not declared or not all(math.isfinite(value) for value in (left, right)):
            return 0.0
        return float(abs(Fraction(left) - Fraction(right)) / declared)
    except Exception:  # the value cannot be had: the outputs are looked at, as always
        return 0.0


class Finding(NamedTuple):
    """Hold what came of a cell, as plain data: a row of the saved table."""

    library: str
    query: str
    case: str
    status: Status
    reason: str
    pairs: int = 0
    claimed: float | None = None
    bound: float | None = None  # certified epsilon, of what fails
    resolution: float | None = None  # worst of its checks
    left: str = ""
    right: str = ""
    cpu: float = 0.0

    @property
    def fails(self) -> bool:
        """Return whether the cell accuses the library."""
        return self.status.startswith("FAIL")


def cells_of(library: Library, queries: Iterable[str] = (), cases: Iterable[str] = ()) -> list[Cell]:
    """Return the cells of a library, of some queries and cases or of all.

    Parameters
    ----------
    library : Library
        Which.
    queries, cases : iterable of str
        Names; all by default.

    Returns
    -------
    list of Cell
        For every query that the library offers, and every case.

    Examples
    --------
    >>> from audit.conformance import Library
    >>> from audit.conformance.cells import cells_of
    >>> cells_of(Library("none"))
    []
    """
    chosen, rows = set(queries) or set(QUERIES), set(cases) or set(CASES)
    return [
        Cell(library, query, case) for query in QUERIES for case in CASES
        if query in library.answers and query in chosen and case in rows
    ]  # fmt: skip


def settled(cell: Cell, probes: Sequence[FirstLook | str]) -> Finding | None:
    """Return the finding of a cell that needs no outputs; a text in place of a probe says that it did not return."""
    for part in probes:
        if isinstance(part, str):
            return finding(cell, "does not return" if "took longer" in part else "undecided", part)
    known = [part for part in probes if isinstance(part, FirstLook)]
    if known and all(part.refused for part in known):
        return finding(cell, "refused", known[0].refused)
    if known and all(part.refused or part.raises for part in known):
        return finding(cell, "raises on both", next(part.raises for part in known if part.raises))
    return None


def finding(cell: Cell, status: Status, reason: str, **known: Any) -> Finding:
    """Return the finding of a cell."""
    return Finding(cell.library.name, cell.query, cell.case, status, reason, **known)


def judged(cell: Cell, asked: Sequence[tuple[CellPart, FirstLook, Any]]) -> Finding:
    """Return what the probes and the results of the checks say of a cell; the worst decides."""
    return max((_of_part(*each) for each in asked), key=lambda found: _SEVERITY.index(found.status))


_SEVERITY: tuple[Status, ...] = (
    "PASS", "screened", "undecided", "does not return", "excluded", "FAIL D", "FAIL C", "FAIL B", "FAIL A",
)  # fmt: skip


def _of_part(part: CellPart, seen: FirstLook, result: Any) -> Finding:
    cell, pairs, epsilon = part.cell, len(part.instances), result.check.claim.point.epsilon
    bound, known = result.epsilon_lower_bound, {"pairs": pairs, "claimed": epsilon, "cpu": round(result.seconds, 2)}
    if result.verdict is Verdict.FAIL or seen.exceeds:
        at = result.evidence.game.pair if result.verdict is Verdict.FAIL and result.evidence.game else seen.pair
        sides = part.instances[at][1:]
        excluded = [cell.library.excluded(cell.query, part.parameters, side) for side in sides]
        said = f"certified epsilon >= {bound:.4g}, claimed {epsilon:.4g}" if result.verdict is Verdict.FAIL else ""
        moved = f"without noise the value moves by {seen.excess:.4g} times what the noise was scaled for"
        reason = "; ".join([part for part in (said, moved if seen.exceeds else "", *filter(None, excluded)) if part])
        status: Status = "excluded" if any(excluded) else _class(cell, bound, epsilon)
        shown = {"left": written(sides[0]), "right": written(sides[1]), "bound": bound}
        return finding(cell, status, reason, **known, **shown)
    resolution = result.resolution if math.isfinite(result.resolution) else None
    known["resolution"] = resolution
    if result.verdict is Verdict.PASS:
        return finding(cell, "PASS", result.reason, **known)
    is_screened = result.evidence.failure is None and result.evidence.game is not None
    return finding(cell, "screened" if is_screened else "undecided", result.reason, **known)


def written(side: Any) -> str:
    """Return the code of an input: a long list as sums of repeated records."""
    if not isinstance(side, list) or len(side) <= _SHORT:
        return repr(side)
    runs = [(text, len(list(same))) for text, same in groupby(map(repr, side))]
    return " + ".join(f"[{text}]" + (f" * {times}" if times > 1 else "") for text, times in runs)


def _class(cell: Cell, bound: float, epsilon: float) -> Status:
    by_rank = _CLASS.get(cell.row.rank)
    return by_rank or ("FAIL A" if bound > epsilon + _LEAK else "FAIL B")


def as_rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield findings as plain data."""
    for each in findings:
        yield {name: value for name, value in each._asdict().items() if value not in (None, "", 0, 0.0)}
