"""Call the code under audit, name it and its arguments, and refuse other objects.

`Subject` draws from a mechanism and counts anomalies; `per_call` makes a mechanism of a function that gives one
output a call, where an exception is an output, too.
"""

from __future__ import annotations

import copy
import inspect
import math
import os
import pickle
import re
import reprlib
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic, perf_counter
from types import CoroutineType
from typing import Any, NoReturn

import numpy as np

from audit.claims import Labeled
from audit.errors import AuditError, BadBatch, BadLength, InvalidArgument, Unusable
from audit.execution.sandbox import DRAWN, SLOTS, Drawing, Stopwatch, TimedOut, is_of_subject
from audit.execution.seeds import Stream
from audit.outputs.encode import Outputs, encode
from audit.outputs.tables import PlainTable, make_keeper, restore
from audit.outputs.walk import Raised, identify
from audit.text import describe_error

_SHORT = 200  # characters of a dataset in a list of pairs


def name_callable(mechanism: Any) -> str:
    """Return a short name for any callable."""
    inner = getattr(mechanism, "function", mechanism)
    return str(getattr(inner, "__name__", type(inner).__name__))


def describe_mechanism(mechanism: Any) -> str:
    """Return module and name of a callable: the same in every process, without memory addresses."""
    inner = getattr(mechanism, "function", mechanism)
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{kind.__module__}.{kind.__qualname__}" if hasattr(kind, "__module__") else name_callable(mechanism)


class NamedCode:
    """Stands in a pickled result for code that cannot be pickled, such as a lambda, and has its name."""

    def __init__(self, code: Any) -> None:
        while isinstance(code, partial):
            code = code.func
        inner = getattr(code, "function", code)
        kind = inner if hasattr(inner, "__qualname__") else type(inner)
        self.__module__, self.__qualname__, self.__name__ = kind.__module__, kind.__qualname__, name_callable(code)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise AuditError(f"{self.__qualname__} is not in this pickled result: audit again with the code itself")


def keep_picklable(check: Any) -> Any:
    """Return a check with the names of those callables in it that cannot be pickled."""
    kept = copy.copy(check)
    for name, value in vars(check).items():
        if callable(value) and not _can_pickle(value):
            object.__setattr__(kept, name, NamedCode(value))
    return kept


def _can_pickle(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:  # of the value's own code
        return False
    return True


@dataclass(frozen=True, repr=False)
class Shown:
    """A dataset that another process has found: its texts, in one line, in a witness, and whole."""

    short: str
    long: str
    code: str

    def __repr__(self) -> str:
        return self.code


def show(dataset: Any, limit: int = _SHORT) -> str:
    """Return a dataset in one line: as code that can be pasted where that is short enough, else shortened."""
    code = write_code(dataset)
    if len(code) <= limit:
        return code
    if isinstance(dataset, Shown):
        return dataset.short if limit <= _SHORT else dataset.long
    if isinstance(dataset, np.ndarray):
        body = np.array2string(dataset, threshold=12, edgeitems=3, separator=", ").replace("\n", "")
        return f"array of shape {dataset.shape}: {body}"[:limit]
    return _join_lines(reprlib.repr(dataset))[:limit]


def write_code(dataset: Any) -> str:
    """Return Python that makes the dataset, given `numpy as np`, `pandas as pd`, `polars as pl`, `inf`, `nan`, `audit`.

    A dataset of a type that has no such text is described on one line.
    """
    if isinstance(dataset, np.ndarray):
        kind = f", dtype={str(dataset.dtype)!r}" if dataset.dtype.kind != "f" or not dataset.size else ""
        return f"np.array({dataset.tolist()!r}{kind})"
    if isinstance(dataset, Labeled):
        return f"audit.Labeled({write_code(dataset.X)}, {write_code(dataset.y)})"
    library, name = type(dataset).__module__.partition(".")[0], type(dataset).__name__
    if (library, name) == ("pandas", "DataFrame"):
        index = "" if type(dataset.index).__name__ == "RangeIndex" else f", index={dataset.index.tolist()!r}"
        return f"pd.DataFrame({dataset.to_dict('list')!r}{index})"
    if (library, name) == ("polars", "DataFrame"):
        return f"pl.DataFrame({dataset.to_dict(as_series=False)!r})"
    return _join_lines(repr(dataset))


def _join_lines(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines())


def states_a_law(mechanism: Any) -> bool:
    """Return whether a mechanism states its law or its privacy loss, so that an exact audit of it is possible."""
    return any(callable(getattr(mechanism, name, None)) for name in ("privacy_loss", "law"))


_REFILLED = (np.ndarray, list, dict, set, bytearray)  # types of a buffer that each call may fill anew


class SubjectFailed(Exception):
    """The mechanism gave no usable batch; raise it in a mechanism of your own to say why, in the verdict's reason.

    After a batch that raised (`kind` is "raised") single outputs are asked for.

    Parameters
    ----------
    kind : str
        The kind of failure, such as "raised", "did not start" or "wrong shape".
    detail : str
        The text of the reason after "the mechanism".

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
        return collect(self.bind(dataset, rng), size)

    def bind(self, dataset: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return a call for one output, or for the exception in its place."""
        named = {"rng": rng} if self.takes_rng else {}
        return partial(call_safely, self.function, dataset, **named)


def per_call(function: Callable[..., Any]) -> PerCall:
    """Return a mechanism that calls a function once for each output.

    An exception is an output: it is recorded, and can leak.

    Parameters
    ----------
    function : callable
        `function(dataset)` or `function(dataset, rng)`, with one output; other parameters keep their defaults. Without
        a parameter `rng` it is taken to draw its own randomness, so its runs differ even under one seed.

    Returns
    -------
    PerCall
        A mechanism: `(dataset, size, rng) -> list` of length `size`.

    Raises
    ------
    InvalidArgument
        If `function` is not callable, or needs more arguments.

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
    if inspect.isclass(function) and any("__call__" in vars(base) for base in function.__mro__):
        raise InvalidArgument(
            f"`function` is the class {function.__qualname__}: give an object, as {function.__qualname__}(...)"
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some compiled callables have no signature
        return PerCall(function, False)
    required = [each for each in parameters if each.kind not in _COLLECTED and each.default is each.empty]
    if [each.name for each in required[:1]] == ["self"]:
        owner, _, name = function.__qualname__.rpartition(".")
        raise InvalidArgument(
            f"`function` is a method of the class {owner}: give one of an object, as {owner}(...).{name}"
        )
    if others := ", ".join(each.name for each in required[1:] if each.name != "rng" or each.kind not in _NAMED):
        fixed = "name the generator `rng`, and give the others values: audit.per_call(lambda data, rng: ...)"
        raise InvalidArgument(f"`function` must be callable as (dataset) or (dataset, rng), it needs {others}: {fixed}")
    return PerCall(function, any(each.name == "rng" and each.kind in _NAMED for each in parameters))


def collect(call: Callable[[], Any], size: int, *, keeps_plain: bool = False) -> list[Any]:
    """Return the values of `size` calls; where they are one object that is filled anew, copies of it.

    The call before the one that shows it is drawn again, since its value is gone. With `keeps_plain`, tables are kept
    as plain, if all are.
    """
    values: list[Any] = []
    is_refilled = False
    keep: Callable[[Any], Any] = copy.copy
    while len(values) < size:
        value = call()
        if not is_refilled and values and value is values[-1] and type(value) in _REFILLED:
            is_refilled = True
            values.pop()
        if keeps_plain:
            keep = keep if values else make_keeper(value)
            value = keep(value)
        values.append(copy.deepcopy(value) if is_refilled else value)
    is_mixed = keeps_plain and len({type(value) is PlainTable for value in values}) > 1
    return list(map(restore, values)) if is_mixed else values


def call_safely(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        value = function(*arguments, **named)
        if isinstance(value, CoroutineType):
            value.close()  # nobody awaits it; the reader of the output names the remedy
        return value
    except SubjectFailed:  # an adapter says itself what became of the code behind it
        raise
    except BaseException as error:  # also the one of sys.exit
        if not is_of_subject(error):
            raise
        return Raised(error)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_COLLECTED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_SWAPPED = [[rng, size] for rng in ("rng", "generator", "random_state") for size in ("size", "n")]
_OWN_REFERENCES = 2  # to a batch that nobody else keeps: a variable, and the argument that counts


@dataclass(frozen=True)
class Subject:
    mechanism: Any  # (dataset, size, rng) -> array-like
    one_by_one: bool = False  # call with size 1 for each output, so that an exception is the output of its own run

    @property
    def own_randomness(self) -> bool:
        """True when the mechanism says that it does not draw from the generator it is given."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    @property
    def calls_share_a_copy(self) -> bool:
        """True when several calls of one block see the same copy of the dataset."""
        return self.one_by_one or isinstance(self.mechanism, PerCall)

    def _call(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        if self.one_by_one:
            return collect(lambda: call_safely(lambda: self.mechanism(dataset, 1, rng)[0]), size, keeps_plain=True)
        if isinstance(self.mechanism, PerCall):
            return call_safely(collect, self.mechanism.bind(dataset, rng), size, keeps_plain=True)
        return call_safely(self.mechanism, dataset, size, rng)

    def draw(self, dataset: Any, size: int, seed: np.random.SeedSequence) -> tuple[Outputs, Counter[str]]:
        """Draw outputs on a private copy of a dataset; count anomalies: "nan", "raised", "mutated its dataset"."""
        with Drawing(size) as now:
            return self.draw_within(now, dataset, size, seed)

    def draw_within(
        self, now: Stopwatch, dataset: Any, size: int, seed: np.random.SeedSequence
    ) -> tuple[Outputs, Counter[str]]:
        """Draw outputs while a `Drawing` is under way, whose clock is `now`."""
        if monotonic() - now.started >= now.seconds:
            raise TimedOut
        try:
            lent = copy.deepcopy(dataset)
        except Exception:  # a dataset that cannot be copied is lent as it is
            lent = dataset
        rng = np.random.default_rng(seed)
        began = perf_counter()
        try:
            raw: Any = self._call(lent, size, rng)
        finally:
            now.called += perf_counter() - began
        DRAWN[os.getpid() % SLOTS] += size
        if not self.one_by_one and isinstance(raw, Raised):
            raise SubjectFailed("raised", str(raw)) from raw.error
        if type(raw) is np.ndarray and (raw.base is not None or sys.getrefcount(raw) > _OWN_REFERENCES):
            raw = raw.copy(order="K")  # the code keeps it, and its next call may fill it anew
        try:
            outputs = encode(raw, size)
        except BadLength:
            raise
        except BadBatch as error:
            raise SubjectFailed("wrong shape", str(error)) from None
        except BaseException as error:  # of a method of an output
            if not is_of_subject(error):
                raise
            said = f"returned outputs that cannot be read: {type(error).__name__}: {describe_error(error)}"
            raise SubjectFailed("unreadable", said) from error
        odd = Counter[str]()
        if outputs.texts or outputs.symbols is not None:
            odd.update({kind: count for kind in ("nan", "raised") if (count := outputs.count(kind))})
        if lent is not dataset and not _are_equal(lent, dataset):
            odd["mutated its dataset"] += 1
        return outputs, odd


def _are_equal(lent: Any, dataset: Any) -> bool:
    """Test whether a copy still equals its dataset; nothing is imported for that after the mechanism has run.

    The copy of a view lies in memory unlike the view, so that only another copy of it can be compared bit by bit.
    """
    try:
        if type(lent) is type(dataset) is np.ndarray and lent.dtype == dataset.dtype and not lent.dtype.hasobject:
            return lent.shape == dataset.shape and lent.tobytes() == dataset.tobytes()
        if _pickle_alike(lent, dataset):
            return True
        again = copy.deepcopy(dataset)
        return _pickle_alike(lent, again) or identify(lent) == identify(again)
    except Exception:
        return True


def _pickle_alike(a: Any, b: Any) -> bool:
    try:
        return pickle.dumps(a, -1) == pickle.dumps(b, -1)
    except Exception:  # a function in it, or what refuses in its own way
        return False


def probe_length(subject: Subject, dataset: Any, stream: Stream) -> int:
    """Return how many numbers an output has; raise `InvalidArgument` if a small call returns another number of them."""
    try:
        outputs, _ = subject.draw(dataset, 2, stream.digest())
    except BadLength as error:
        raise InvalidArgument(f"`mechanism` must return one output for each of `size`: it {error}") from None
    except SubjectFailed as failure:
        if failure.kind != "raised":  # each further call might take as long
            raise
        return 1  # the exceptions of single outputs are outputs: training draws one by one
    return max(1, outputs.numbers.size // 2)


def are_identical(a: Outputs, b: Outputs) -> bool:
    """Test whether two batches hold the same outputs in the same order."""
    return a.numbers.shape == b.numbers.shape and np.array_equal(a.keys(), b.keys())


def require_mechanism(mechanism: Any) -> None:
    """Raise `InvalidArgument` with the right call for an object that cannot be called as (dataset, size, rng)."""
    rule = "be callable as (dataset, size, rng)"
    if not callable(mechanism):
        raise InvalidArgument.of("mechanism", rule, mechanism)
    if inspect.iscoroutinefunction(mechanism):
        awaited = f"audit.per_call(lambda data: asyncio.run({name_callable(mechanism)}(data)))"
        raise InvalidArgument(f"`mechanism` must return outputs, not a coroutine; for one output a call: {awaited}")
    try:
        signature = inspect.signature(mechanism)
    except Exception:  # it does not say
        return
    if not _binds(signature, None, 1, None):
        said, name = f"`mechanism` must {rule}, got {name_callable(mechanism)}{signature}", name_callable(mechanism)
        taken = [part for part in signature.parameters.values() if part.kind in _POSITIONAL]
        if _binds(signature, None, size=1, rng=None):
            said = f"{said}; write lambda data, size, rng: {name}(data, size=size, rng=rng)"
        elif _binds(signature, None, size=1):
            said = f"{said}; add a third parameter rng, and draw from it"
        elif 1 <= len(taken) <= 2:
            said = f"{said}; for a function that returns one output, give audit.per_call({name})"
        raise InvalidArgument(said)
    names = [part.name for part in signature.parameters.values()]
    if names[1:3] in _SWAPPED:
        raise InvalidArgument(
            f"`mechanism` must {rule}, got {name_callable(mechanism)}{signature}: the size comes before the generator"
        )


def advise_on_exception(mechanism: Any, exception: str) -> str:
    """Return what to type for a mechanism that raised in every run."""
    function = getattr(mechanism, "function", mechanism)
    try:
        kinds = {part.kind for part in inspect.signature(function).parameters.values()}
    except (TypeError, ValueError):
        kinds = set()
    if "TypeError" in exception and inspect.Parameter.VAR_POSITIONAL in kinds:
        return f"{name_callable(function)} hides its parameters: put @functools.wraps(function) on it"
    if re.search("budget|exceed|exhaust|spent|left", exception, re.IGNORECASE):
        return "make an object that spends a budget in each call: audit.per_call(lambda data: make().release(data))"
    return f"call it by hand on the first dataset of the first pair, and mend it: {name_callable(function)}(left)"


def _binds(signature: inspect.Signature, *arguments: Any, **named: Any) -> bool:
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        return False
    return True


def call(function: Callable[..., Any], *arguments: Any, what: str) -> Any:
    """Call a function of the caller; raise `Unusable` with the exception if it raises one."""
    try:
        return function(*arguments)
    except BaseException as error:  # also the one of sys.exit
        if not is_of_subject(error):
            raise
        raise Unusable(f"{what} raised {type(error).__name__}: {describe_error(error)[:200]}") from error


def call_number(function: Callable[..., Any], name: str, size: int) -> float:
    """Call a function of the caller for one finite number; raise `Unusable` for anything else."""
    what = f"{name}({size})"
    value = call(function, size, what=what)
    if isinstance(value, (bool, np.bool_)):
        raise Unusable(f"{what} must return a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Unusable(f"{what} must return a number, got {str(value)[:80]!r} ({type(value).__name__})") from None
    if not math.isfinite(number):
        raise Unusable(f"{what} returned {number}")
    return number
