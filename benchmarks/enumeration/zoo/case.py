"""A program of the zoo, its true law by exhaustive replay, and what the enumeration makes of it.

The true law comes from a generator that shares nothing with the enumeration: a uniform is the middle of one of `grid`
equal cells of the unit, an integer is one of its values, and all of them are tried, one call of the program for each
combination, with numbers of the types that NumPy gives. A program whose thresholds are multiples of 1 / grid has this
law up to the points on its thresholds, which is below 2^-40. What draws more often than `depth` is left open. Where no
grid has the law, 10,000 outputs with a generator of NumPy stand for it: they contradict a law when their number of some
output is so far from the bracket of its probability as has probability 1e-12 (Chernoff 1952), and see a shift of 0.04.
"""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import audit
from audit.extensions.enumeration.hash_seeds import confirmed
from audit.outputs.fingerprint import Raised, identify

_NEGLIGIBLE = Fraction(1, 2**36)  # by which points on thresholds may move a probability
_MOST_RUNS = 70_000
_OUTPUTS = 10_000
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
    is_sampled: bool = False  # no grid has its law: it is compared with outputs


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
    if case.is_sampled:
        said = contradiction(law, in_a_process(lambda: outputs_of(case)))
        if said:
            return Outcome(WRONG, said)
        return Outcome(OPEN if law.residual > Fraction(1, 10**6) else RIGHT, "; ".join(law.not_followed))
    truth, left = in_a_process(lambda: true_law(case))
    for text in {*truth, *law.texts}:
        found, true = law.texts.get(text, Fraction(0)), truth.get(text, Fraction(0))
        if found > true + left + _NEGLIGIBLE or true > found + law.residual + _NEGLIGIBLE:
            return Outcome(WRONG, f"P({text}) = {float(found):.4g}, and truly {float(true):.4g}")
    if law.residual > Fraction(1, 10**6):
        return Outcome(OPEN, "; ".join(law.not_followed))
    return Outcome(RIGHT, "")


def outputs_of(case: Case) -> Counter[str]:
    """Return how often the program has each output."""
    rng, found = np.random.default_rng(1), Counter[str]()
    for _ in range(_OUTPUTS):
        try:
            found[text_of(case.program(case.data, rng))] += 1
        except Exception as error:
            found[str(Raised(error))] += 1
    return found


def contradiction(law: audit.EnumeratedLaw, counts: Counter[str]) -> str:
    """Return which output is seen too often or too seldom, if any."""
    for text in {*law.texts, *(text for text, count in counts.most_common() if count > 3)}:
        low = float(law.texts.get(text, 0))
        share, high = counts[text] / _OUTPUTS, min(1.0, low + float(law.residual))
        nearest = min(max(share, low), high)
        if _OUTPUTS * _divergence(share, nearest) > math.log(2e12):
            return f"P({text}) in [{low:.4g}, {high:.4g}], and seen {share:.4g}"
    return ""


def _divergence(p: float, q: float) -> float:
    parts = ((p, q), (1 - p, 1 - q))
    return sum(0.0 if one == 0 else math.inf if other <= 0 else one * math.log(one / other) for one, other in parts)


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
