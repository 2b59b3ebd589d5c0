"""A cell of the table: one query of a library on one case, and its questions."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from typing import Any, NamedTuple

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, per_call
from audit.api import InvalidArgument, PerCall
from audit.extensions.conformance.cases import CASES, Case, InputPair
from audit.extensions.conformance.library import Answer, Build, Library
from audit.extensions.conformance.queries import QUERIES, Parameters, relation_of

FEW, MANY = 4_000, 60_000  # outputs per dataset: for odd inputs, and where a wrong calibration would show
WIDE = 0.5  # tolerance of a PASS, as a share of the claimed epsilon
NEGLIGIBLE = 2.0**40  # times epsilon: the remaining noise is far below `_ROUNDING`
RAISED = "raised"  # key of an output that is an exception
_REPEATED = 8  # outputs that show whether noise is left: where the scale overflows, it does not shrink
_ROUNDING = 1e-3  # of the noise's sensitivity: by less a value without noise may move more


@dataclass(frozen=True)
class Call:
    """A query at fixed parameters as a mechanism: an exception is an output, by its type."""

    build: Build
    parameters: Parameters

    @property
    def own_randomness(self) -> bool:
        """True when the release does not take the audit's generator."""
        return _make(self.build, self.parameters).own_randomness

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; the query is built once in a process, and in none before it is forked."""
        return _make_here(self.build, self.parameters, os.getpid())(dataset, size, rng)


@dataclass(frozen=True)
class LawfulCall(Call):
    """A query whose documentation states the law of its output, as `(parameters, dataset) -> law`."""

    stated: Callable[[Parameters, Any], Any]

    def law(self, dataset: Any) -> Any:
        """Return the stated law."""
        return self.stated(self.parameters, dataset)


def _make(build: Build, parameters: Parameters) -> PerCall:
    """Return a mechanism whose exceptions are outputs by their type: leaks of the data in their texts are waived."""
    release = build(parameters)

    @wraps(release)
    def catch(*given: Any, **named: Any) -> Any:
        try:
            return release(*given, **named)
        except (Exception, SystemExit) as error:
            return {RAISED: type(error).__name__}

    return per_call(catch)


@lru_cache(maxsize=8)
def _make_here(build: Build, parameters: Parameters, process: int) -> PerCall:
    """Return the mechanism of a process: its own seed is shared with no other one."""
    return _make(build, parameters)


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
        query, relation = QUERIES[self.query], self.answer.relation
        instances = self.row.instances(query, relation)
        if isinstance(instances, str):
            return instances
        by_parameters: dict[Parameters, list[InputPair]] = {}
        for instance in instances:
            if "scale" in instance.changes and self.answer.native is None:
                return "the library has no parameter of the noise itself"
            by_parameters.setdefault(query.parameters.change(instance.changes), []).append(instance)
        return [CellPart(self, p, relation_of(query, relation, p), pairs) for p, pairs in by_parameters.items()]


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
        law = answer.law if self.cell.row.is_usual else None
        if law is not None and law(self.parameters, self.instances[0].left) is not None:
            return LawfulCall(answer.build, self.parameters, law)
        return Call(answer.build, self.parameters)

    def check(self, name: str, draws: int = MANY) -> PrivacyCheck:
        """Return the privacy check of these inputs, at the claim that the library states for the parameters."""
        claim = self.claim()
        return PrivacyCheck(
            name=name,
            mechanism=self.mechanism,
            claim=claim,
            pairs=[(instance.left, instance.right) for instance in self.instances],
            budget=min(draws if self.cell.row.is_usual else FEW, self.cell.answer.draws or draws, draws),
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
    excess = [_excess(answer, p, instance) for instance in part.instances]
    sides = [side for instance in part.instances for side in (instance.left, instance.right)]
    outputs = [output for side in sides for output in part.mechanism(side, calls, rng)]
    kinds = {output[RAISED] if isinstance(output, dict) and set(output) == {RAISED} else "" for output in outputs}
    raises = kinds.pop() if len(kinds) == 1 else ""
    return FirstLook(raises=raises, excess=max(excess), pair=int(np.argmax(excess)))


def _excess(answer: Answer, parameters: Parameters, instance: InputPair) -> float:
    if answer.sensitivity is None:
        return 0.0
    try:
        declared = Fraction(answer.sensitivity(parameters))
        if answer.noiseless is None:
            exact = _freeze(answer.build, parameters, float(declared) * _ROUNDING)
        else:
            exact = answer.noiseless(parameters)
        left, right = exact(instance.left), exact(instance.right)
        if not declared or not all(math.isfinite(value) for value in (left, right)):
            return 0.0
        return float(abs(Fraction(left) - Fraction(right)) / declared)
    except Exception:  # the value cannot be had: the outputs are looked at, as always
        return 0.0


def _freeze(build: Build, p: Parameters, rounding: float) -> Callable[[Any], Any]:
    """Return the release with next to no noise, as the value without noise; NaN where outputs vary all the same."""
    call = Call(build, p.change({"epsilon": p.epsilon * NEGLIGIBLE}))

    def value(data: Any) -> Any:
        outputs = call(data, _REPEATED, np.random.default_rng(0))
        return outputs[0] if max(outputs) - min(outputs) <= rounding else math.nan

    return value


def cells_of(library: Library, queries: Iterable[str] = (), cases: Iterable[str] = ()) -> list[Cell]:
    """Return the cells of a library, of some queries and cases or of all; raise for an unknown name."""
    chosen, rows = _select(queries, QUERIES, "queries"), _select(cases, CASES, "cases")
    offered = [query for query in QUERIES if query in library.answers and query in chosen]
    return [Cell(library, query, case) for query in offered for case in CASES if case in rows]


def _select(names: Iterable[str], known: Iterable[str], argument: str) -> set[str]:
    """Return the names, or all if there are none; one that is misspelt would ask nothing, and nothing would fail."""
    chosen, every = set(names), set(known)
    if unknown := sorted(chosen - every):
        raise InvalidArgument.of(argument, f"be one of {', '.join(map(repr, sorted(every)))}", unknown[0])
    return chosen or every
