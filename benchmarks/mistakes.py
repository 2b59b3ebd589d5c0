"""Make the natural mistakes of a new user, and print what each is answered.

    python -m benchmarks.mistakes

Every answer is a verdict, or an error that says what to type instead. A case states what its answer must contain.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Distance, LabelFlip, Local, PrivacyClaim, check_privacy, per_call

ZEROS, ONE = np.zeros(5), np.array([1.0, 0, 0, 0, 0])
PAIRS = [(ZEROS, ONE)]
CLAIM = PrivacyClaim(epsilon=1.0)
FEW = 4_000  # outputs per dataset where a verdict needs no more


NUMBER: Any = 3.0
OWN = np.random.default_rng()


@dataclass(frozen=True)
class Case:
    """A slip: what was typed, how, and what the answer must match."""

    slip: str
    typed: Callable[[], Any]
    expected: str

    def answer(self) -> str:
        """Return the verdict with its reason, or the error."""
        try:
            result = self.typed()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return f"{result.verdict.value}: {result.reason}"

    def accepts(self, answer: str) -> bool:
        return re.search(self.expected, answer, re.DOTALL) is not None


def noisy(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(data).sum() + rng.laplace(size=size)


def of(mechanism: Any, claim: Any = CLAIM, pairs: Any = PAIRS, **settings: Any) -> Callable[[], Any]:
    """Return an audit that is not made yet."""
    return lambda: check_privacy(mechanism, claim, pairs, **settings)


def of_outputs(wrap: Callable[[np.ndarray], Any]) -> Callable[[], Any]:
    """Return an audit of a claim that holds, with outputs in another form."""
    return of(lambda data, size, rng: wrap(data.sum() + rng.laplace(size=size)))


def of_values(wrap: Callable[[float], Any]) -> Callable[[], Any]:
    """Return an audit of a claim that does not hold, with outputs that are not numbers, one per call."""
    return of(per_call(lambda data, rng: wrap(data.sum() + 0.1 * rng.laplace())), budget=FEW)


def on(left: Any, right: Any, relation: Any = None, count: Callable[[Any], float] = len) -> Callable[[], Any]:
    """Return an audit on two datasets, of a noisy count of them."""
    claim = CLAIM if relation is None else PrivacyClaim(1.0, relation=relation)
    return of(lambda data, size, rng: count(data) + rng.laplace(size=size), claim, [(left, right)])


def claimed(**parameters: Any) -> Callable[[], Any]:
    return lambda: check_privacy(noisy, PrivacyClaim(**parameters), PAIRS)


def frame(values: list[float], kind: str) -> Any:
    import pandas

    return pandas.DataFrame({"age": values}) if kind == "frame" else pandas.Series(values)


class Mutating:
    def __call__(self, data: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
        data += 1
        return noisy(data, size, rng)


class Stateful:
    """Adds its own counter, which grows with every call."""

    calls = 0

    def __call__(self, data: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
        self.calls += 1
        return noisy(data, size, rng) + self.calls


def own_noise(data: Any) -> float:
    return float(data.sum() + OWN.laplace())


def of_fixed_seed(data: Any, size: int, rng: Any) -> np.ndarray:
    return noisy(data, size, np.random.default_rng(0))


def shared(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.full(size, data.sum() + rng.laplace())


def sometimes_nan(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(size) < 0.1, np.nan, noisy(data, size, rng))


def lazy(data: Any, size: int, rng: np.random.Generator) -> Any:
    return (rng.laplace() for _ in range(size))


def sum_of_values(data: dict[str, float]) -> float:
    return sum(data.values())


def sum_of_ages(data: Any) -> float:
    return float(data.age.sum())


def raises(data: Any, size: int, rng: Any) -> Any:
    raise ValueError("no such column")


PASS, FAIL, OPEN, USAGE = "^PASS", "^FAIL", "^INCONCLUSIVE", "^(InvalidArgument|WrongLength|NotNeighboring)"

MECHANISMS = [
    Case("f(data)", of(lambda data: data.sum()), f"{USAGE}.*audit.per_call"),
    Case("f(data, rng)", of(lambda data, rng: 0.0), f"{USAGE}.*audit.per_call"),
    Case("f(data, size)", of(lambda data, size: 0.0), f"{USAGE}.*audit.per_call"),
    Case("f()", lambda: check_privacy(lambda: 0.0, CLAIM, PAIRS), f"{USAGE}.*callable as"),
    Case("f(data, rng, size)", of(lambda data, rng, size: 0.0), "size comes before"),
    Case("f(data, size, rng, scale)", of(lambda d, s, r, scale: 0.0), USAGE),
    Case("a number for the mechanism", of(NUMBER), f"{USAGE}.*callable"),
    Case("the result for the mechanism", of(noisy(ZEROS, 5, np.random.default_rng(0))), f"{USAGE}.*callable"),
    Case("per_call of f(data)", of(per_call(own_noise)), PASS),
    Case("per_call of f(data, rng)", of(per_call(lambda data, rng: data.sum() + rng.laplace())), PASS),
    Case("per_call of no function", lambda: per_call(NUMBER), f"{USAGE}.*function"),
    Case("one number for all outputs", of(lambda data, size, rng: data.sum() + rng.laplace()), "one row per output"),
    Case("one output too many", of(lambda data, size, rng: noisy(data, size + 1, rng)), "WrongLength"),
    Case("shape (3, size)", of(lambda data, size, rng: rng.laplace(size=(3, size))), "WrongLength"),
    Case("a generator of outputs", of(lazy), "one row per output"),
    Case("nothing returned", of(lambda data, size, rng: None), "NoneType where an array"),
    Case("it raises", of(raises), "raised.*no such column"),
    Case("the seed is fixed inside", of(of_fixed_seed, claim=PrivacyClaim(1.5)), OPEN),
    Case("one noise for all outputs", of(shared, budget=3_000), OPEN),
    Case("size= forgotten", of(lambda data, size, rng: data.sum() + rng.laplace() + np.zeros(size)), OPEN),
    Case("it changes its dataset", of(Mutating()), f"{OPEN}.*changed the dataset"),
    Case("it keeps state", of(Stateful()), OPEN),
    Case("the noise is forgotten", of(lambda data, size, rng: np.full(size, data.sum())), f"{OPEN}|{FAIL}"),
    Case("NaN now and then", of(sometimes_nan), f"{OPEN}.*NaN"),
]  # fmt: skip
OUTPUTS = [
    Case("list of floats", of_outputs(lambda x: x.tolist()), PASS),
    Case("rounded to integers", of_outputs(lambda x: np.round(x).astype(int)), PASS),
    Case("booleans", of_outputs(lambda x: x > 0), PASS),
    Case("float32", of_outputs(lambda x: x.astype(np.float32)), PASS),
    Case("text", of_values(str), FAIL),
    Case("bytes", of_values(lambda x: str(x).encode()), FAIL),
    Case("a dict", of_values(lambda x: {"n": x}), FAIL),
    Case("a tuple", of_values(lambda x: (x, "ok")), FAIL),
    Case("Decimal", of_values(lambda x: decimal.Decimal(x)), FAIL),
    Case("complex", of_values(lambda x: complex(x, 0)), FAIL),
    Case("datetime", of_values(lambda x: datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=x)), FAIL),
    Case("None or a number", of_values(lambda x: x if x > 0.5 else None), FAIL),
    Case("a list of variable length", of_values(lambda x: [0] * max(0, round(x))), FAIL),
    Case("a set", of_values(lambda x: {round(x)}), FAIL),
    Case("a pandas series", of_outputs(lambda x: frame(x.tolist(), "series")), PASS),
    Case("a pandas frame of outputs", of_outputs(lambda x: frame(x.tolist(), "frame")), PASS),
]
DATASETS = [
    Case("add/remove forgotten", on([], ["ann"]), f"{USAGE}.*AddRemove"),
    Case("two records replaced", on([0, 0], [1, 1]), f"{USAGE}.*2 records"),
    Case("equal datasets", on([0], [0]), USAGE),
    Case("no pairs", of(noisy, pairs=[]), USAGE),
    Case("neither pairs nor datasets", of(noisy, pairs=()), USAGE),
    Case("a pair for the list of pairs", of(noisy, pairs=PAIRS[0]), f"{USAGE}.*for one pair, write"),
    Case("numbers as datasets", on(0.0, 1.0, count=float), f"{USAGE}.*(Local|Distance)"),
    Case("numbers under local privacy", on(0.0, 1.0, Local(), float), PASS),
    Case("text as a dataset", on("ann", "bob"), f"{PASS}|{USAGE}"),
    Case("sets", on({1, 2}, {1, 2, 3}, AddRemove()), PASS),
    Case("a dict of records", on({"ann": 1}, {"ann": 1, "bob": 2}, AddRemove()), PASS),
    Case("dicts under substitution", on({"ann": 1, "bob": 2}, {"ann": 1, "bob": 3}, count=sum_of_values), PASS),
    Case("a pandas frame as dataset", on(frame([1, 2], "frame"), frame([1, 3], "frame"), count=sum_of_ages), PASS),
    Case("aggregates without a relation", on([0.0, 0, 0], [1.0, 0, 1], count=max), f"{USAGE}.*Distance"),
    Case("aggregates within a distance", on([0.0, 0, 0], [1.0, 0, 1], Distance("linf", 1.0), max), PASS),
    Case("labels forgotten", on([0, 1], [0, 0], LabelFlip()), f"{USAGE}|{PASS}"),
]  # fmt: skip
SETTINGS = [
    Case("claim=1.0", of(noisy, claim=1.0), f"{USAGE}.*PrivacyClaim"),
    Case("epsilon=-1", claimed(epsilon=-1.0), USAGE),
    Case("epsilon='1'", claimed(epsilon="1"), USAGE),
    Case("delta=2", claimed(epsilon=1.0, delta=2.0), USAGE),
    Case("relation='add_remove'", claimed(epsilon=1.0, relation="add_remove"), USAGE),
    Case("significance=5", of(noisy, significance=5), USAGE),
    Case("budget='quick'", of(noisy, budget="quick"), PASS),
    Case("budget='fast'", of(noisy, budget="fast"), f"{USAGE}.*quick"),
    Case("budget=10", of(noisy, budget=10), f"{OPEN}.*budget"),
    Case("budget=0", of(noisy, budget=0), USAGE),
    Case("budget=1e5", of(noisy, budget=1e5), f"{USAGE}|{PASS}"),
    Case("seed=None", of(noisy, seed=None), USAGE),
    Case("method='exakt'", of(noisy, method="exakt"), f"{USAGE}.*exact"),
    Case("method='exact' without a law", of(noisy, method="exact"), f"{USAGE}.*law"),
    Case("workers=-2", of(noisy, workers=-2), USAGE),
    Case("two pairs, method='sequential'", of(noisy, pairs=2 * PAIRS, method="sequential"), USAGE),
    Case("half the true epsilon claimed", of(noisy, claim=PrivacyClaim(0.5)), FAIL),
]
CASES = [*MECHANISMS, *OUTPUTS, *DATASETS, *SETTINGS]


def main() -> None:
    print("| mistake | answer |\n| --- | --- |")
    for case in CASES:
        answer = case.answer()
        mark = "" if case.accepts(answer) else " (unexpected)"
        print(f"| {case.slip} | {' '.join(answer.split())[:240].replace('|', '/')}{mark} |")


if __name__ == "__main__":
    main()
