"""Right programs in ordinary and odd styles, whose laws are to be found: loops, calls, exceptions, containers."""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo.case import Case, coin

CASES: list[Case] = []


def program(**settings: Any) -> Callable[[Any], Any]:
    """Add a program in ordinary style."""

    def add(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        CASES.append(Case("control", function.__name__.replace("_", " "), function, is_plain=True, **settings))
        return function

    return add


@program(depth=12)
def rejection_loop(data: Any, rng: Any) -> Any:
    while (face := int(rng.integers(8))) >= 6:
        pass
    return face


@program(depth=14)
def geometric_by_coins(data: Any, rng: Any) -> Any:
    count = 0
    while coin(rng):
        count += 1
    return min(count, 5)


@program()
def branch_without_effect(data: Any, rng: Any) -> Any:
    if coin(rng):
        unused = [1, 2]  # noqa: F841
    return coin(rng)


@program()
def two_paths_to_one_state(data: Any, rng: Any) -> Any:
    total = coin(rng) + coin(rng)
    return total, coin(rng)


@program()
def shared_list(data: Any, rng: Any) -> Any:
    first: list[int] = []
    second = first if coin(rng) else []
    third = coin(rng)
    second.append(1)
    return third, len(first)


@program()
def same_draw_twice(data: Any, rng: Any) -> Any:
    draws = [rng.random(), rng.random()]
    if coin(rng):
        draws[1] = draws[0]
    third = coin(rng)
    return third, bool(draws[0] < 0.5), bool(draws[1] < 0.5)


@program()
def draw_kept_for_later(data: Any, rng: Any) -> Any:
    first = rng.random()
    low = bool(first < 0.75)
    second = coin(rng)
    return low, second, bool(first < 0.25)


@program()
def exception_caught(data: Any, rng: Any) -> Any:
    try:
        if coin(rng):
            raise ValueError
        found = "none"
    except ValueError:
        found = "caught"
    return found, coin(rng)


@program()
def exception_that_leaves(data: Any, rng: Any) -> Any:
    if coin(rng):
        raise ValueError("left")
    return coin(rng)


@program()
def finally_that_draws(data: Any, rng: Any) -> Any:
    found = []
    try:
        found.append(coin(rng))
    finally:
        found.append(coin(rng))
    return found


@program()
def while_else(data: Any, rng: Any) -> Any:
    rounds = 0
    while rounds < 2:
        if coin(rng):
            break
        rounds += 1
    else:
        return "else"
    return rounds


def _recursive(depth: int, rng: Any) -> int:
    return 0 if depth == 0 or coin(rng) else 1 + _recursive(depth - 1, rng)


@program()
def recursion(data: Any, rng: Any) -> Any:
    return _recursive(4, rng)


@contextlib.contextmanager
def _noted(log: list[str]) -> Iterator[None]:
    log.append("in")
    yield
    log.append("out")


@program()
def context_manager(data: Any, rng: Any) -> Any:
    log: list[str] = []
    with _noted(log):
        first = coin(rng)
    return first, log, coin(rng)


async def _later(rng: Any) -> bool:
    return coin(rng)


@program()
def coroutine(data: Any, rng: Any) -> Any:
    waiting = _later(rng)
    try:
        waiting.send(None)
    except StopIteration as end:
        return end.value, coin(rng)
    return asyncio.iscoroutine(waiting)


@program()
def comprehension(data: Any, rng: Any) -> Any:
    return [coin(rng) for _ in range(3)]


@program()
def generator_expression(data: Any, rng: Any) -> Any:
    return sum(coin(rng) for _ in range(4))


@program()
def nested_loops(data: Any, rng: Any) -> Any:
    total = 0
    for row in range(2):
        for column in range(2):
            total += coin(rng) * (row == column)
    return total


@program()
def deque_of_draws(data: Any, rng: Any) -> Any:
    last: deque[bool] = deque(maxlen=2)
    for _ in range(4):
        last.append(coin(rng))
    return list(last)


@program()
def counter_of_draws(data: Any, rng: Any) -> Any:
    return sorted(Counter(int(rng.integers(3)) for _ in range(3)).items())


@dataclass
class Walk:
    """A walk on a line."""

    place: int = 0

    def step(self, rng: Any) -> None:
        """Go left or right."""
        self.place += 1 if coin(rng) else -1


@program()
def object_with_state(data: Any, rng: Any) -> Any:
    walk = Walk()
    for _ in range(4):
        walk.step(rng)
    return walk.place


@program(depth=14)
def walk_until_an_end(data: Any, rng: Any) -> Any:
    place = 1
    while 0 < place < 3:
        place += 1 if coin(rng) else -1
    return place


@cache
def _squared(number: int) -> int:
    return number * number


@program()
def cached_function(data: Any, rng: Any) -> Any:
    return _squared(2) + int(rng.integers(3))


@program()
def partial_function(data: Any, rng: Any) -> Any:
    return partial(pow, 2)(int(rng.integers(3)))


@program()
def shuffle_of_three(data: Any, rng: Any) -> Any:
    values = [1, 2, 3]
    for last in (2, 1):
        other = int(rng.integers(last + 1))
        values[last], values[other] = values[other], values[last]
    return values


@program()
def reservoir(data: Any, rng: Any) -> Any:
    kept = 0
    for index in range(1, 4):
        if int(rng.integers(index + 1)) == 0:
            kept = index
    return kept


@program(grid=8)
def by_cumulated_weights(data: Any, rng: Any) -> Any:
    return bisect.bisect([0.125, 0.5, 1.0], rng.random())


@program(grid=8)
def by_subtraction(data: Any, rng: Any) -> Any:
    left = rng.random()
    for index, weight in enumerate((0.125, 0.375, 0.5)):
        left -= weight
        if left < 0:
            return index
    return "none"


@program()
def each_bit_flipped(data: Any, rng: Any) -> Any:
    return tuple(bit ^ (rng.random() < 0.25) for bit in (True, False))


@program()
def vector_of_bits(data: Any, rng: Any) -> Any:
    return (rng.random(3) < 0.25).tolist()


@program()
def vector_of_integers(data: Any, rng: Any) -> Any:
    return rng.integers(0, 3, size=2).tolist()


@program()
def sum_of_a_vector(data: Any, rng: Any) -> Any:
    return int((rng.random(4) < 0.5).sum())


@program()
def choice_of_a_branch(data: Any, rng: Any) -> Any:
    return [coin, lambda source: int(source.integers(3))][int(rng.integers(2))](rng)


@program()
def matrix(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 2), dtype=int)
    table[int(rng.integers(2)), int(rng.integers(2))] += 1
    return table.tolist()


@program()
def dictionary_of_counts(data: Any, rng: Any) -> Any:
    counts: dict[str, int] = {}
    for name in "ab":
        counts[name] = counts.get(name, 0) + coin(rng)
    return counts


@program()
def order_of_insertion(data: Any, rng: Any) -> Any:
    found = {"a": 0, "b": 0}
    if coin(rng):
        found["a"] = found.pop("a")
    second = coin(rng)
    return second, list(found)


@program()
def true_is_not_one(data: Any, rng: Any) -> Any:
    kept = True if coin(rng) else 1
    second = coin(rng)
    return second, str(kept)


@program()
def zero_and_minus_zero(data: Any, rng: Any) -> Any:
    kept = 0.0 if coin(rng) else -0.0
    second = coin(rng)
    return second, str(kept)


@program()
def nan_kept(data: Any, rng: Any) -> Any:
    kept = float("nan") if coin(rng) else 1.0
    second = coin(rng)
    return second, kept == kept


@program()
def numpy_and_python_numbers(data: Any, rng: Any) -> Any:
    kept = np.int64(1) if coin(rng) else 1
    second = coin(rng)
    return second, type(kept).__name__


@program()
def iterator_kept(data: Any, rng: Any) -> Any:
    numbers = iter([1, 2, 3])
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def zip_kept(data: Any, rng: Any) -> Any:
    numbers = zip([1, 2, 3], "abc", strict=True)
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def counter_kept(data: Any, rng: Any) -> Any:
    numbers = itertools.count()
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def slice_kept(data: Any, rng: Any) -> Any:
    numbers = itertools.islice(range(9), 2, None)
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def chained(data: Any, rng: Any) -> Any:
    numbers = itertools.chain([1], [2], [3])
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def accumulated(data: Any, rng: Any) -> Any:
    numbers = itertools.accumulate([1, 2, 3])
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def product_kept(data: Any, rng: Any) -> Any:
    numbers = itertools.product("ab", repeat=2)
    if coin(rng):
        next(numbers)
    second = coin(rng)
    return second, next(numbers)


@program()
def enumerated(data: Any, rng: Any) -> Any:
    found = []
    for index, name in enumerate("abc"):
        if coin(rng):
            found.append((index, name))
    return found


@program()
def reversed_list(data: Any, rng: Any) -> Any:
    return [name for name in reversed("ab") if coin(rng)]


@program()
def list_changed_in_its_loop(data: Any, rng: Any) -> Any:
    values = [1, 2]
    for value in values:
        if coin(rng) and len(values) < 4:
            values.append(value)
    return values


@program()
def nested_function(data: Any, rng: Any) -> Any:
    total = 0

    def add() -> None:
        nonlocal total
        total += coin(rng)

    add()
    add()
    return total, coin(rng)


@program()
def half_evaluated(data: Any, rng: Any) -> Any:
    return 2 * coin(rng) + coin(rng)


@program()
def half_evaluated_text(data: Any, rng: Any) -> Any:
    return f"{coin(rng)}{coin(rng)}"


@program()
def reduced(data: Any, rng: Any) -> Any:
    return reduce(lambda total, number: total + number, [int(coin(rng)) for _ in range(3)])


@program()
def walrus(data: Any, rng: Any) -> Any:
    return [kept for _ in range(2) if (kept := coin(rng))]


@program()
def lambda_as_default(data: Any, rng: Any) -> Any:
    draws = [lambda source=rng: coin(source) for _ in range(2)]
    return [draw() for draw in draws]


@program()
def deleted_variable(data: Any, rng: Any) -> Any:
    kept = 1
    if coin(rng):
        del kept
    second = coin(rng)
    try:
        return second, kept
    except UnboundLocalError:
        return second, None
