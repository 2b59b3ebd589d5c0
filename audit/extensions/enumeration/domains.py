"""All pairs of a finite domain, or of the integers: the pairs of a proof, and a record of their domain."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

from audit.api import (
    Claim,
    Count,
    Digest,
    Distance,
    InvalidArgument,
    Limits,
    ListedPairs,
    Local,
    shorten,
    show,
    write_code,
)

INTEGERS = "integers"  # in place of datasets: every integer, as a symbol


@dataclass(frozen=True)
class Domain:
    """Record which datasets the pairs of a proof come from, and which of them are neighbors."""

    of: Literal["datasets", "integers"]
    datasets: Annotated[tuple[str, ...], Limits(shortest=2)]  # as code; a long one is cut, with a digest
    digest: Digest  # SHA-256 of these texts, one a line
    neighbors: tuple[tuple[Count, Count], ...]  # the pairs, by the numbers of their datasets

    def __str__(self) -> str:
        """Return the domain of the pairs as a text."""
        if self.of == INTEGERS:
            return f"every pair of integers at most {len(self.neighbors)} apart: the answer is only added to"
        return f"every neighboring pair of {len(self.datasets)} datasets"

    def contradiction(self, pairs: Sequence[Mapping[str, str]], relation: str) -> str | None:
        """Return why a list of pairs is not that of all neighbors in the domain; None where nothing says so."""
        number = len(self.datasets)
        if self.digest != _digest(self.datasets) or len(set(self.datasets)) < number:
            return "the domain has another digest, or lists a dataset twice"
        if len(set(self.neighbors)) < len(self.neighbors) or not all(i < j < number for i, j in self.neighbors):
            return "the domain lists a pair twice, or one that it does not have"
        for (left, right), pair in zip(self.neighbors, pairs, strict=True):
            texts = self.datasets[left], self.datasets[right]
            if (pair["left"], pair["right"]) != texts and max(map(len, texts)) <= len(max(pair.values(), key=len)):
                return "a pair is not the one that the domain lists"
        if self.of == INTEGERS:
            farthest = math.floor(float(relation.rpartition(" ")[2]))
            due = tuple((0, apart) for apart in range(1, farthest + 1))
            is_all = self.neighbors == due and number == farthest + 1
            return None if is_all else f"pairs of integers up to {farthest} apart are due"
        if relation == Local().name and len(self.neighbors) != number * (number - 1) // 2:
            return "any two records are neighbors, and not all pairs are listed"
        return None


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("".join(f"{text}\n" for text in texts).encode(errors="surrogatepass")).hexdigest()


class AllPairs(ListedPairs):
    """Every neighboring pair of a finite domain, or of the integers; `domain` says which."""

    domain: Domain

    @classmethod
    def of(cls, datasets: Any, claim: Claim) -> AllPairs:
        """Return the pairs of a list of datasets, or of `"integers"`."""
        if isinstance(datasets, str) and datasets == INTEGERS:
            return cls._of_integers(claim)
        if not isinstance(datasets, Sequence) or isinstance(datasets, (str, bytes)):
            rule = f"be a list of all datasets, or '{INTEGERS}', for method 'enumerate'"
            raise InvalidArgument.of("datasets", rule, datasets)
        relation = claim.relation
        found = tuple(
            (i, j)
            for (i, left), (j, right) in combinations(enumerate(datasets), 2)
            if relation.why_not(left, right) is None or relation.why_not(right, left) is None
        )
        if not found:
            raise InvalidArgument.of("datasets", f"hold two neighbors under {relation.name}", datasets)
        return cls._between("datasets", datasets, found)

    @classmethod
    def _of_integers(cls, claim: Claim) -> AllPairs:
        from audit.extensions.enumeration import Answer

        relation = claim.relation
        if not isinstance(relation, Distance) or relation.radius < 1:
            raise InvalidArgument.of("claim", f"have a relation Distance with a radius >= 1 for '{INTEGERS}'", claim)
        farthest = math.floor(relation.radius)
        answers = [Answer(apart) for apart in range(farthest + 1)]
        return cls._between("integers", answers, tuple((0, apart) for apart in range(1, farthest + 1)))

    @classmethod
    def _between(
        cls, of: Literal["datasets", "integers"], datasets: Sequence[Any], neighbors: tuple[tuple[int, int], ...]
    ) -> AllPairs:
        pairs = cls((datasets[left], datasets[right]) for left, right in neighbors)
        texts = tuple(text if len(text := write_code(data)) <= len(show(data)) else shorten(text) for data in datasets)
        pairs.domain = Domain(of, texts, _digest(texts), neighbors)
        return pairs
