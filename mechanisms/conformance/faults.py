"""One fault for each case of the table: a query of the reference library that fails where the case looks.

The field has shipped each in some form: sums in floating-point or in machine integers, values that are let
through or refused because of the data, scales that are wrong at some parameters only. `faulty(case)` is the reference
library with the fault of a case in place of one query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from audit.extensions.conformance import Library, Parameters
from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.library import Answer, once
from mechanisms.conformance.exact import (
    Release,
    counted,
    geometric,
    noisy,
    number,
    numbers,
    spread,
    sum_sensitivity,
)
from mechanisms.conformance.reference import reference

Build = Callable[[Parameters], Release]


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


def _offered(query: str, relation: str = "substitution") -> Answer:
    return reference(relation).answers[query]


def _wrong_at(query: str, is_wrong: Callable[[Parameters], bool], factor: float = 4.0) -> Build:
    """Return a query whose noise is too small at some parameters."""

    def build(p: Parameters) -> Release:
        changes = {"epsilon": p.epsilon * factor} if p.scale is None else {"scale": p.scale / factor}
        return _offered(query).build(p.changed(changes) if is_wrong(p) else p)

    return build


def _sum(clean: Callable[[Any, Parameters], Any], total: Callable[[list[Any]], Any] = sum) -> Build:
    """Return a sum with another treatment of its records, or another sum of them."""

    def build(p: Parameters) -> Release:
        scale = sum_sensitivity(p, 2) / Fraction(p.epsilon)
        found = once(lambda data: total([clean(value, p) for value in data]))

        def release(data: Any, rng: np.random.Generator) -> float:
            value = found(data)
            return noisy(Fraction(value), scale, rng) if math.isfinite(value) else float(value)

        return release

    return build


def _let_through(is_odd: Callable[[Any], bool]) -> Build:
    return _sum(lambda value, p: value if is_odd(value) else number(value, p), lambda values: sum(map(_plain, values)))


def _plain(value: Any) -> Any:
    return value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def _refuses(is_odd: Callable[[Any], bool]) -> Callable[[Any, Parameters], Fraction]:
    def clean(value: Any, p: Parameters) -> Fraction:
        if is_odd(value):
            raise TypeError("must be a number")
        return number(value, p)

    return clean


def _in_floats(value: Any, p: Parameters) -> float:
    return float(number(value, p))


def _wrapped(bits: int) -> Build:
    def total(values: list[Any]) -> int:
        size = 2**bits
        return (int(sum(values)) + size // 2) % size - size // 2

    return _sum(number, total)


def _wrapped_output(bits: int) -> Build:
    """Return geometric noise on an integer that wraps before the noise is added."""

    def build(p: Parameters) -> Release:
        scale, size = _scale(p), 2**bits
        return lambda value, rng: (value + size // 2) % size - size // 2 + geometric(scale, rng)

    return build


def _scale(p: Parameters) -> float:
    return p.sensitivity / p.epsilon if p.scale is None else p.scale


def _rounded_integer(p: Parameters) -> Release:
    scale = _scale(p)
    return lambda value, rng: (int(float(value)) * 2 if value > 2**52 else value) + geometric(scale, rng)


def _mean_of_none(p: Parameters) -> Release:
    scale = float(spread(p)) / p.epsilon
    return lambda data, rng: float(sum(numbers(data, p)) / len(data)) + rng.laplace(scale=scale)


def _single(p: Parameters) -> Release:
    """Return a mean that is exact where there is nothing to average."""
    right = _offered("mean").build(p)
    return lambda data, rng: float(number(data[0], p)) if len(data) == 1 else right(data, rng)


def _variance_of_equal(p: Parameters) -> Release:
    right = _offered("variance").build(p)
    return lambda data, rng: right(data, rng) if len(set(data)) > 1 else 0.0


def _classes_of_data(p: Parameters) -> Release:
    right = _offered("logistic regression").build(p)
    return lambda data, rng: [*right(data, rng), len({label for _, label in data if label in (0, 1)})]


def _labels_of_data(p: Parameters) -> Release:
    right = _offered("logistic regression").build(p)
    return lambda data, rng: [*right(data, rng), any(label not in (0, 1) for _, label in data)]


def _sign_of_zero(p: Parameters) -> Release:
    right = _offered("minimum").build(p)
    return lambda data, rng: [right(data, rng), any(str(value) == "-0.0" for value in data)]


def _unclamped(p: Parameters) -> Release:
    scale = sum_sensitivity(p, 2) / Fraction(p.epsilon)

    def clean(value: Any) -> Fraction:
        is_high = isinstance(value, float) and math.isfinite(value) and value > p.upper
        return Fraction(value) if is_high else number(value, p)

    total = once(lambda data: sum(map(clean, data)))
    return lambda data, rng: noisy(total(data), scale, rng)


def _known_keys(p: Parameters) -> Release:
    scale = 2 / Fraction(p.epsilon)

    def release(data: Any, rng: np.random.Generator) -> list[float]:
        if any(isinstance(key, str) and key not in p.categories and 0 < len(key) < 100 for key in data):
            raise KeyError("unknown category")
        return [noisy(count, scale, rng) for count in counted(data, p.categories)]

    return release


def _longest_text(p: Parameters) -> Release:
    right = _offered("histogram of public keys").build(p)
    return lambda data, rng: [
        *right(data, rng),
        max((len(key) for key in data if isinstance(key, str)), default=0) > 99,
    ]


def _exact_alone(p: Parameters) -> Release:
    """Return a histogram that forgets its noise where it has one bin."""
    right = _offered("histogram of public keys", "add/remove").build(p)
    return lambda data, rng: counted(data, p.categories) if len(p.categories) == 1 else right(data, rng)


def _cut_to_its_record(p: Parameters) -> Release:
    """Return randomized response whose answer is as long as the record at most."""
    right = _offered("randomized response").build(p)
    return lambda record, rng: right(record, rng)[: len(record) if isinstance(record, str) else None]


def _encoding(p: Parameters) -> Release:
    """Return a frequency oracle that encodes the record in ASCII."""
    right = _offered("frequency oracle").build(p)
    return lambda record, rng: right(record.encode("ascii").decode() if isinstance(record, str) else record, rng)


def _parsing(p: Parameters) -> Release:
    """Return a frequency oracle that takes a record in digits for the place of its key."""
    right = _offered("frequency oracle").build(p)

    def release(record: Any, rng: np.random.Generator) -> list[int]:
        if isinstance(record, str) and record.isdigit() and int(record) > len(p.categories):
            raise IndexError("no such key")
        return list(right(record, rng))

    return release


def _first_of_ties(p: Parameters) -> Release:
    right = _offered("noisy max").build(p)
    return lambda scores, rng: 0 if len(set(scores)) == 1 and len(scores) > 1 else right(scores, rng)


def _no_choice(p: Parameters) -> Release:
    right = _offered("sparse vector").build(p)
    return lambda answers, rng: right(answers, rng) if len(answers) > 1 else int(answers[0] >= p.threshold)


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


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _equals(odd: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, float) and (value == odd or (value != value and odd != odd))


def _beside(p: Parameters) -> bool:
    return p.epsilon in (0.5, 0.25, 0.501, 4.0)


_FLOAT_SUM = _sum(_in_floats)
_FIXED = np.random.default_rng
_EXACT = {
    "sensitivity": lambda p: sum_sensitivity(p, 2),
    "noiseless": lambda p: lambda data: sum(_in_floats(value, p) for value in data),
}
_ULPS = tuple(f"bounds {ulps} ulp{'s' * (ulps > 1)} apart, {n} records" for ulps in (1, 2, 4) for n in (16, 64, 1024))

_WIDE_SUMS = ("offset column", *_ULPS)  # where sums in floating-point round, and many records are equal


def _seeded(p: Parameters) -> Release:
    right = _offered("sum").build(p)
    return lambda data, rng: right(data, _FIXED(0))


FAULTS: dict[str, Fault] = {
    "ordinary": Fault("sum", _seeded, also=tuple(CASES)),  # it fails on every input
    "epsilon 1, 2, 3": Fault("count", _wrong_at("count", lambda p: p.epsilon in (2, 3)), "add/remove"),
    "epsilon 5, 6, 7, 10": Fault(
        "randomized response", _wrong_at("randomized response", lambda p: p.epsilon == 6, 1e9)
    ),
    "epsilon 1/3, 1.5, .1": Fault("sum", _wrong_at("sum", lambda p: p.epsilon == 1.5, 2.0)),
    "epsilon at and beside powers of two": Fault("laplace noise", _wrong_at("laplace noise", _beside)),
    "tiny epsilon": Fault("geometric noise", _wrong_at("geometric noise", lambda p: p.epsilon <= 1e-3, 1e7)),
    "round scales": Fault("geometric noise", _wrong_at("geometric noise", lambda p: p.scale in (2, 3))),
    "scales at and beside powers of two": Fault(
        "laplace noise", _wrong_at("laplace noise", lambda p: p.scale in (0.5, 4.001))
    ),
    "one key": Fault("histogram of public keys", _exact_alone, "add/remove"),
    "two keys": Fault("randomized response", _wrong_at("randomized response", lambda p: len(p.categories) == 2)),
    "keys of unequal length": Fault("randomized response", _cut_to_its_record, also=("long and empty text",)),
    "keys beyond ASCII": Fault("frequency oracle", _encoding),
    "keys that are numbers": Fault("frequency oracle", _parsing),
    "random parameters": Fault(
        "exponential mechanism",
        _wrong_at("exponential mechanism", lambda p: p.epsilon != round(p.epsilon, 3), 8.0),
        also=("epsilon 1/3, 1.5, .1",),
    ),
    "empty": Fault("mean", _mean_of_none, "add/remove"),
    "one record": Fault("mean", _single),
    "constant column": Fault(
        "variance", _variance_of_equal, also=("ordinary", "32-bit limit", "64-bit limit", "2^53 + 1", *_WIDE_SUMS)
    ),
    "rare class": Fault("logistic regression", _classes_of_data),
    "NaN": Fault("sum", _let_through(_equals(math.nan))),
    "infinity": Fault("sum", _let_through(_equals(math.inf))),
    "minus infinity": Fault("sum", _let_through(_equals(-math.inf))),
    "minus zero": Fault("minimum", _sign_of_zero),
    "missing value": Fault("sum", _sum(_refuses(_is(type(None))))),
    "out of bounds": Fault("sum", _unclamped),
    "unseen category": Fault("histogram of public keys", _known_keys),
    "unseen label": Fault("logistic regression", _labels_of_data),
    "long and empty text": Fault("histogram of public keys", _longest_text),
    "another type": Fault("sum", _sum(_refuses(_is(str)))),
    "truth value among numbers": Fault("sum", _sum(_refuses(_is(bool)))),
    "ties": Fault("noisy max", _first_of_ties, also=("ordinary",)),
    "one candidate": Fault("sparse vector", _no_choice),
    "32-bit limit": Fault(
        "sum", _wrapped(32), also=("64-bit limit", "wrap by one", "2^53 + 1", "offset column", *_ULPS)
    ),
    "64-bit limit": Fault("sum", _wrapped(64), also=("wrap by one",)),
    "wrap by one": Fault("geometric noise", _wrapped_output(64)),
    "2^53 + 1": Fault("geometric noise", _rounded_integer, also=("64-bit limit", "wrap by one")),
    "bounds of 1e308": Fault("sum", _overflowing, also=("another order", *_WIDE_SUMS)),
    "subnormal bounds": Fault("sum", _vanishing, also=("another order", *_WIDE_SUMS)),
    **{name: Fault("sum", _FLOAT_SUM, also=("offset column", "another order", *_ULPS), said=_EXACT) for name in _ULPS},
    "offset column": Fault("sum", _FLOAT_SUM, also=("another order", *_ULPS), said=_EXACT),
    "another order": Fault("sum", _FLOAT_SUM, also=("offset column", *_ULPS), said=_EXACT),
}
