"""One fault for each case of the table: a query of the reference library that fails where the case looks.

The field has shipped each in some form: sums in floating-point or in machine integers, values that are let
through or refused because of the data, scales that are wrong at some parameters only. `faulty(case)` is the reference
library with the fault of a case in place of one query.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from audit.extensions.conformance import Library, Parameters
from audit.extensions.conformance.cases import CASES
from tests.extensions.conformance.right import (
    Release,
    counted,
    geometric,
    noisy,
    number,
    numbers,
    once,
    reference,
    spread,
    sum_sensitivity,
)

Build = Callable[[Parameters], Release]
Change = Callable[[Release, Parameters, Any, np.random.Generator], Any]


class Fault(NamedTuple):
    """A fault: a query, its broken build, the relation under which it fails, and other cases that see it."""

    query: str
    build: Build
    relation: str = "substitution"
    also: tuple[str, ...] = ()
    said: Mapping[str, Any] = MappingProxyType({})  # further arguments of the library's query


def faulty(case: str) -> Library:
    """Return the reference library with the fault of a case."""
    fault = FAULTS[case]
    library = reference(fault.relation)
    right = library.answers.pop(fault.query)
    library.query(fault.query, native=right.native, **fault.said)(fault.build)
    return library


def _around(query: str, change: Change, relation: str = "substitution", also: tuple[str, ...] = ()) -> Fault:
    """Return a fault that makes of the right release, of parameters, data and generator, another one."""

    def build(p: Parameters) -> Release:
        right = reference(relation).answers[query].build(p)
        return lambda data, rng: change(right, p, data, rng)

    return Fault(query, build, relation, also)


def _wrong_at(
    query: str,
    is_wrong: Callable[[Parameters], bool],
    factor: float = 4.0,
    relation: str = "substitution",
    also: tuple[str, ...] = (),
) -> Fault:
    """Return a query whose noise is too small at some parameters."""

    def build(p: Parameters) -> Release:
        changes = {"epsilon": p.epsilon * factor} if p.scale is None else {"scale": p.scale / factor}
        return reference().answers[query].build(p.change(changes) if is_wrong(p) else p)

    return Fault(query, build, relation, also)


def _sum(
    clean: Callable[[Any, Parameters], Any],
    total: Callable[[list[Any]], Any] = sum,
    also: tuple[str, ...] = (),
    said: Mapping[str, Any] = MappingProxyType({}),
) -> Fault:
    """Return a sum with another treatment of its records, or another sum of them."""

    def build(p: Parameters) -> Release:
        scale = sum_sensitivity(p, 2) / Fraction(p.epsilon)
        found = once(lambda data: total([clean(value, p) for value in data]))

        def release(data: Any, rng: np.random.Generator) -> float:
            value = found(data)
            return noisy(Fraction(value), scale, rng) if math.isfinite(value) else float(value)

        return release

    return Fault("sum", build, also=also, said=said)


def _let_through(is_odd: Callable[[Any], bool]) -> Fault:
    def plain(value: Any) -> Any:
        return value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)

    return _sum(lambda value, p: value if is_odd(value) else number(value, p), lambda values: sum(map(plain, values)))


def _refuses(kind: type) -> Fault:
    def clean(value: Any, p: Parameters) -> Fraction:
        if isinstance(value, kind):
            raise TypeError("must be a number")
        return number(value, p)

    return _sum(clean)


def _in_floats(value: Any, p: Parameters) -> float:
    return float(number(value, p))


def _clamped_below(value: Any, p: Parameters) -> Fraction:
    is_high = isinstance(value, float) and math.isfinite(value) and value > p.upper
    return Fraction(value) if is_high else number(value, p)


def _wrap(value: int, bits: int) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def _geometric_of(changed: Callable[[int], int]) -> Build:
    """Return geometric noise on an integer that is changed before the noise is added."""

    def build(p: Parameters) -> Release:
        scale = p.sensitivity / p.epsilon if p.scale is None else p.scale
        return lambda value, rng: changed(value) + geometric(scale, rng)

    return build


def _mean_of_none(p: Parameters) -> Release:
    scale = float(spread(p)) / p.epsilon
    return lambda data, rng: float(sum(numbers(data, p)) / len(data)) + rng.laplace(scale=scale)


def _known_keys(right: Release, p: Parameters, data: Any, rng: np.random.Generator) -> Any:
    if any(isinstance(key, str) and key not in p.categories and 0 < len(key) < 100 for key in data):
        raise KeyError("unknown category")
    return right(data, rng)


def _longest_text(right: Release, p: Parameters, data: Any, rng: np.random.Generator) -> Any:
    longest = max((len(key) for key in data if isinstance(key, str)), default=0)
    return [*right(data, rng), longest > 99]


def _encoding(right: Release, p: Parameters, record: Any, rng: np.random.Generator) -> Any:
    """Encode the record in ASCII."""
    return right(record.encode("ascii").decode() if isinstance(record, str) else record, rng)


def _parsing(right: Release, p: Parameters, record: Any, rng: np.random.Generator) -> Any:
    """Take a record in digits for the place of its key."""
    if isinstance(record, str) and record.isdigit() and int(record) > len(p.categories):
        raise IndexError("no such key")
    return right(record, rng)


def _overflowing(p: Parameters) -> Release:
    scale = (p.upper - p.lower) / p.epsilon  # infinite

    def release(data: Any, rng: np.random.Generator) -> float:
        total = sum(float(number(value, p)) for value in data)
        return total + (rng.laplace() * scale if math.isfinite(scale) else 0.0)

    return release


def _vanishing(p: Parameters) -> Release:
    scale = (p.upper - p.lower) / p.epsilon
    lost = scale * 0.5 if scale > 1e-300 else 0.0
    return lambda data, rng: float(sum(_in_floats(value, p) for value in data)) + rng.laplace(scale=2 * lost)


_ULPS = tuple(f"bounds {ulps} ulp{'s' * (ulps > 1)} apart, {n} records" for ulps in (1, 2, 4) for n in (16, 64, 1024))
_WIDE_SUMS = ("offset column", *_ULPS)  # where sums in floating-point round, and many records are equal
_FLOAT_SUM = _sum(
    _in_floats,
    said={
        "sensitivity": lambda p: sum_sensitivity(p, 2),
        "noiseless": lambda p: lambda data: sum(_in_floats(value, p) for value in data),
    },
)
_BESIDE, _REGRESSION, _KEYS = (0.5, 0.25, 0.501, 4.0), "logistic regression", "histogram of public keys"


FAULTS: dict[str, Fault] = {
    # it fails on every input
    "ordinary": _around("sum", lambda right, p, data, rng: right(data, np.random.default_rng(0)), also=tuple(CASES)),
    "epsilon 1, 2, 3": _wrong_at("count", lambda p: p.epsilon in (2, 3), relation="add/remove"),
    "epsilon 5, 6, 7, 10": _wrong_at("randomized response", lambda p: p.epsilon == 5, 1e9),
    "epsilon 1/3, 1.5, .1": _wrong_at("sum", lambda p: p.epsilon == 1.5, 2.0),
    "epsilon at and beside powers of two": _wrong_at("laplace noise", lambda p: p.epsilon in _BESIDE),
    "tiny epsilon": _wrong_at("geometric noise", lambda p: p.epsilon <= 1e-3, 1e7),
    "round scales": _wrong_at("geometric noise", lambda p: p.scale in (2, 3)),
    "scales at and beside powers of two": _wrong_at("laplace noise", lambda p: p.scale in (0.5, 4.001)),
    "one key": _around(  # forgets its noise where it has one bin
        _KEYS,
        lambda right, p, data, rng: counted(data, p.categories) if len(p.categories) == 1 else right(data, rng),
        "add/remove",
    ),
    "two keys": _wrong_at("randomized response", lambda p: len(p.categories) == 2),
    "keys of unequal length": _around(  # the answer is as long as the record at most, or two letters
        "randomized response",
        lambda right, p, record, rng: right(record, rng)[: max(2, len(record)) if isinstance(record, str) else None],
        also=("long and empty text",),
    ),
    "keys beyond ASCII": _around("frequency oracle", _encoding),
    "keys that are numbers": _around("frequency oracle", _parsing),
    "random parameters": _wrong_at(
        "exponential mechanism", lambda p: p.epsilon != round(p.epsilon, 3), 8.0, also=("epsilon 1/3, 1.5, .1",)
    ),
    "empty": Fault("mean", _mean_of_none, "add/remove"),
    "one record": _around(  # exact where there is nothing to average
        "mean", lambda right, p, data, rng: float(number(data[0], p)) if len(data) == 1 else right(data, rng)
    ),
    "constant column": _around(
        "variance",
        lambda right, p, data, rng: right(data, rng) if len(set(data)) > 1 else 0.0,
        also=("ordinary", "32-bit limit", "64-bit limit", "2^53 + 1", *_WIDE_SUMS),
    ),
    "rare class": _around(
        _REGRESSION,
        lambda right, p, data, rng: [*right(data, rng), len({label for _, label in data if label in (0, 1)})],
    ),
    "NaN": _let_through(lambda value: isinstance(value, float) and math.isnan(value)),
    "infinity": _let_through(lambda value: value == math.inf),
    "minus infinity": _let_through(lambda value: value == -math.inf),
    "minus zero": _around(
        "minimum", lambda right, p, data, rng: [right(data, rng), any(str(value) == "-0.0" for value in data)]
    ),
    "missing value": _refuses(type(None)),
    "out of bounds": _sum(_clamped_below),
    "unseen category": _around(_KEYS, _known_keys),
    "unseen label": _around(
        _REGRESSION, lambda right, p, data, rng: [*right(data, rng), any(label not in (0, 1) for _, label in data)]
    ),
    "long and empty text": _around(_KEYS, _longest_text),
    "another type": _refuses(str),
    "truth value among numbers": _refuses(bool),
    "ties": _around(
        "noisy max",
        lambda right, p, scores, rng: 0 if len(set(scores)) == 1 and len(scores) > 1 else right(scores, rng),
        also=("ordinary",),
    ),
    "one candidate": _around(
        "sparse vector",
        lambda right, p, answers, rng: right(answers, rng) if len(answers) > 1 else int(answers[0] >= p.threshold),
    ),
    "32-bit limit": _sum(
        number, lambda values: _wrap(int(sum(values)), 32), ("64-bit limit", "wrap by one", "2^53 + 1", *_WIDE_SUMS)
    ),
    "64-bit limit": _sum(number, lambda values: _wrap(int(sum(values)), 64), ("wrap by one",)),
    "wrap by one": Fault("geometric noise", _geometric_of(lambda value: _wrap(value, 64))),
    "2^53 + 1": Fault(
        "geometric noise",
        _geometric_of(lambda value: int(float(value)) * 2 if value > 2**52 else value),
        also=("64-bit limit", "wrap by one"),
    ),
    "bounds of 1e308": Fault("sum", _overflowing, also=_WIDE_SUMS),
    "subnormal bounds": Fault("sum", _vanishing, also=_WIDE_SUMS),
    **{name: _FLOAT_SUM._replace(also=_WIDE_SUMS) for name in _ULPS},
    "offset column": _FLOAT_SUM._replace(also=_ULPS),
}
