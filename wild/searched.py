"""Checks whose parameters are searched, as data: a table `[[searched]]` beside the checks of a library or a finding.

`parameters` has a strategy for each parameter: [least, largest], {of = [values]}, or one value. The claim is that of
the epsilon and delta of the setting. Pairs are literals, as those of a check, or the name of a rule of `PAIRS`. A row
with a list of `served` is one for each of them, whose name takes the place of `*` in name and source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

from audit import PrivacyCheck, PrivacyClaim
from wild.mechanism import Served


@dataclass(frozen=True)
class SearchedClaim:
    """The claim as a function of a setting: epsilon and delta are those of the setting, or as given here."""

    relation: Any
    source: str
    epsilon: float = 0.0

    def __call__(self, epsilon: float | None = None, delta: float = 0.0, **_: Any) -> PrivacyClaim:
        return PrivacyClaim(self.epsilon if epsilon is None else epsilon, delta, self.relation, self.source)


def ends(first: int, values: int, **_: Any) -> list[Any]:
    """The first value of a domain and the last."""
    return [(first, first + values - 1)]


def added(first: int, sensitivity: float = 1, lower: float = 0, upper: float = 0, **_: Any) -> list[Any]:
    """A record that adds the sensitivity, at both bounds where there are some."""
    if lower == upper:
        return [([], [sensitivity])]
    step = min(sensitivity, upper - lower)
    return [([lower], [lower, step]), ([upper, -step], [upper])]


def votes(first: int, candidates: int, **_: Any) -> list[Any]:
    """Votes, one of which changes from the first candidate to the last."""
    return [([0] * 3, [0, 0, candidates - 1]), ([0], [candidates - 1])]


PAIRS: dict[str, Callable[..., list[Any]]] = {"ends": ends, "added": added, "votes": votes}


def searches_of(row: Mapping[str, Any], library: str, relation: Any, pairs: Any) -> Iterator[PrivacyCheck]:
    """Yield the checks of a row; `pairs` are its literals, or the name of a rule."""
    for served in row["served"] if isinstance(row["served"], list) else [row["served"]]:
        mechanism = Served(library, served, own_randomness=row["own_randomness"])
        yield PrivacyCheck(
            name=row["name"].replace("*", served),
            mechanism=mechanism,
            claim=SearchedClaim(relation, row["source"].replace("*", served), row.get("epsilon", 0.0)),
            pairs=partial(PAIRS[pairs], row.get("first", 0)) if isinstance(pairs, str) else pairs,
            parameters={name: strategy(said) for name, said in row["parameters"].items()},
            method=row.get("method", "auto"),
            **{name: row[name] for name in ("budget", "tolerance") if name in row},
        )


def strategy(said: Any) -> st.SearchStrategy[Any]:
    """Return the strategy of a parameter: between two numbers, one of some, or one value."""
    if isinstance(said, Mapping):
        return st.sampled_from(said["of"])
    if not isinstance(said, Sequence):
        return st.just(said)
    return (st.integers if all(isinstance(end, int) for end in said) else st.floats)(*said)
