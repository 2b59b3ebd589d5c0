"""Array functions as mechanisms: a release that treats every entry of an array by itself, called once a batch.

Much numerical code releases an array at a time: `values + rng.laplace(size=values.shape)`. The answer to a query is
repeated `size` times and released in one call. The relation is the claim's; released is the noisy answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.adapters.built import identity
from audit.base.errors import InvalidArgument


@dataclass(frozen=True)
class Elementwise:
    """A mechanism made of a function that releases every entry of an array independently.

    Parameters
    ----------
    release : callable
        `release(answers)` or `release(answers, rng)`: array -> array of the same shape. Without a parameter `rng` it is
        taken to draw its own randomness. That the entries do not share noise is its promise; the audit's probe and
        `RandomnessCheck` look at it.
    query : callable
        dataset -> number, or vector of shape (d,); deterministic.

    Raises
    ------
    InvalidArgument
        When one of the two is not callable; at a call, when the query answers with anything else, or the release
        changes the shape.
    """

    release: Callable[..., Any]
    query: Callable[[Any], Any] = identity

    def __post_init__(self) -> None:
        for name in ("release", "query"):
            if not callable(getattr(self, name)):
                raise InvalidArgument.of(name, "be callable", getattr(self, name))

    @property
    def __name__(self) -> str:
        return str(getattr(self.release, "__name__", "elementwise"))

    @property
    def own_randomness(self) -> bool:
        """True when the function is not given the generator."""
        return not self._takes_rng

    @property
    def _takes_rng(self) -> bool:
        try:
            return "rng" in inspect.signature(self.release).parameters
        except (TypeError, ValueError):  # compiled callables without a signature
            return False

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Release `size` copies of the answer; shape (size,) or (size, d)."""
        answer = np.asarray(self.query(dataset))
        if answer.ndim > 1 or answer.dtype.kind not in "biuf":
            raise InvalidArgument.of("query", "answer with a number or a vector of them", answer)
        copies = np.repeat(answer[None], size, axis=0)
        released = np.asarray(self.release(copies, rng) if self._takes_rng else self.release(copies))
        if released.shape != copies.shape:
            raise InvalidArgument.of("release", f"keep the shape {copies.shape}", released.shape)
        return released
