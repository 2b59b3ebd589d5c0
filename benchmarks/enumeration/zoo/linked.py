"""Programs that compare numbers of which neither is known: in the usual style, and in ways that may mislead.

No grid has their laws. They are compared with outputs that the program gives with NumPy's own generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo.case import Case, coin

SCORES = (1.0, 0.0, 1.5)


def _three(rng: Any) -> tuple[Any, Any, Any]:
    return rng.laplace(), rng.laplace(), rng.laplace()


def _by_loop(data: Any, rng: Any) -> Any:
    best, arg = None, 0
    for index, score in enumerate(data):
        noisy = score + rng.exponential(2.0)
        if best is None or noisy > best:
            best, arg = noisy, index
    return arg


def _sparse(data: Any, rng: Any) -> Any:
    level = 1 + rng.laplace(0, 2.0)
    return [bool(answer + rng.laplace(0, 4.0) >= level) for answer in data]


def _sparse_with_new_level(data: Any, rng: Any) -> Any:
    level, found = 1 + rng.laplace(0, 2.0), []
    for answer in data:
        found.append(bool(answer + rng.laplace(0, 4.0) >= level))
        if found[-1]:
            level = 1 + rng.laplace(0, 2.0)
    return found


def _rejected(data: Any, rng: Any) -> Any:
    while True:
        first, second = rng.random(), rng.random()
        if first < second / 2:
            return bool(rng.random() < 0.5)


def _forgotten(data: Any, rng: Any) -> Any:
    first, second = rng.laplace(), rng.laplace()
    if first < second:
        pass
    return bool(first < rng.laplace())


def _kept(data: Any, rng: Any) -> Any:
    first, second = rng.laplace(), rng.laplace()
    is_less = bool(first < second)
    return is_less, bool(first < rng.laplace())


def _exchanged(data: Any, rng: Any) -> Any:
    first, second = rng.exponential(), rng.exponential(2.0)
    if coin(rng):
        first, second = second, first
    return bool(first < second), bool(second < rng.exponential())


def _less(one: Any, other: Any) -> bool:
    return bool(one < other)


def _in_calls(data: Any, rng: Any) -> Any:
    level = rng.laplace()
    return [_less(level, rng.laplace()) for _ in range(4)]


class _Holder:
    level: Any = None


def _in_a_class(data: Any, rng: Any) -> Any:
    _Holder.level = rng.laplace()
    return [_less(_Holder.level, rng.laplace()) for _ in range(3)]


def _in_a_generator(data: Any, rng: Any) -> Any:
    def noisy() -> Any:
        for score in data:
            yield score + rng.laplace()

    found = list(noisy())
    return found.index(max(found))


def _two_largest(data: Any, rng: Any) -> Any:
    noisy = [(score + rng.laplace(), index) for index, score in enumerate(data)]
    return tuple(sorted(index for _, index in sorted(noisy, reverse=True)[:2]))


def _of_two(expression: Callable[[Any, Any], Any], law: str = "laplace") -> Callable[[Any, Any], Any]:
    return lambda data, rng: expression(getattr(rng, law)(), getattr(rng, law)())


def _of_three(expression: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda data, rng: expression(*_three(rng))


_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "noisy max, Laplace": lambda data, rng: int(np.argmax(np.array(data) + rng.laplace(0, 2.0, size=3))),
    "noisy max, Gumbel": lambda data, rng: int(np.argmax(np.array(data) + rng.gumbel(0, 2.0, size=3))),
    "noisy min, Gumbel": lambda data, rng: int(np.argmin(np.array(data) + rng.gumbel(size=3))),
    "noisy max, minus noise": lambda data, rng: int(np.argmax(np.array(data) - rng.exponential(size=3))),
    "noisy max by a loop": _by_loop,
    "noisy max by a key": lambda data, rng: max(range(3), key=[score + rng.laplace() for score in data].__getitem__),
    "noisy max by a generator": _in_a_generator,
    "noisy max, scales of data": lambda data, rng: int(np.argmax([s + rng.laplace(0, 1 + s) for s in data])),
    "two largest": _two_largest,
    "sparse vector": _sparse,
    "sparse vector, new level": _sparse_with_new_level,
    "order of three": _of_three(lambda a, b, c: (a < b, b < c, a < c)),
    "order of three uniforms": lambda data, rng: np.argsort([rng.random() for _ in range(3)]).tolist(),
    "both ways": _of_two(lambda a, b: (a < b, b < a, a <= b, a > b, a == b, a != b)),
    "rejection of pairs": _rejected,
    "forgotten comparison": _forgotten,
    "kept comparison": _kept,
    "exchanged": _exchanged,
    "in calls": _in_calls,
    "other scales": _of_two(lambda a, b: 3 * a - 1 < b / 4, "exponential"),
    "halves of a uniform": _of_two(lambda a, b: 1 - a / 2 < b, "random"),
    "mixed laws": lambda data, rng: bool(rng.laplace() < rng.random()),
    "uniform in a range": lambda data, rng: bool(rng.uniform(1, 3) < rng.uniform(2, 5)),
    "groups that meet": lambda data, rng: _meet(*_three(rng), rng.laplace()),
}
_TRICKS: dict[str, Callable[[Any, Any], Any]] = {
    "in a class": _in_a_class,
    "twice": _of_two(lambda a, b: (a < b, a + 1 < b + 1)),
    "another comparison": _of_two(lambda a, b: (a < b, a + 1 < b)),
    "circle": lambda data, rng: _circle(*_three(rng), rng.laplace()),
    "threshold afterwards": _of_two(lambda a, b: (a < b, a < 0.5)),
    "threshold before": _of_two(lambda a, b: (a < 0.5, a < b)),
    "threshold of a maximum": _of_three(lambda a, b, c: max(a, b, c) > 1),
    "integer part afterwards": _of_two(lambda a, b: (a < b, math.floor(a))),
    "rounded afterwards": _of_two(lambda a, b: (a < b, round(b, 1) > 0)),
    "sign afterwards": _of_two(lambda a, b: (a < b, float(np.sign(a)))),
    "distance afterwards": _of_two(lambda a, b: (a < b, abs(a) < 1)),
    "truth afterwards": _of_two(lambda a, b: (a < b, bool(a - 0.5 > 0))),
    "remainder afterwards": _of_two(lambda a, b: (a < b, a % 0.5 < 0.25), "random"),
    "searched afterwards": _of_two(lambda a, b: (a < b, int(np.searchsorted([0.0, 1.0], a)))),
    "clipped afterwards": _of_two(lambda a, b: (a < b, bool(np.clip(a, 0.0, 1.0) == 1.0))),
    "text of a maximum": _of_two(lambda a, b: str(max(a, b))[0]),
    "value of a maximum": _of_two(lambda a, b: int(max(a, b) * 2)),
    "used twice": _of_two(lambda a, b: a < a + b),
    "less than its double": _of_two(lambda a, b: a < 2 * a),
    "with itself": _of_two(lambda a, b: (a < b, a * a < b), "random"),
    "absorbed": _of_two(lambda a, b: a + 2.0**52 < b + 2.0**52),
    "large integers": _of_two(lambda a, b: a + (2**53 + 1) < b + 2**53),
    "in single precision": _of_two(lambda a, b: a * np.float32(2.0**-24) + np.float32(1) < b * np.float32(1)),
    "tiny scales": _of_two(lambda a, b: a * 1e-300 < b * 1e-305),
    "overflow": _of_two(lambda a, b: a * 1e308 * 10 < b * 1e308 * 10),
    "negative scale": lambda data, rng: bool(rng.laplace(0, -1.0) < rng.laplace()),
    "no scale": lambda data, rng: bool(rng.laplace(1.0, 0.0) < rng.laplace()),
    "logarithms": _of_two(lambda a, b: math.log1p(a) < math.log1p(b / 2), "random"),
    "powers": _of_two(lambda a, b: a**2 < b, "random"),
    "both signs": _of_two(lambda a, b: (a < b, -a < b), "random"),
    "wide integers": lambda data, rng: bool(rng.integers(10**6) < rng.integers(10**6)),
    "normal": _of_two(lambda a, b: a < b, "normal"),
    "differences": _of_three(lambda a, b, c: a - b < c),
    "Gumbel and its minus": _of_two(lambda a, b: -a < b, "gumbel"),
    "Gumbel and Laplace": lambda data, rng: bool(rng.gumbel() < rng.laplace()),
    "Gumbels of two scales": lambda data, rng: bool(rng.gumbel(0, 1) < rng.gumbel(0, 2)),
    "type of the larger": _of_two(lambda a, b: (type(max(a, b)) is float, a < b)),
    "key of a dictionary": _of_two(lambda a, b: len({a: 1, b: 2}) + (a < b)),
    "truth of an array": _of_two(lambda a, b: bool(np.array([a, b]).max() > 0)),
}


def _meet(a: Any, b: Any, c: Any, d: Any) -> Any:
    return bool(a < b), bool(c < d), bool(b < c)


def _circle(a: Any, b: Any, c: Any, d: Any) -> Any:
    return bool(a < b), bool(c < d), bool(a < d), bool(c < b)


CASES = [
    Case("linked", name, program, SCORES, is_plain=name in _PLAIN, is_sampled=True)
    for name, program in (_PLAIN | _TRICKS).items()
]
