"""Call a function once for each output; what it raises is an output, too."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CoroutineType
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.execution.sandbox import is_of_subject
from audit.mechanism.describe import name_callable
from audit.outputs.fingerprint import Raised

_REFILLED = (np.ndarray, list, dict, set, bytearray)  # types of a buffer that each call may fill anew


class SubjectFailed(Exception):
    """The mechanism gave no usable batch; raise it in a mechanism of your own to say why, in the verdict's reason.

    After a batch that raised (`kind` is "raised") single outputs are asked for.

    Parameters
    ----------
    kind : str
        In which way, such as "raised", "did not start" or "wrong shape".
    detail : str
        Goes on after "the mechanism".

    Examples
    --------
    >>> import audit
    >>> def asleep(data, size, rng):
    ...     raise audit.SubjectFailed("did not start", "has no server: start it first")
    >>> result = audit.check_privacy(asleep, audit.PrivacyClaim(1.0), [([0], [1])], budget=100, workers=0)
    >>> result.verdict, result.reason
    (<Verdict.INCONCLUSIVE: 'INCONCLUSIVE'>, 'the mechanism has no server: start it first')
    """

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
        arguments = (dataset, rng) if self.takes_rng else (dataset,)
        return collect(lambda: call_safely(self.function, *arguments), size)


def per_call(function: Callable[..., Any]) -> PerCall:
    """Return a mechanism that calls a function once for each output.

    An exception is an output: it is recorded, and can leak.

    Parameters
    ----------
    function : callable
        `function(dataset)` or `function(dataset, rng)`, with one output. Without a parameter `rng` it is taken to draw
        its own randomness, so its runs differ even under one seed.

    Returns
    -------
    PerCall
        A mechanism: `(dataset, size, rng) -> list` of length `size`.

    Raises
    ------
    InvalidArgument
        If `function` is not callable.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> mechanism = audit.per_call(lambda data, rng: len(data) + rng.laplace())
    >>> len(mechanism([1, 2, 3], 5, np.random.default_rng(0)))
    5
    """
    if not callable(function):
        raise InvalidArgument.of("function", "be callable as (dataset) or (dataset, rng)", function)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        awaited = f"audit.per_call(lambda data: asyncio.run({name_callable(function)}(data)))"
        raise InvalidArgument(f"`function` must return an output, not a coroutine: write {awaited}")
    try:
        takes_rng = "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled callables have no signature
        takes_rng = False
    return PerCall(function, takes_rng)


def collect(call: Callable[[], Any], size: int) -> list[Any]:
    """Return the values of `size` calls; where they are one object that is filled anew, copies of it.

    The call before the one that shows it is drawn again, since its value is gone.
    """
    values: list[Any] = []
    is_refilled = False
    while len(values) < size:
        value = call()
        if not is_refilled and values and value is values[-1] and type(value) in _REFILLED:
            is_refilled = True
            values.pop()
        values.append(copy.deepcopy(value) if is_refilled else value)
    return values


def call_safely(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        value = function(*arguments)
        if isinstance(value, CoroutineType):
            value.close()  # what to type instead is said where it is read: nobody awaits it
        return value
    except SubjectFailed:  # an adapter says itself what became of the code behind it
        raise
    except BaseException as error:  # also the one of sys.exit
        if not is_of_subject(error):
            raise
        return Raised(error)
