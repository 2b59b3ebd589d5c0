"""Code that reads variables and objects by ways that its bytecode does not name."""

from __future__ import annotations

import builtins
import functools
import hashlib
import inspect
import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any

from benchmarks.enumeration.zoo.case import Case, coin

CASES: list[Case] = []


def program(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Add a program."""
    CASES.append(Case("reads", function.__name__.replace("_", " "), function))
    return function


class Report:
    """Release an answer with a flip."""

    def __init__(self, answer: bool, keep: float = 1.0) -> None:
        self.answer, self.keep = answer, keep

    def release(self, flip: bool) -> bool:
        """Return the answer or its opposite."""
        return self.answer ^ flip

    @property
    def kept(self) -> bool:
        """Return the answer."""
        return self.answer

    def __getitem__(self, index: int) -> bool:
        return self.answer

    def __call__(self) -> bool:
        return self.answer


class Randomized(Report):
    """Reach `self` by `super()`."""

    def sample(self, rng: Any) -> Any:
        """Draw, then use a method of the base."""
        flip = bool(rng.random() > self.keep)
        return super().release(flip)

    def sample_property(self, rng: Any) -> Any:
        """Draw, then use a property of the base."""
        flip = coin(rng)
        return flip, super().kept

    def sample_item(self, rng: Any) -> Any:
        """Draw, then use an operator of the base."""
        flip = coin(rng)
        return flip, super().__getitem__(0)

    def sample_call(self, rng: Any) -> Any:
        """Draw, then call the base."""
        flip = coin(rng)
        return flip, super().__call__()

    def sample_closure(self, rng: Any) -> Any:
        """Draw, then use the base from a loop."""
        flips = []
        for _ in range(2):
            flips.append(coin(rng))
        return tuple(flips), super().release(False)

    @classmethod
    def sample_class(cls, rng: Any) -> Any:
        """Draw, then name the class that was called."""
        flip = coin(rng)
        return flip, super().__new__(cls).__class__.__name__


class Other(Randomized):
    """Another class of the same kind."""


def _one_of_two(rng: Any) -> Randomized:
    return Randomized((False, True)[int(rng.integers(2))])


@program
def super_release(data: Any, rng: Any) -> Any:
    return _one_of_two(rng).sample(rng)


@program
def super_property(data: Any, rng: Any) -> Any:
    return _one_of_two(rng).sample_property(rng)


@program
def super_item(data: Any, rng: Any) -> Any:
    return _one_of_two(rng).sample_item(rng)


@program
def super_call(data: Any, rng: Any) -> Any:
    return _one_of_two(rng).sample_call(rng)


@program
def super_after_a_loop(data: Any, rng: Any) -> Any:
    return _one_of_two(rng).sample_closure(rng)


@program
def super_of_a_class(data: Any, rng: Any) -> Any:
    return (Randomized, Other)[int(rng.integers(2))].sample_class(rng)


@program
def dir_of_the_function(data: Any, rng: Any) -> Any:
    if coin(rng):
        z = 1  # noqa: F841
    second = coin(rng)
    return second, "z" in dir()


@program
def locals_of_the_function(data: Any, rng: Any) -> Any:
    if coin(rng):
        z = 1
    second = coin(rng)
    return second, "z" in locals()


@program
def vars_of_the_function(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, vars()["first"]


@program
def eval_of_a_name(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, eval("first")


ALIAS, DIRECTORY = builtins.locals, builtins.dir


@program
def alias_of_locals(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, ALIAS()["first"]


@program
def alias_of_dir(data: Any, rng: Any) -> Any:
    if coin(rng):
        z = 1  # noqa: F841
    second = coin(rng)
    return second, "z" in DIRECTORY()


TABLE = {"look": builtins.locals}


@program
def locals_in_a_table(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, TABLE["look"]()["first"]


@program
def locals_as_a_default(data: Any, rng: Any, look: Any = builtins.locals) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, look()["first"]


def _caller(name: str) -> Any:
    return sys._getframe(1).f_locals[name]


def _caller_by_inspect(name: str) -> Any:
    return inspect.currentframe().f_back.f_locals[name]  # type: ignore[union-attr]


def _caller_by_stack(name: str) -> Any:
    return inspect.stack()[1].frame.f_locals[name]


def _caller_by_traceback(name: str) -> Any:
    try:
        raise ValueError
    except ValueError as error:
        return error.__traceback__.tb_frame.f_back.f_locals[name]  # type: ignore[union-attr]


@program
def frame_of_the_caller(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, _caller("first")


@program
def frame_by_inspect(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, _caller_by_inspect("first")


@program
def frame_by_the_stack(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, _caller_by_stack("first")


@program
def frame_by_a_traceback(data: Any, rng: Any) -> Any:
    first = coin(rng)  # noqa: F841
    second = coin(rng)
    return second, _caller_by_traceback("first")


class Ends:
    """Tell a list when it is collected."""

    def __init__(self, log: list[int]) -> None:
        self.log = log

    def __del__(self) -> None:
        self.log.append(1)


@program
def finalizer_of_a_dead_variable(data: Any, rng: Any) -> Any:
    log: list[int] = []
    if coin(rng):
        kept = Ends(log)
        second = coin(rng)
        del kept
    else:
        second = coin(rng)
    return second, len(log)


@program
def weak_reference(data: Any, rng: Any) -> Any:
    thing = Report(True)
    weak = weakref.ref(thing)
    if coin(rng):
        del thing
    second = coin(rng)
    return second, weak() is None


@program
def number_of_references(data: Any, rng: Any) -> Any:
    thing, kept = [1], []
    if coin(rng):
        kept = thing
    second = coin(rng)
    found = sys.getrefcount(thing)
    return second, found, len(kept)


@program
def exception_that_is_handled(data: Any, rng: Any) -> Any:
    try:
        raise ValueError("a" if coin(rng) else "b")
    except ValueError:
        second = coin(rng)
        return second, str(sys.exc_info()[1])


@program
def exception_that_is_raised_again(data: Any, rng: Any) -> Any:
    try:
        try:
            raise ValueError("a" if coin(rng) else "b")
        except ValueError:
            if coin(rng):
                return "drawn"
            raise
    except ValueError as error:
        return str(error)


@program
def context_of_an_exception(data: Any, rng: Any) -> Any:
    try:
        try:
            raise ValueError("a" if coin(rng) else "b")
        except ValueError:
            coin(rng)
            raise KeyError from None
    except KeyError as error:
        return str(error.__context__)


@program
def exception_in_finally(data: Any, rng: Any) -> Any:
    found = []
    try:
        try:
            if coin(rng):
                raise ValueError("first")
        finally:
            found.append(coin(rng))
    except ValueError as error:
        found.append(str(error))
    return found


@program
def generator_in_between(data: Any, rng: Any) -> Any:
    def coins() -> Any:
        total = 0
        for _ in range(3):
            total += coin(rng)
            yield total

    return list(coins())


@program
def generator_kept_open(data: Any, rng: Any) -> Any:
    def states() -> Any:
        first = coin(rng)
        yield 0
        yield first

    opened = states()
    next(opened)
    second = coin(rng)
    return second, next(opened)


@program
def order_of_calls_by_map(data: Any, rng: Any) -> Any:
    return tuple(map(lambda number: number + coin(rng), range(3)))


@program
def sorting_by_draws(data: Any, rng: Any) -> Any:
    return sorted("abc", key=lambda _: coin(rng))


@program
def reduce_by_draws(data: Any, rng: Any) -> Any:
    return functools.reduce(lambda total, _: 2 * total + coin(rng), range(3), 1)


@program
def cell_of_a_closure(data: Any, rng: Any) -> Any:
    state = 0

    def read() -> int:
        return state

    if coin(rng):
        state = 1
    second = coin(rng)
    return second, read()


@program
def class_made_by_draws(data: Any, rng: Any) -> Any:
    class Local:
        first = coin(rng)

    second = coin(rng)
    return second, Local.first


@program
def bound_argument(data: Any, rng: Any) -> Any:
    both = functools.partial(lambda first, second: (first, second), coin(rng))
    second = coin(rng)
    return both(second)


@program
def digest(data: Any, rng: Any) -> Any:
    made = hashlib.sha256()
    made.update(b"a" if coin(rng) else b"b")
    second = coin(rng)
    return second, made.hexdigest()[:4]


@program
def getter(data: Any, rng: Any) -> Any:
    read = operator.attrgetter("real" if coin(rng) else "imag")
    second = coin(rng)
    return second, read(3 + 4j)


@program
def index_of_moved(data: Any, rng: Any) -> Any:
    by = 10 * coin(rng)
    number = rng.integers(3) + by
    by = 0
    return operator.index(number)


@program
def scaled_and_cut(data: Any, rng: Any) -> Any:
    by = 1 + coin(rng)
    number = rng.random() * by
    by = 0
    return int(2 * number), coin(rng)


@program
def pop_from_either(data: Any, rng: Any) -> Any:
    first = [1, 2, 3]
    second = first if coin(rng) else [1, 2, 3]
    taken = second.pop(rng.integers(3))
    return taken, len(first)
