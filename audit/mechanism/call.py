"""Draw from a mechanism safely, record everything odd about it, and refuse what cannot be called."""

import copy
import inspect
import pickle
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit.errors import InvalidArgument, WrongLength
from audit.execution.deadline import calling, drawing
from audit.execution.progress import count_drawn
from audit.execution.sandbox import is_of_subject
from audit.execution.seeds import Block, Stream
from audit.mechanism.describe import name_callable
from audit.mechanism.per_call import PerCall, SubjectFailed, call_safely, collect
from audit.outputs.encode import BadBatch, BadLength, Outputs, encode
from audit.outputs.fingerprint import Raised, identify
from audit.text import described

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
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

    def draw(self, block: Block) -> tuple[Outputs, Counter[str]]:
        """Draw a block on a private copy of its dataset; count what was odd: "nan", "raised", "mutated its dataset"."""
        with drawing(block.size):
            return self._draw(block)

    def _draw(self, block: Block) -> tuple[Outputs, Counter[str]]:
        try:
            lent = copy.deepcopy(block.dataset)
        except Exception:  # a dataset that cannot be copied is lent as it is
            lent = block.dataset
        rng = np.random.default_rng(block.seed)
        with calling():
            if self.one_by_one:
                raw: Any = collect(lambda: call_safely(lambda: self.mechanism(lent, 1, rng)[0]), block.size)
            else:
                raw = call_safely(self.mechanism, lent, block.size, rng)
        count_drawn(block.size)
        if not self.one_by_one and isinstance(raw, Raised):
            raise SubjectFailed("raised", str(raw)) from raw.error
        if type(raw) is np.ndarray and (raw.base is not None or sys.getrefcount(raw) > _OWN_REFERENCES):
            raw = raw.copy(order="K")  # the code keeps it, and its next call may fill it anew
        try:
            outputs = encode(raw, block.size)
        except BadLength:
            raise
        except BadBatch as error:
            raise SubjectFailed("wrong shape", str(error)) from None
        except BaseException as error:  # of a method of an output
            if not is_of_subject(error):
                raise
            said = f"returned outputs that cannot be read: {type(error).__name__}: {described(error)}"
            raise SubjectFailed("unreadable", said) from error
        odd = Counter({kind: count for kind in ("nan", "raised") if (count := outputs.count(kind))})
        if lent is not block.dataset and not _are_equal(lent, block.dataset):
            odd["mutated its dataset"] += 1
        return outputs, odd


def _are_equal(lent: Any, dataset: Any) -> bool:
    """Test whether a copy still holds what its dataset does; nothing is imported for that after the mechanism has run.

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
    """Return how many numbers an output has; raise `WrongLength` if a small call does not return the size asked for."""
    try:
        outputs, _ = subject.draw(Block(dataset, 2, stream.digest()))
    except BadLength as error:
        raise WrongLength(f"`mechanism` must return one output for each of `size`: it {error}") from None
    except SubjectFailed:
        return 1  # it will fail again in the training stage, where it is recorded
    return max(1, outputs.numbers.size // 2)


def are_identical(a: Outputs, b: Outputs) -> bool:
    """Test whether two batches hold the same outputs in the same order."""
    return a.numbers.shape == b.numbers.shape and np.array_equal(a.keys(), b.keys())


def require_mechanism(mechanism: Any) -> None:
    """Raise `InvalidArgument` for what cannot be called as (dataset, size, rng), and say what to type instead."""
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
    try:
        signature.bind(None, 1, None)
    except TypeError:
        said = f"`mechanism` must {rule}, got {name_callable(mechanism)}{signature}"
        taken = [part for part in signature.parameters.values() if part.kind in _POSITIONAL]
        if 1 <= len(taken) <= 2:
            said = f"{said}; for a function that returns one output, give audit.per_call({name_callable(mechanism)})"
        raise InvalidArgument(said) from None
    names = [part.name for part in signature.parameters.values()]
    if names[1:3] in _SWAPPED:
        raise InvalidArgument(
            f"`mechanism` must {rule}, got {name_callable(mechanism)}{signature}: the size comes before the generator"
        )


def bind(mechanism: Any, setting: Mapping[str, Any]) -> Any:
    """Return a mechanism with values of its parameters: a class is made with them, a function is called with them."""
    if isinstance(mechanism, PerCall):
        return PerCall(bind(mechanism.function, setting), mechanism.takes_rng)
    try:
        inspect.signature(mechanism).bind_partial(**setting)
    except ValueError:  # it does not say
        pass
    except TypeError as error:
        said = f"`mechanism` must take the parameters {', '.join(setting)}, got {name_callable(mechanism)}: {error}"
        raise InvalidArgument(said) from None
    if inspect.isclass(mechanism):
        return mechanism(**setting)
    made = partial(mechanism, **setting)
    if Subject(mechanism).own_randomness:  # what an object declares of itself, `partial` does not pass on
        made.own_randomness = True  # type: ignore[attr-defined]
    return made
