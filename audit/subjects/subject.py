"""The subject: one mechanism, called safely, with everything odd about it written down."""

from __future__ import annotations

import copy
import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from audit.base.errors import InvalidArgument
from audit.subjects.blocks import Block
from audit.subjects.outputs import BadBatch, Outputs, Raised, encode

CAUGHT = (Exception, SystemExit)  # a mechanism that calls sys.exit has raised, as far as the audit is concerned


class SubjectFailed(Exception):
    """The mechanism gave no usable batch; `kind` says which way, the text continues "the mechanism ..."."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)  # all arguments, so that it can be sent between processes
        self.kind = kind

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass(frozen=True)
class PerCall:
    """A mechanism made of a function that gives one output a call; see `per_call`."""

    function: Callable[..., Any]
    takes_rng: bool

    @property
    def own_randomness(self) -> bool:
        """True when the function draws its own randomness, so that a seed does not repeat a run."""
        return not self.takes_rng

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        return [self._one(dataset, rng) for _ in range(size)]

    def _one(self, dataset: Any, rng: np.random.Generator) -> Any:
        try:
            return self.function(dataset, rng) if self.takes_rng else self.function(dataset)
        except CAUGHT as error:
            return Raised(error)


def per_call(function: Callable[..., Any]) -> PerCall:
    """Make a mechanism of `function(dataset)`, or `function(dataset, rng)`, that gives one output a call.

    An exception is an output: it is recorded, and can leak. A function without an `rng` parameter is taken to
    draw its own randomness, so its runs differ even under one seed.

    Raises
    ------
    InvalidArgument
        When `function` is not callable.
    """
    if not callable(function):
        raise InvalidArgument.of("function", "be callable as (dataset) or (dataset, rng)", function)
    try:
        takes_rng = "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled callables have no signature
        takes_rng = False
    return PerCall(function, takes_rng)


@dataclass(frozen=True)
class Subject:
    """A mechanism under audit.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> array-like`.
    one_by_one : bool
        Call with size 1 for each output, so that an exception is the output of its own run.
    """

    mechanism: Any
    one_by_one: bool = False

    @property
    def own_randomness(self) -> bool:
        """True when the mechanism says that it does not draw from the generator it is given."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    @property
    def calls_share_a_copy(self) -> bool:
        """True when several calls of one block see the same copy of the dataset."""
        return self.one_by_one or isinstance(self.mechanism, PerCall)

    def draw(self, block: Block) -> tuple[Outputs, Counter[str]]:
        """Draw a block on a private copy of its dataset.

        Returns
        -------
        tuple of (Outputs, Counter)
            The outputs, and what was odd about them: counts for "nan", "raised", "mutated its dataset".

        Raises
        ------
        SubjectFailed
            When the call raised (unless `one_by_one`) or did not return a batch.
        BadLength
            When the batch does not have the block's size.
        """
        lent = _private_copy(block.dataset)
        outputs = self._encode(self._call(lent, block.size, np.random.default_rng(block.seed)), block.size)
        odd = _odd_symbols(outputs)
        if lent is not block.dataset and not _same(lent, block.dataset):
            odd["mutated its dataset"] += 1
        return outputs, odd

    def _encode(self, raw: Any, size: int) -> Outputs:
        try:
            return encode(raw, size)
        except BadBatch as error:
            if type(error) is not BadBatch:
                raise
            raise SubjectFailed("wrong shape", str(error)) from None

    def _call(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        if self.one_by_one:
            return [self._single(dataset, rng) for _ in range(size)]
        try:
            return self.mechanism(dataset, size, rng)
        except SubjectFailed:  # an adapter says itself what became of the code behind it
            raise
        except CAUGHT as error:
            raise SubjectFailed("raised", Raised(error).symbol) from error

    def _single(self, dataset: Any, rng: np.random.Generator) -> Any:
        try:
            return self.mechanism(dataset, 1, rng)[0]
        except SubjectFailed:
            raise
        except CAUGHT as error:
            return Raised(error)


def _odd_symbols(outputs: Outputs) -> Counter[str]:
    odd: Counter[str] = Counter()
    for symbol, count in outputs.symbols.counts() if outputs.symbols is not None else ():
        if symbol.startswith(("nan", "raised ")):
            odd["nan" if symbol.startswith("nan") else "raised"] += count
    return odd


def _private_copy(dataset: Any) -> Any:
    try:
        return copy.deepcopy(dataset)
    except Exception:  # a dataset that cannot be copied is lent as it is
        return dataset


def _same(a: Any, b: Any) -> bool:
    """Whether two datasets hold the same; of copies if need be, since a view hashes unlike a copy of it."""
    try:
        return joblib.hash(a) == joblib.hash(b) or joblib.hash(copy.deepcopy(a)) == joblib.hash(copy.deepcopy(b))
    except Exception:
        return True
