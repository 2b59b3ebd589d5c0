"""Keep an answer as a symbol, to which noise is added: then one law of output minus answer serves all answers.

A symbol can be added to, and nothing else: code that compares, rounds, indexes or prints it asks for its value, which
ends the run. So the outputs of a run that ends are those of every answer, moved by the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from audit.extensions.enumeration.following import Follower


@dataclass(frozen=True)
class Answer:
    """Stand for every integer, plus a known one: a dataset of `enumerate_law`, and its outputs.

    Examples
    --------
    >>> from audit.extensions.enumeration import Answer, enumerate_law
    >>> law = enumerate_law(lambda answer, rng: answer + rng.integers(2), Answer())
    >>> [str(output) for output in law.probabilities]
    ['answer + 0', 'answer + 1']
    """

    offset: Any = 0

    def __str__(self) -> str:
        """Return the answer as a text."""
        return f"answer + {self.offset}"


class Symbol:
    """Take the place of an answer in the hands of code."""

    __array_ufunc__ = None  # numbers and arrays of NumPy ask here for their sums
    __slots__ = ("follower", "offset")

    def __init__(self, follower: Follower, offset: Any) -> None:
        self.follower, self.offset = follower, offset

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _ask(self.follower, f"`{name}`")

    def __add__(self, other: Any) -> Any:
        return self._moved(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._moved(other, -1)

    def __pos__(self) -> Symbol:
        return self

    def _moved(self, other: Any, sign: int) -> Any:
        if isinstance(other, np.ndarray):
            flat = np.empty(other.size, dtype=object)
            flat[:] = [self._moved(entry, sign) for entry in other.ravel()]
            return flat.reshape(other.shape)
        if type(other) is Symbol:
            _ask(self.follower, "a sum of two")
        if not isinstance(other, (int, np.integer)):
            _ask(self.follower, "a sum that may round")
        return Symbol(self.follower, self.offset + other if sign > 0 else self.offset - other)


def _ask(follower: Follower, use: str) -> NoReturn:
    follower.not_followed(f"the answer was not kept as a symbol: {use} needs its value")
    raise AssertionError("the run has ended")


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(self: Symbol, *arguments: Any) -> Any:
        _ask(self.follower, f"`{name}`")

    return refuse


_REFUSED = (
    "lt le gt ge eq ne hash bool int float complex index round trunc floor ceil abs neg invert str repr "
    "format rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow and rand "
    "or ror xor rxor lshift rlshift rshift rrshift matmul rmatmul reduce_ex"
)
for _name in _REFUSED.split():
    setattr(Symbol, f"__{_name}__", _refusal(_name))


def with_known(value: Any, answer: int) -> Any:
    """Return an output in which the answer is known, as it is in runs that confirm others."""
    if type(value) is Answer:
        return answer + value.offset
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(with_known(entry, answer) for entry in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.array([with_known(entry, answer) for entry in value.ravel()]).reshape(value.shape)
    if type(value) is dict:
        return {with_known(key, answer): with_known(entry, answer) for key, entry in value.items()}
    return value
