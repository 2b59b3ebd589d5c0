"""Code that tells a number that is not known yet from a known one, or wraps, or rounds: one draw, one expression."""

from __future__ import annotations

import copy
import json
import math
import numbers
import operator
import pickle
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo.case import Case

_DISPATCHED = {int: "int", float: "float", np.int64: "np.int64", np.float64: "np.float64", bool: "bool"}


@singledispatch
def _kind(value: Any) -> str:
    return "object"


_kind.register(int)(lambda value: "int")
_kind.register(float)(lambda value: "float")
_kind.register(np.int64)(lambda value: "np.int64")


def _matched(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case np.int64():
            return "np.int64"
        case _:
            return "other"


# the outputs depend on the type, and on a rare range of values
UNIFORM: dict[str, Callable[[Any], Any]] = {
    "type is float": lambda u: type(u) is float and u < 0.25,
    "type is float, rare": lambda u: u < 0.015625 and type(u) is float,
    "type equals": lambda u: type(u) == float or u < 0.5,  # noqa: E721
    "type in a table": lambda u: (_DISPATCHED.get(type(u)), bool(u < 0.25)),
    "name of the type": lambda u: (type(u).__name__, bool(u < 0.25)),
    "name of the class": lambda u: (u.__class__.__name__, bool(u < 0.25)),
    "isinstance float": lambda u: (isinstance(u, float), bool(u < 0.25)),
    "isinstance Real": lambda u: (isinstance(u, numbers.Real), bool(u < 0.25)),
    "issubclass": lambda u: (issubclass(type(u), float), bool(u < 0.25)),
    "match": lambda u: (_matched(u), bool(u < 0.25)),
    "singledispatch": lambda u: (_kind(u), bool(u < 0.25)),
    "dtype of an array": lambda u: (str(np.asarray(u).dtype), bool(u < 0.25)),
    "array of one": lambda u: (np.array([u]).dtype.kind, bool(u < 0.25)),
    "isscalar": lambda u: (bool(np.isscalar(u)), bool(u < 0.25)),
    "has an attribute of arrays": lambda u: (hasattr(u, "dtype"), bool(u < 0.25)),
    "has an attribute of fractions": lambda u: (hasattr(u, "as_integer_ratio"), bool(u < 0.25)),
    "its methods": lambda u: ("hex" in dir(u), bool(u < 0.25)),
    "its documentation": lambda u: (type(u).__doc__ == float.__doc__, bool(u < 0.25)),
    "copied": lambda u: (copy.copy(u) is u, bool(u < 0.25)),
    "deep copy": lambda u: (type(copy.deepcopy(u)) is float, bool(u < 0.25)),
    "float of it": lambda u: float(u) < 0.25,
    "np.float64 of it": lambda u: np.float64(u) < 0.25,
    "float method": lambda u: float.__lt__(u, 0.25),
    "truth": lambda u: bool(u),
    "not": lambda u: not u,
    "comparison chain": lambda u: 0.25 < u < 0.75,
    "is integer": lambda u: (u * 4 - 0.5).is_integer(),
    "times itself": lambda u: u * u < 0.25,
    "squared": lambda u: u**2 < 0.25,
    "minus itself": lambda u: u - u == 0,
    "plus itself": lambda u: u + u < 0.5,
    "distance of the middle": lambda u: abs(u - 0.5) < 0.25,
    "square of a distance": lambda u: (u - 0.5) ** 2 < 1 / 16,
    "remainder": lambda u: u % 0.5 < 0.25,
    "remainder of a multiple": lambda u: (u * 4) % 2 < 1,
    "whole part": lambda u: int(u * 4),
    "negative whole part": lambda u: math.floor(-u * 4),
    "rounded up": lambda u: math.ceil(u * 4),
    "divided whole": lambda u: u // 0.25,
    "divmod": lambda u: divmod(u * 4, 2)[0],
    "inverse": lambda u: 1 / u < 2,
    "inverse of a distance": lambda u: 1 / (u - 0.5) < 4,
    "negative power": lambda u: u**-1 < 2,
    "least": lambda u: min(u, 0.25) < 0.25,
    "greatest": lambda u: max(u, 0.25) > 0.25,
    "sorted": lambda u: sorted([0.75, u, 0.25]).index(0.25),
    "equal values": lambda u: u == u and u <= u,
    "not itself": lambda u: u != u or u < 0.25,
    "in a tuple": lambda u: 0.25 in (u, 0.25) and u < 0.5,
    "np.floor": lambda u: int(np.floor(u * 4)),
    "np.where": lambda u: float(np.where(u < 0.25, 1.0, 2.0)),
    "np.sign": lambda u: float(np.sign(u - 0.5)),
    "np.clip": lambda u: np.clip(u, 0.25, 0.5) == 0.5,
    "np.searchsorted": lambda u: int(np.searchsorted([0.25, 0.5, 0.75], u)),
    "np.digitize": lambda u: int(np.digitize(u, [0.25, 0.5])),
    "np.minimum": lambda u: np.minimum(u, 0.25) < 0.25,
    "np.sqrt": lambda u: np.sqrt(u) < 0.5,
    "math.sqrt": lambda u: math.sqrt(u) < 0.5,
    "math.log2": lambda u: math.log2(u) < -1,
    "math.isnan": lambda u: math.isnan(u) or u < 0.25,
    "math.copysign": lambda u: math.copysign(1, u - 0.5),
    "rounded": lambda u: round(u),
    "rounded to a digit": lambda u: round(u * 4) / 4 < 0.5,
    "fraction": lambda u: Fraction(u) < Fraction(1, 4),
    "hash": lambda u: hash(u * 4 - 0.5) < 2,
    "as a key": lambda u: {0.5: "a", 1.5: "b"}.get(u * 4),
    "formatted": lambda u: f"{u:.0f}",
    "text": lambda u: len(str(u)) > 0 and u < 0.25,
    "pickled": lambda u: len(pickle.dumps(u)) > 0 and u < 0.25,
    "json": lambda u: json.loads(json.dumps(u)) < 0.25,
    "packed": lambda u: struct.unpack("d", struct.pack("d", u))[0] < 0.25,
    "hexadecimal": lambda u: u.hex() < "0x1.0000000000000p-2",
    "in single precision": lambda u: np.float32(u) < 0.25,
    "complex": lambda u: complex(u).real < 0.25,
    "rounding sum": lambda u: (u + 2.0**60) - 2.0**60 == 0,
    "absorbing difference": lambda u: (u - 2.0**54) + 2.0**54 < 0.5,
    "overflowing product": lambda u: (u * 2.0**1023) * 4 < math.inf,
    "infinite steps": lambda u: (u * 1e308) * 1e10 - math.inf < 0,
    "nan from steps": lambda u: (u * 1e308 * 1e10) * 0 < 1,
}
INTEGER: dict[str, Callable[[Any], Any]] = {
    "type is np.int64": lambda k: type(k) == np.int64 and k == 0,  # noqa: E721
    "type is int": lambda k: type(k) is int or k == 0,
    "name of the type": lambda k: (type(k).__name__, bool(k == 0)),
    "isinstance int": lambda k: (isinstance(k, int), bool(k == 0)),
    "isinstance np.integer": lambda k: (isinstance(k, np.integer), bool(k == 0)),
    "isinstance Integral": lambda k: (isinstance(k, numbers.Integral), bool(k == 0)),
    "match": lambda k: (_matched(k), bool(k == 0)),
    "singledispatch": lambda k: (_kind(k), bool(k == 0)),
    "dtype": lambda k: (str(k.dtype), bool(k == 0)),
    "truth": lambda k: bool(k),
    "if": lambda k: "some" if k else "none",
    "not": lambda k: not k,
    "and": lambda k: 1 if k and k < 3 else 0,
    "inverted": lambda k: ~k < -2,
    "bits": lambda k: int(k & 5),
    "low bits": lambda k: int(k & 3),
    "type of bits": lambda k: (type(k & 3).__name__, int(k & 3)),
    "type of a sum": lambda k: (type(k + 1).__name__, bool(k + 1 < 3)),
    "type of a quotient": lambda k: (type(k / 2).__name__, bool(k / 2 < 1)),
    "type of a comparison": lambda k: type(k < 3).__name__,
    "exclusive or": lambda k: int(k ^ 1),
    "or": lambda k: int(k | 4),
    "shifted left": lambda k: int(k << 2),
    "shifted right": lambda k: int(k >> 1),
    "squared": lambda k: int(k * k),
    "power": lambda k: int(k**2),
    "power of two": lambda k: int(2**k),
    "difference": lambda k: int(3 - k),
    "remainder": lambda k: int(k % 3),
    "remainder of the negative": lambda k: int(-k % 3),
    "divided whole": lambda k: int(k // 3),
    "negative divided whole": lambda k: int(-k // 3),
    "divmod": lambda k: tuple(map(int, divmod(k, 3))),
    "reflected remainder": lambda k: int(7 % (k + 1)),
    "absolute": lambda k: int(abs(k - 3)),
    "index": lambda k: "abcdefgh"[k],
    "operator.index": lambda k: operator.index(k),
    "range": lambda k: len(range(k)),
    "repeated text": lambda k: "a" * k,
    "slice": lambda k: "abcdefgh"[:k],
    "key": lambda k: {0: "a", 1: "b"}.get(k, "c"),
    "hash": lambda k: hash(k) < 3,
    "bit length": lambda k: int(k).bit_length(),
    "as text": lambda k: str(k),
    "formatted": lambda k: f"{k:03d}",
    "bytes": lambda k: bytes([k]),
    "in a list": lambda k: k in [1, 2],
    "is zero": lambda k: k is np.int64(0) or k == 0,
    "item": lambda k: k.item() < 3,
    "real part": lambda k: k.real < 3,
    "astype": lambda k: int(k.astype(np.int8)),
    "np.array": lambda k: int(np.array([k, 1]).sum()),
    "np.int64 of it": lambda k: np.int64(k) < 3,
    "float of it": lambda k: float(k) < 2.5,
    "np.equal": lambda k: bool(np.equal(k, 3)),
    "np.maximum": lambda k: int(np.maximum(k, 3)),
    "math.comb": lambda k: math.comb(8, k),
    "math.gcd": lambda k: math.gcd(int(k), 6),
    "sum of a list": lambda k: sum([k, 1, k]) < 7,
    "plus itself": lambda k: k + k == 4,
}
U8, I8, I16, I32, U32, I64, U64 = np.uint8, np.int8, np.int16, np.int32, np.uint32, np.int64, np.uint64
WRAPS: dict[str, tuple[Any, int, int, Callable[[Any], Any]]] = {
    "uint8 + 10 < 128": (U8, 0, 256, lambda x: x + U8(10) < 128),
    "uint8 - 100 < 100": (U8, 0, 256, lambda x: x - U8(100) < 100),
    "uint8 + 200 > 100": (U8, 0, 256, lambda x: x + U8(200) > 100),
    "uint8 * 3 < 100": (U8, 0, 256, lambda x: x * U8(3) < 100),
    "100 - uint8 < 50": (U8, 0, 256, lambda x: U8(100) - x < 50),
    "-uint8 < 100": (U8, 0, 256, lambda x: -x < 100),
    "uint8 + 255 == 0": (U8, 0, 256, lambda x: x + U8(255) == 0),
    "uint8 twice": (U8, 0, 256, lambda x: x + U8(128) + U8(128) < 100),
    "uint8 // 3": (U8, 0, 256, lambda x: x // U8(3) < 20),
    "uint8 << 1": (U8, 0, 256, lambda x: x << U8(1) < 100),
    "uint8 >> 1": (U8, 0, 256, lambda x: x >> U8(1) < 100),
    "uint8 and Python int": (U8, 0, 256, lambda x: x + 10 < 128),
    "uint8 rare": (U8, 0, 256, lambda x: x + U8(1) == 0),
    "int8 + 100 < 0": (I8, -128, 128, lambda x: x + I8(100) < 0),
    "-int8 < 0": (I8, -128, 128, lambda x: -x < 0),
    "abs of int8 < 0": (I8, -128, 128, lambda x: abs(x) < 0),
    "int8 * -1 < 0": (I8, -128, 128, lambda x: x * I8(-1) < 0),
    "int8 // -1 > 0": (I8, -127, 128, lambda x: x // I8(-1) > 0),
    "int16 * 200 < 0": (I16, 0, 512, lambda x: x * I16(200) < 0),
    "int16 + 32000 < 0": (I16, 0, 2048, lambda x: x + I16(32000) < 0),
    "int32 << 20 < 0": (I32, 0, 4000, lambda x: x << I32(20) < 0),
    "int32 * 2^20 < 0": (I32, 1900, 2200, lambda x: x * I32(2**20) < 0),
    "int32 + 2^31 - 1000 < 0": (I32, 900, 1200, lambda x: x + I32(2**31 - 1000) < 0),
    "uint32 - 1000 > 2000": (U32, 900, 1200, lambda x: x - U32(1000) > 2000),
    "int64 + near 2^63": (I64, 900, 1200, lambda x: x + I64(2**63 - 1000) < 0),
    "int64 * 2^52": (I64, 1900, 2200, lambda x: x * I64(2**52) < 0),
    "int64 << 52": (I64, 1900, 2200, lambda x: x << I64(52) < 0),
    "int64 * 2^52 + itself": (I64, 900, 2200, lambda x: x * 2**52 - 2**62 < 0),
    "int64 - 2^63": (I64, 0, 300, lambda x: (x - 2**62) - 2**62 - 5 > 0),
    "uint64 - 5": (U64, 0, 300, lambda x: x - U64(5) > 10),
    "uint64 and int64": (U64, 0, 4000, lambda x: x - I64(5) < 0),
    "uint64 below -1": (U64, 0, 4000, lambda x: x > -1),
    "uint8 as float": (U8, 0, 256, lambda x: x + 0.5 < 10),
    "uint8 / 2": (U8, 0, 256, lambda x: x / U8(2) < 10),
    "uint8 ** 2": (U8, 0, 256, lambda x: x ** U8(2) < 50),
    "uint8 % 7": (U8, 0, 256, lambda x: x % U8(7) < 3),
    "uint8 & 7": (U8, 0, 256, lambda x: (x & U8(7)) < 3),
    "~uint8 < 50": (U8, 0, 256, lambda x: ~x < 50),
}


def of_uniform(name: str, expression: Callable[[Any], Any]) -> Case:
    """Return a program that draws a uniform."""
    return Case("kinds of uniforms", name, lambda data, rng: _plain(expression(rng.random())), grid=64)


def of_integer(name: str, expression: Callable[[Any], Any]) -> Case:
    """Return a program that draws an integer."""
    return Case("kinds of integers", name, lambda data, rng: _plain(expression(rng.integers(8))))


def of_fixed_width(name: str, kind: Any, low: int, high: int, expression: Callable[[Any], Any]) -> Case:
    """Return a program that draws an integer of fixed width."""

    def program(data: Any, rng: Any) -> Any:
        with np.errstate(all="ignore"):
            return bool(expression(rng.integers(low, high, dtype=kind)))

    return Case("fixed width", name, program)


def _plain(found: Any) -> Any:
    return bool(found) if isinstance(found, (bool, np.bool_)) else found


CASES = [
    *(of_uniform(name, expression) for name, expression in UNIFORM.items()),
    *(of_integer(name, expression) for name, expression in INTEGER.items()),
    *(of_fixed_width(name, *parts) for name, parts in WRAPS.items()),
]
