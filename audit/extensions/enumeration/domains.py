"""All pairs of a finite domain: the pairs of a proof, and a record of their domain."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

from audit.api import (
    Claim,
    Count,
    Digest,
    InvalidArgument,
    Limits,
    ListedPairs,
    Local,
    shorten,
    show,
    write_code,
)


@dataclass(frozen=True)
class Domain:
    """Record which datasets the pairs of a proof come from, and which of them are neighbors."""

    datasets: Annotated[tuple[str, ...], Limits(shortest=2)]  # as code; a long one is cut, with a digest
    digest: Digest  # SHA-256 of these texts, one a line
    neighbors: tuple[tuple[Count, Count], ...]  # the pairs, by the numbers of their datasets

    def __str__(self) -> str:
        """Return the domain of the pairs as a text."""
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
        if relation == Local().name and len(self.neighbors) != number * (number - 1) // 2:
            return "any two records are neighbors, and not all pairs are listed"
        return None


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("".join(f"{text}\n" for text in texts).encode(errors="surrogatepass")).hexdigest()


class AllPairs(ListedPairs):
    """Every neighboring pair of a finite domain."""

    domain: Domain

    @classmethod
    def of(cls, datasets: Any, claim: Claim) -> AllPairs:
        """Return the pairs of a list of datasets."""
        if not isinstance(datasets, Sequence) or isinstance(datasets, (str, bytes)):
            raise InvalidArgument.of("datasets", "be a list of all datasets, for method 'enumerate'", datasets)
        relation = claim.relation
        found = tuple(
            (i, j)
            for (i, left), (j, right) in combinations(enumerate(datasets), 2)
            if relation.why_not(left, right) is None or relation.why_not(right, left) is None
        )
        if not found:
            raise InvalidArgument.of("datasets", f"hold two neighbors under {relation.name}", datasets)
        pairs = cls((datasets[left], datasets[right]) for left, right in found)
        texts = tuple(text if len(text := write_code(data)) <= len(show(data)) else shorten(text) for data in datasets)
        pairs.domain = Domain(texts, _digest(texts), found)
        return pairs
