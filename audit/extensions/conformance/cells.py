"""A cell of the table: one query of a library on one case, and its questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from audit.api import InvalidArgument, PrivacyCheck, PrivacyClaim
from audit.extensions.conformance.cases import CASES, Case, InputPair
from audit.extensions.conformance.library import RAISED, Answer, Call, LawfulCall, Library
from audit.extensions.conformance.queries import QUERIES, REORDERED, Parameters, Query, relation_of

FEW, MANY = 4_000, 60_000  # outputs per dataset: for odd inputs, and where a wrong calibration would show
WIDE = 0.5  # tolerance of a PASS, as a share of the claimed epsilon
NEGLIGIBLE = 2.0**40  # times epsilon: the remaining noise is far below `_ROUNDING`
_REPEATED = 8  # outputs that show whether noise is left: where the scale overflows, it does not shrink
_ROUNDING = 1e-3  # of the noise's sensitivity: by less a value without noise may move more


@dataclass(frozen=True)
class Cell:
    """One query of a library on one case of the table."""

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
        """Return the questions: the inputs by parameters; or the reason why there are none.

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
        return REORDERED if self.case == "another order" else relation


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
        law = answer.law if self.cell.row.rank in ("usual", "parameters") else None
        if law is not None and law(self.parameters, self.instances[0].left) is not None:
            return LawfulCall(answer.build, self.parameters, law)
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
        return replace(stated, relation=self.relation, source=answer.quote)


class FirstLook(NamedTuple):
    """Evidence of a few calls and the noiseless values, as plain data."""

    refused: str = ""  # by the library, of public parameters
    raises: str = ""  # on both sides of all pairs, whatever was drawn
    excess: float = 0.0  # largest change without noise, in units of the noise's sensitivity
    pair: int = 0  # that shows it

    @property
    def exceeds(self) -> bool:
        """Return whether a value without noise moves more than the noise was scaled for, beyond rounding."""
        return self.excess > 1 + _ROUNDING


def probe(part: CellPart, calls: int = 3, seed: int = 0) -> FirstLook:
    """Build the query, compare values without noise, and call it a few times on each side."""
    answer, p, rng = part.cell.answer, part.parameters, np.random.default_rng(seed)
    try:
        answer.build(p)
    except Exception as error:
        return FirstLook(refused=f"{type(error).__name__}: {error}"[:300])
    found = [_excess(answer, p, instance) for instance in part.instances]
    sides = [side for instance in part.instances for side in (instance.left, instance.right)]
    outputs = [output for side in sides for output in part.mechanism(side, calls, rng)]
    kinds = {output[RAISED] if isinstance(output, dict) and set(output) == {RAISED} else "" for output in outputs}
    raises = kinds.pop() if len(kinds) == 1 else ""
    return FirstLook(raises=raises, excess=max(found), pair=int(np.argmax(found)))


def _excess(answer: Answer, parameters: Parameters, instance: InputPair) -> float:
    if answer.sensitivity is None:
        return 0.0
    try:
        declared = Fraction(answer.sensitivity(parameters))
        noiseless = answer.noiseless or _frozen(answer, float(declared) * _ROUNDING)
        exact = noiseless(parameters)
        left, right = (exact(side) for side in (instance.left, instance.right))
        if not declared or not all(math.isfinite(value) for value in (left, right)):
            return 0.0
        return float(abs(Fraction(left) - Fraction(right)) / declared)
    except Exception:  # the value cannot be had: the outputs are looked at, as always
        return 0.0


def _frozen(answer: Answer, rounding: float) -> Callable[[Parameters], Callable[[Any], Any]]:
    """Return the release with next to no noise, as the value without noise; NaN where outputs vary all the same."""

    def noiseless(p: Parameters) -> Callable[[Any], Any]:
        call = Call(answer.build, p.changed({"epsilon": p.epsilon * NEGLIGIBLE}))

        def value(data: Any) -> Any:
            found = call(data, _REPEATED, np.random.default_rng(0))
            return found[0] if max(found) - min(found) <= rounding else math.nan

        return value

    return noiseless


def cells_of(library: Library, queries: Iterable[str] = (), cases: Iterable[str] = ()) -> list[Cell]:
    """Return the cells of a library, of some queries and cases or of all; raise for an unknown name."""
    chosen, rows = _named(queries, QUERIES, "queries"), _named(cases, CASES, "cases")
    return [
        Cell(library, query, case) for query in QUERIES for case in CASES
        if query in library.answers and query in chosen and case in rows
    ]  # fmt: skip


def _named(names: Iterable[str], known: Iterable[str], argument: str) -> set[str]:
    """Return the names, or all if there are none; one that is misspelt would ask nothing, and nothing would fail."""
    found, every = set(names), set(known)
    if unknown := sorted(found - every):
        raise InvalidArgument.of(argument, f"be one of {', '.join(map(repr, sorted(every)))}", unknown[0])
    return found or every
