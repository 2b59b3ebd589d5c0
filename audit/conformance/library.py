"""A library as a table: which queries it offers, how each is called, and what its documentation says."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np

from audit.base.errors import InvalidArgument
from audit.conformance.cases import CASES
from audit.conformance.neighbors import RELATIONS
from audit.conformance.queries import QUERIES, Parameters
from audit.subjects.subject import PerCall, per_call

Build = Callable[[Parameters], Callable[..., Any]]
ANY = "*"
RAISED = "raised"  # key of an output that is an exception


@dataclass(frozen=True)
class Waiver:
    """Hold why a case is not asked of a query: shown on the page, and an error where the case passes if `strict`."""

    query: str
    case: str
    reason: str
    strict: bool = True


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Hold how a library answers one query; `Library.query` makes it."""

    query: str
    build: Build
    relation: str
    quote: str
    claim: Callable[[Parameters], Any] | None = None
    sensitivity: Callable[[Parameters], float | Fraction] | None = None
    noiseless: Callable[[Parameters], Callable[[Any], Any]] | None = None
    law: Callable[[Parameters, Any], Any] | None = None
    native: Callable[[Parameters], Any] | None = None
    draws: int | None = None


class Library:
    """The queries that a library offers, each with a call, its quotation and its relation.

    Parameters
    ----------
    name : str
        What the table calls it.
    relation : {"substitution", "add/remove"}
        Of tables of records, as its documentation says, or the kinder one where it names none.
    quote : str
        The sentence that says so.
    distribution : str, optional
        As it is installed; for the version.
    unordered : bool
        Whether its claim is about sets of records, so that another order must not show.

    Raises
    ------
    InvalidArgument
        For an unknown relation.

    References
    ----------
    Kifer, Messing, Roth, Thakurta & Zhang 2020, Guidelines for implementing and auditing differentially private
    systems. One suite of questions for many libraries: array-api-tests of the Consortium for Python Data API Standards.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.conformance import Library
    >>> from audit.conformance.cells import cells_of
    >>> library = Library("mine", relation="add/remove", quote="README: one person is one record")
    >>> @library.query("count", quote="count(): epsilon-DP", sensitivity=lambda p: 1, noiseless=lambda p: len)
    ... def _(p):
    ...     return lambda data, rng: len(data) + rng.laplace(scale=1 / p.epsilon)
    >>> [cell.id for cell in cells_of(library) if cell.case in ("ordinary", "empty")]
    ['count-ordinary', 'count-empty']
    """

    def __init__(
        self,
        name: str,
        *,
        relation: str = "substitution",
        quote: str = "",
        distribution: str | None = None,
        unordered: bool = False,
    ) -> None:
        if relation not in RELATIONS:
            raise InvalidArgument.of("relation", f"be one of {', '.join(RELATIONS)}", relation)
        self.name, self.relation, self.quote, self.unordered = name, relation, quote, unordered
        self.distribution = distribution
        self.answers: dict[str, Answer] = {}
        self.settings: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.waivers: list[Waiver] = []
        self._outside: list[Callable[[str, Parameters, Any], str | None]] = []

    @property
    def version(self) -> str:
        """The installed version; empty where no distribution is named."""
        return importlib.metadata.version(self.distribution) if self.distribution else ""

    def query(
        self,
        name: str,
        *,
        quote: str = "",
        relation: str | None = None,
        claim: Callable[[Parameters], Any] | None = None,
        sensitivity: Callable[[Parameters], float | Fraction] | None = None,
        noiseless: Callable[[Parameters], Callable[[Any], Any]] | None = None,
        law: Callable[[Parameters, Any], Any] | None = None,
        native: Callable[[Parameters], Any] | None = None,
        draws: int | None = None,
    ) -> Callable[[Build], Build]:
        """Return a decorator of `parameters -> release`, and `release` takes a dataset, and `rng` if it has it.

        Parameters
        ----------
        name : str
            A query of `QUERIES`.
        quote : str
            What the documentation says of its privacy.
        relation : {"substitution", "add/remove"}, optional
            Where it is not the library's.
        claim : callable, optional
            `parameters -> claim`, where the library states its own; (epsilon, delta) as asked for otherwise.
        sensitivity, noiseless : callable, optional
            `parameters -> number` that noise is scaled for, and `parameters -> (dataset -> number)` without noise:
            compared exactly, without a draw.
        law : callable, optional
            `(parameters, dataset) -> law` of `audit.laws` that the documentation states.
        native : callable, optional
            `parameters -> claim` that follows from `parameters.scale`; without it no scale is asked for.
        draws : int, optional
            Most outputs per dataset, for slow calls.

        Raises
        ------
        InvalidArgument
            For a name that is not among the queries, or is answered already; for one of `sensitivity` and `noiseless`.
        """
        if name not in QUERIES or name in self.answers:
            raise InvalidArgument.of("name", f"be a query that is not offered yet, of {', '.join(QUERIES)}", name)
        if (sensitivity is None) != (noiseless is None):
            raise InvalidArgument("give `sensitivity` and `noiseless` together: they are compared")
        held = relation or self.relation
        if held not in RELATIONS:
            raise InvalidArgument.of("relation", f"be one of {', '.join(RELATIONS)}", held)

        def offered(build: Build) -> Build:
            self.answers[name] = Answer(
                query=name, build=build, relation=held, quote=quote, claim=claim, sensitivity=sensitivity,
                noiseless=noiseless, law=law, native=native, draws=draws,
            )  # fmt: skip
            return build

        return offered

    def outside(self, predicate: Callable[[str, Parameters, Any], str | None]) -> Callable[..., Any]:
        """Register `(query, parameters, dataset) -> quotation or None`: what the documentation excludes."""
        self._outside.append(predicate)
        return predicate

    def excluded(self, query: str, parameters: Parameters, data: Any) -> str | None:
        """Return what the documentation says against this input; None if it admits it."""
        said = (predicate(query, parameters, data) for predicate in self._outside)
        return next((quotation for quotation in said if quotation), None)

    def waive(self, query: str, case: str, *, reason: str, strict: bool = True) -> None:
        """Do not ask a case of a query, or of any (`"*"`), and say why; `strict` makes a case that passes an error.

        Raises
        ------
        InvalidArgument
            For an unknown query or case, or without a reason.
        """
        if query not in (*QUERIES, ANY) or case not in CASES or not reason.strip():
            example = "type waive('sum', 'NaN', reason='mended in 2.1')"
            raise InvalidArgument(f"`waive` needs a query, a case and a reason, got {query!r}, {case!r}: {example}")
        self.waivers.append(Waiver(query, case, reason, strict))

    def waiver(self, query: str, case: str) -> Waiver | None:
        """Return what waives a case."""
        return next((each for each in self.waivers if each.query in (query, ANY) and each.case == case), None)

    def setting(self, query: str, case: str) -> Mapping[str, Any]:
        """Return the parameters that the library needs for a case, from `settings`."""
        return {**self.settings.get((query, ANY), {}), **self.settings.get((query, case), {})}


@dataclass(frozen=True)
class Call:
    """A query at fixed parameters as a mechanism: an exception is an output, by its type.

    Parameters
    ----------
    build : callable
        `parameters -> release`.
    parameters : Parameters
        Public.
    """

    build: Build
    parameters: Parameters

    @property
    def own_randomness(self) -> bool:
        """True when the release does not take the audit's generator."""
        return self._built().own_randomness

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; the query is built once for them."""
        return self._built()(dataset, size, rng)

    def _built(self) -> PerCall:
        return per_call(_raising_by_type(self.build(self.parameters)))


@dataclass(frozen=True)
class LawfulCall(Call):
    """A query whose documentation states the law of its output, as `(parameters, dataset) -> law`."""

    stated: Callable[[Parameters, Any], Any]

    def law(self, dataset: Any) -> Any:
        """Return the stated law."""
        return self.stated(self.parameters, dataset)


def _raising_by_type(release: Callable[..., Any]) -> Callable[..., Any]:
    """Return a release whose exceptions are outputs by their type: what their texts say of the data is waived."""

    @wraps(release)
    def called(*given: Any) -> Any:
        try:
            return release(*given)
        except (Exception, SystemExit) as error:
            return {RAISED: type(error).__name__}

    return called
