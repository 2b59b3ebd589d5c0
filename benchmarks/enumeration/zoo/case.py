"""A program of the zoo, its true law by exhaustive replay, and what the enumeration makes of it.

The true law comes from a generator that shares nothing with the enumeration: a uniform is the middle of one of `grid`
equal cells of the unit, an integer is one of its values, and all of them are tried, one call of the program for each
combination, with numbers of the types that NumPy gives. A program whose thresholds are multiples of 1 / grid has this
law up to the points on its thresholds, which is below 2^-40. What draws more often than `depth` is left open.
"""

from __future__ import annotations

import os
import pickle
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import audit
from audit.enumeration.hash_seeds import confirmed
from audit.subjects.identity import Raised, identify

_NEGLIGIBLE = Fraction(1, 2**36)  # by which points on thresholds may move a probability
_MOST_RUNS = 70_000
RIGHT, REFUSED, OPEN, STATED, WRONG = "right", "refused", "open", "stated", "WRONG"


@dataclass(frozen=True)
class Case:
    """A program, and how its law is found."""

    family: str
    name: str
    program: Callable[[Any, Any], Any]
    data: Any = 1
    grid: int = 4
    depth: int = 12
    has_law: bool = True  # False: it draws on something else, so that any law is wrong
    is_stated: bool = False  # each law says that what it draws on is not looked for
    is_plain: bool = False  # the program is in ordinary style, and its law should be found


class Outcome(NamedTuple):
    """Hold what became of a program: right, refused, open (too much is left over), stated, or WRONG."""

    name: str
    said: str


class _TooDeep(BaseException):
    pass


class Scripted(np.random.Generator):
    """A generator whose numbers are those of a script, and then the first ones."""

    def __init__(self, case: Case, script: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self.case, self.script, self.sizes = case, script, list[int]()

    def pick(self, size: int) -> int:
        """Return a number below `size`."""
        at = len(self.sizes)
        if at >= self.case.depth:
            raise _TooDeep
        self.sizes.append(size)
        return self.script[at] if at < len(self.script) else 0

    def random(self, size: Any = None, *more: Any, **named: Any) -> Any:
        """Return the middle of a cell, or an array of such."""
        if size is not None:
            return np.array([self.random() for _ in range(int(np.prod(size)))]).reshape(size)
        return (self.pick(self.case.grid) + 0.5) / self.case.grid

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, **named: Any) -> Any:
        """Return one of the values."""
        low, high = (0, low) if high is None else (low, high)
        if size is not None:
            found = [self.integers(low, high, None, dtype) for _ in range(int(np.prod(size)))]
            return np.array(found, dtype=dtype).reshape(size)
        return np.dtype(dtype).type(low + self.pick(int(high) - int(low)))


def true_law(case: Case) -> tuple[dict[str, Fraction], Fraction]:
    """Return the probability of each output, as a text, and what is left open."""
    law: dict[str, Fraction] = defaultdict(Fraction)
    script: list[int] | None = []
    left = Fraction(0)
    for _ in range(_MOST_RUNS):
        source = Scripted(case, script or [])
        text = None
        try:
            text = text_of(case.program(case.data, source))
        except _TooDeep:
            pass
        except Exception as error:
            text = str(Raised(error))
        mass = Fraction(1, int(np.prod([1, *source.sizes], dtype=object)))
        if text is None:
            left += mass
        else:
            law[text] += mass
        script = _after(script or [], source.sizes)
        if script is None:
            return dict(law), left
    raise RuntimeError(f"{case.name}: more than {_MOST_RUNS} runs")


def _after(script: list[int], sizes: list[int]) -> list[int] | None:
    """Return the script that follows, in the order of the last draw first; None after the last one."""
    made = (script + [0] * len(sizes))[: len(sizes)]
    while made and made[-1] + 1 >= sizes[len(made) - 1]:
        made.pop()
    return [*made[:-1], made[-1] + 1] if made else None


def text_of(output: Any) -> str:
    """Return the text that tells an output from others."""
    return identify(output)


def outcome_of(case: Case, **limits: Any) -> Outcome:
    """Return what the enumeration makes of a program, beside its true law."""
    settings = {"residual": 1e-12, "time_limit": 60.0} | limits
    function = audit.per_call(case.program)
    law = audit.enumerate_law(function, case.data, **settings)
    if law.behind:
        return Outcome(REFUSED, "; ".join(law.behind))
    if case.family == "order":
        law = confirmed([law], function, [case.data], settings)[0]
        if law.behind:
            return Outcome(REFUSED, "; ".join(law.behind))
    if not case.has_law:
        if case.is_stated:
            return Outcome(STATED, "; ".join(law.not_seen))
        return Outcome(OPEN if law.residual > Fraction(1, 2) else WRONG, f"a law, residual {float(law.residual):.3g}")
    truth, left = in_a_process(lambda: true_law(case))
    for text in {*truth, *law.texts}:
        found, true = law.texts.get(text, Fraction(0)), truth.get(text, Fraction(0))
        if found > true + left + _NEGLIGIBLE or true > found + law.residual + _NEGLIGIBLE:
            return Outcome(WRONG, f"P({text}) = {float(found):.4g}, and truly {float(true):.4g}")
    if law.residual > Fraction(1, 10**6):
        return Outcome(OPEN, "; ".join(law.not_followed))
    return Outcome(RIGHT, "")


def in_a_process(work: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked process, so that its traces are gone afterwards."""
    reading, writing = os.pipe()
    if (process := os.fork()) == 0:
        try:
            with os.fdopen(writing, "wb") as file:
                file.write(pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        content = file.read()
    os.waitpid(process, 0)
    return pickle.loads(content)


def coin(rng: Any) -> bool:
    """Return a fair coin."""
    return bool(rng.random() < 0.5)
