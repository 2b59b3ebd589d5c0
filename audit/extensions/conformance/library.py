"""A library as a table: which queries it offers, how each is called, and the words of its documentation."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.api import InvalidArgument
from audit.extensions.conformance.queries import QUERIES, STATED, Parameters
from audit.extensions.conformance.usual import find_usual, quotation

Build = Callable[[Parameters], Callable[..., Any]]


@dataclass(frozen=True)
class Answer:
    """A library's answer to one query; `Library.query` makes it."""

    query: str
    build: Build
    relation: str
    quote: str
    noiseless: Callable[[Parameters], Callable[[Any], Any]] | None
    draws: int | None
    claim: Callable[[Parameters], Any] | None
    sensitivity: Callable[[Parameters], float | Fraction] | None
    law: Callable[[Parameters, Any], Any] | None
    native: Callable[[Parameters], Any] | None


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
        draws: int | None = None,
    ) -> None:
        if relation not in STATED:
            raise InvalidArgument.of("relation", f"be one of {', '.join(STATED)}", relation)
        self.name, self.relation, self.quote = name, relation, quotation(quote)
        self.distribution, self.draws = distribution, draws
        self.answers: dict[str, Answer] = {}
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
        usual = {"claim": claim, "sensitivity": sensitivity, "law": law, "native": native}
        given: dict[str, Any] = {
            each: find_usual(each, name, held, value) if isinstance(value, str) else value
            for each, value in usual.items()
        }

        def offer(build: Build) -> Build:
            words = quotation(quote) or self.quote
            self.answers[name] = Answer(name, build, held, words, noiseless, draws or self.draws, **given)
            return build

        return offer

    def answer(self, builds: Mapping[str, Build], **said: Any) -> None:
        """Answer several queries: `parameters -> release` by name, with the arguments of `query` for all of them."""
        for name, build in builds.items():
            self.query(name, **said)(build)

    def outside(self, predicate: Callable[[str, Parameters, Any], str | None]) -> Callable[..., Any]:
        """Register `(query, parameters, dataset) -> quotation or None`: the exclusions of the documentation."""
        self._outside.append(predicate)
        return predicate

    def exclude_types(self, quotation: str) -> None:
        """Exclude records other than numbers among numbers, or text among keys, and quote the documentation."""

        def outside(query: str, parameters: Parameters, data: Any) -> str | None:
            is_text = QUERIES[query].input in ("categories", "record")
            records = data if isinstance(data, list) else [data]
            return quotation if any(not _is_of_type(record, is_text) for record in records) else None

        self.outside(outside)

    def find_exclusion(self, query: str, parameters: Parameters, data: Any) -> str | None:
        """Return the documentation's words against this input; None if it admits it."""
        said = (predicate(query, parameters, data) for predicate in self._outside)
        return next((quotation for quotation in said if quotation), None)


def _is_of_type(record: Any, is_text: bool) -> bool:
    if isinstance(record, list):
        return all(_is_of_type(part, is_text) for part in record)
    return isinstance(record, str) if is_text else isinstance(record, (int, float)) and not isinstance(record, bool)
