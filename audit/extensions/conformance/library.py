"""A library as a table: which queries it offers, how each is called, and the words of its documentation."""

from __future__ import annotations

import importlib.metadata
import os
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, wraps
from typing import Any

import numpy as np

from audit.api import Finite, InvalidArgument, PerCall, Product, per_call
from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.queries import QUERIES, STATED, Parameters
from audit.extensions.conformance.usual import NATIVE, USUAL, law_of, quotation, sensitivity_of

Build = Callable[[Parameters], Callable[..., Any]]
ANY = "*"
RAISED = "raised"  # key of an output that is an exception
_REMEMBERED = 8  # datasets: both sides of a few pairs


@dataclass(frozen=True)
class Waiver:
    """The reason why a case is not asked of a query: shown on the page, and an error where the case passes."""

    query: str
    case: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A library's answer to one query; `Library.query` makes it."""

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
        Its name in the table.
    relation : {"substitution", "add/remove", "local"}
        Of tables of records, as its documentation says, or the kinder one where it names none; "local" for a library
        that takes single records.
    quote : str or callable
        The documentation's words, in double quotes; or an object whose docstring's first sentence on privacy is
        taken. Of every query that has none of its own.
    distribution : str, optional
        As it is installed; for the version.
    unordered : bool
        Whether its claim is about sets of records, so that another order must not show.
    draws : int, optional
        Most outputs per dataset, for slow libraries.

    Raises
    ------
    InvalidArgument
        For an unknown relation, or a docstring that does not speak of privacy.

    References
    ----------
    Kifer, Messing, Roth, Thakurta & Zhang 2020, Guidelines for implementing and auditing differentially private
    systems. One suite of questions for many libraries: array-api-tests of the Consortium for Python Data API Standards.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.extensions.conformance import Library
    >>> from audit.extensions.conformance.cells import cells_of
    >>> library = Library("mine", relation="add/remove", quote="README: one person is one record")
    >>> library.answer({
    ...     "count": lambda p: lambda data, rng: len(data) + rng.laplace(scale=1 / p.epsilon),
    ... }, sensitivity="usual")
    >>> [cell.id for cell in cells_of(library) if cell.case in ("ordinary", "empty")]
    ['count-ordinary', 'count-empty']
    """

    def __init__(
        self,
        name: str,
        *,
        relation: str = "substitution",
        quote: str | Callable[..., Any] = "",
        distribution: str | None = None,
        unordered: bool = False,
        draws: int | None = None,
    ) -> None:
        if relation not in STATED:
            raise InvalidArgument.of("relation", f"be one of {', '.join(STATED)}", relation)
        self.name, self.relation, self.quote, self.unordered = name, relation, quotation(quote), unordered
        self.distribution, self.draws = distribution, draws
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
        quote: str | Callable[..., Any] = "",
        relation: str | None = None,
        claim: Callable[[Parameters], Any] | str | None = None,
        sensitivity: Callable[[Parameters], float | Fraction] | str | None = None,
        noiseless: Callable[[Parameters], Callable[[Any], Any]] | None = None,
        law: Callable[[Parameters, Any], Any] | str | None = None,
        native: Callable[[Parameters], Any] | str | None = None,
        draws: int | None = None,
    ) -> Callable[[Build], Build]:
        """Return a decorator of `parameters -> release`, and `release` takes a dataset, and `rng` if it has it.

        Parameters
        ----------
        name : str
            A query of `QUERIES`.
        quote : str or callable, optional
            The documentation's words on its privacy, or an object with a docstring; the library's quotation otherwise.
        relation : {"substitution", "add/remove", "local"}, optional
            Where it is not the library's.
        claim : callable or "usual", optional
            `parameters -> claim`, where the library states its own; (epsilon, delta) as asked for otherwise. "usual" is
            the one of noise with the scale sensitivity / epsilon, for queries that take scales only.
        sensitivity : callable or "usual", optional
            `parameters -> number` that noise is scaled for; "usual" is that of a count, sum, mean or variance. The
            change of the value without noise is compared with it, in fractions.
        noiseless : callable, optional
            `parameters -> (dataset -> number)` without noise, for which nothing is drawn; without it, an output at 2^40
            times the epsilon, whose noise is far below a comparison's allowance for rounding.
        law : callable, "usual", "integer" or "sample", optional
            `(parameters, dataset) -> law` of `audit.laws` that the documentation states, or None where it states none;
            "usual" is the textbook's: of Laplace noise on a number or on counts, of geometric noise, randomized
            response, unary encoding, the exponential mechanism, exponential noise on scores, or on those of `grid()`
            for a quantile. "integer" is geometric noise on counts, and "sample" Laplace noise on a variance that is
            divided by one less than the number of records.
        native : callable or "usual", optional
            `parameters -> claim` that follows from `parameters.scale`; "usual" is the textbook's. Without it no scale
            is asked for.
        draws : int, optional
            Most outputs per dataset, for slow calls.

        Raises
        ------
        InvalidArgument
            For a name that is not among the queries, or is answered already; for `noiseless` without `sensitivity`; for
            "usual" where the query has none.
        """
        if name not in QUERIES or name in self.answers:
            raise InvalidArgument.of("name", f"be a query that is not offered yet, of {', '.join(QUERIES)}", name)
        if sensitivity is None and noiseless is not None:
            raise InvalidArgument("give `sensitivity` with `noiseless`: they are compared")
        held = relation or self.relation
        if held not in STATED:
            raise InvalidArgument.of("relation", f"be one of {', '.join(STATED)}", held)
        if isinstance(sensitivity, str):
            sensitivity = sensitivity_of(name, held)
        if isinstance(law, str):
            law = law_of(name, held, law)
        answer = partial(
            Answer, query=name, relation=held, quote=quotation(quote) or self.quote,
            claim=_usual(claim, NATIVE, name, "claim"), sensitivity=sensitivity,
            noiseless=noiseless, law=law, native=_usual(native, NATIVE, name, "native"), draws=draws or self.draws,
        )  # fmt: skip

        def offered(build: Build) -> Build:
            self.answers[name] = answer(build=build)
            return build

        return offered

    def answer(self, builds: Mapping[str, Build], **said: Any) -> None:
        """Answer several queries: `parameters -> release` by name, with the arguments of `query` for all of them."""
        for name, build in builds.items():
            self.query(name, **said)(build)

    def outside(self, predicate: Callable[[str, Parameters, Any], str | None]) -> Callable[..., Any]:
        """Register `(query, parameters, dataset) -> quotation or None`: the exclusions of the documentation."""
        self._outside.append(predicate)
        return predicate

    def typed(self, quotation: str) -> None:
        """Exclude records other than numbers among numbers, or text among keys, and quote the documentation."""

        def outside(query: str, parameters: Parameters, data: Any) -> str | None:
            is_text = QUERIES[query].input in ("categories", "record")
            records = data if isinstance(data, list) else [data]
            return quotation if any(not _is_of_type(record, is_text) for record in records) else None

        self.outside(outside)

    def excluded(self, query: str, parameters: Parameters, data: Any) -> str | None:
        """Return the documentation's words against this input; None if it admits it."""
        said = (predicate(query, parameters, data) for predicate in self._outside)
        return next((quotation for quotation in said if quotation), None)

    def waive(self, query: str, case: str, *, reason: str) -> None:
        """Do not ask a case of a query, or of any (`"*"`), and say why; a case that passes is an error.

        Raises
        ------
        InvalidArgument
            For an unknown query or case, or without a reason.
        """
        if query not in (*QUERIES, ANY) or case not in CASES or not reason.strip():
            example = "type waive('sum', 'NaN', reason='mended in 2.1')"
            raise InvalidArgument(f"`waive` needs a query, a case and a reason, got {query!r}, {case!r}: {example}")
        self.waivers.append(Waiver(query, case, reason))

    def waiver(self, query: str, case: str) -> Waiver | None:
        """Return the waiver of a case."""
        return next((each for each in self.waivers if each.query in (query, ANY) and each.case == case), None)

    def setting(self, query: str, case: str) -> Mapping[str, Any]:
        """Return the parameters that the library needs for a case, from `settings`."""
        return {**self.settings.get((query, ANY), {}), **self.settings.get((query, case), {})}


@dataclass(frozen=True)
class Call:
    """A query at fixed parameters as a mechanism: an exception is an output, by its type."""

    build: Build
    parameters: Parameters

    @property
    def own_randomness(self) -> bool:
        """True when the release does not take the audit's generator."""
        return _made(self.build, self.parameters).own_randomness

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; the query is built once in a process, and in none before it is forked."""
        return _made_here(self.build, self.parameters, os.getpid())(dataset, size, rng)


@dataclass(frozen=True)
class LawfulCall(Call):
    """A query whose documentation states the law of its output, as `(parameters, dataset) -> law`."""

    stated: Callable[[Parameters, Any], Any]

    def law(self, dataset: Any) -> Any:
        """Return the stated law."""
        return self.stated(self.parameters, dataset)

    def distance(self, dataset: Any, times: float) -> float:
        """Return how far the law is from the same with `times` as much privacy loss, in the coordinate that tells most.

        Outcomes are tested one by one, so that the distance is that of the outcome that tells most; numbers by their
        distribution function, which for symmetric noise differs by half of the total variation.
        """
        p = self.parameters
        changes = {"epsilon": p.epsilon * times} if p.scale is None else {"scale": p.scale / times}
        laws = [self.stated(each, dataset) for each in (p, p.changed(changes))]
        columns = [law.laws if isinstance(law, Product) else (law,) for law in laws]
        return max(_distance(*pair) for pair in zip(*columns, strict=True))


def _distance(law: Any, other: Any) -> float:
    if isinstance(law, Finite):
        return max(abs(mass - other.pmf.get(outcome, 0.0)) for outcome, mass in law.pmf.items())
    return float(law.loss_against(other).total_variation()) / 2


def _made(build: Build, parameters: Parameters) -> PerCall:
    return per_call(_raising_by_type(build(parameters)))


@lru_cache(maxsize=8)
def _made_here(build: Build, parameters: Parameters, process: int) -> PerCall:
    """Return the mechanism of a process: its own seed is shared with no other one."""
    return _made(build, parameters)


def once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that computes the value of a dataset once, for the last few datasets.

    Outputs on one dataset then share the slow steps that draw nothing, such as reading a table.

    Parameters
    ----------
    function : callable
        From a dataset, which can be pickled, to anything.

    Returns
    -------
    callable
        The same, with its last values remembered.

    Raises
    ------
    InvalidArgument
        If `function` is not callable.

    Examples
    --------
    >>> from audit.extensions.conformance import once
    >>> total = once(lambda data: print("summed") or sum(data))
    >>> total([1, 2]) + total([1, 2])
    summed
    6
    """
    if not callable(function):
        raise InvalidArgument.of("function", "be callable", function)
    values: dict[bytes, Any] = {}

    def remembered(data: Any) -> Any:
        key = pickle.dumps(data)  # a text may leave out the middle of a long dataset
        if key not in values:
            if len(values) >= _REMEMBERED:
                del values[next(iter(values))]
            values[key] = function(data)
        return values[key]

    return remembered


def _is_of_type(record: Any, is_text: bool) -> bool:
    if isinstance(record, list):
        return all(_is_of_type(part, is_text) for part in record)
    return isinstance(record, str) if is_text else isinstance(record, (int, float)) and not isinstance(record, bool)


def _usual(given: Any, usual: Mapping[str, Any], name: str, argument: str) -> Any:
    if given != USUAL:
        return given
    if name not in usual:
        raise InvalidArgument.of(argument, f"be a function for a query other than {', '.join(usual)}", given)
    return usual[name]


def _raising_by_type(release: Callable[..., Any]) -> Callable[..., Any]:
    """Return a release whose exceptions are outputs by their type: leaks of the data in their texts are waived."""

    @wraps(release)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return release(*given, **named)
        except (Exception, SystemExit) as error:
            return {RAISED: type(error).__name__}

    return called
