"""Assignments of records to disjoint chunks, one chunk per teacher.

Algorithm 4 of Bassily, Thakurta & Thakkar (2018) splits the data "arbitrarily into sub-samples of equal size", and its
privacy is stated for add/remove. No rule by position is private there: n and n + 1 records cannot both be cut into k
equal chunks so that one chunk changes, and a record inserted in front shifts all chunks. What is right:

    independent    every record draws its chunk, uniformly: add/remove and substitution change one chunk
    hash           the same by a keyed hash of the record, so that a record stays where it is from run to run
    position       record i goes to chunk i k // n: right under substitution only, where n is public

Under substitution `hash` changes up to two chunks: it belongs to add/remove, whose group privacy of two covers it.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer

Assignment = Callable[[Any, int, np.random.Generator], np.ndarray]


def independent(dataset: Any, chunks: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a chunk for each record; shape (n,)."""
    return rng.integers(integer(chunks, "chunks", at_least=1), size=len(dataset))


def by_hash(dataset: Any, chunks: int, key: bytes = b"") -> np.ndarray:
    """Return the chunk of each record by a keyed hash of its text; shape (n,).

    Parameters
    ----------
    key : bytes of length at most 64
        Secret and drawn once: whoever knows it can aim records at a chunk.
    """
    integer(chunks, "chunks", at_least=1)
    digests = (blake2b(_text(dataset[i]), key=key, digest_size=8).digest() for i in range(len(dataset)))
    return np.array([int.from_bytes(digest, "big") % chunks for digest in digests], dtype=np.int64)


def by_position(dataset: Any, chunks: int) -> np.ndarray:
    """Cut the records into consecutive chunks whose sizes differ by at most one; shape (n,)."""
    records = len(dataset)
    return np.arange(records) * integer(chunks, "chunks", at_least=1) // max(records, 1)


ASSIGNMENTS: dict[str, Assignment] = {
    "independent": independent,
    "hash": lambda dataset, chunks, rng: by_hash(dataset, chunks, rng.bytes(16)),
    "position": lambda dataset, chunks, rng: by_position(dataset, chunks),
}


def assignment_rule(assignment: Any) -> Assignment:
    """Return an assignment by name, or a callable (dataset, chunks, rng) -> chunk of each record; else raise."""
    if callable(assignment):
        return assignment
    if assignment not in ASSIGNMENTS:
        raise InvalidArgument.of("assignment", f"be a callable or one of {', '.join(ASSIGNMENTS)}", assignment)
    return ASSIGNMENTS[assignment]


def _text(record: Any) -> bytes:
    """Return bytes that equal records share: plain Python values, whatever array they came in."""
    plain = record.tolist() if isinstance(record, np.ndarray | np.generic) else record
    if isinstance(plain, tuple | list):
        return b"(" + b",".join(map(_text, plain)) + b")"
    return repr(plain).encode()
