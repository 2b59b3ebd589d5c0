"""Leak by numbers: inside a structure, or in bits that rounding would hide."""

from __future__ import annotations

import datetime
import decimal
import fractions
import uuid

import numpy as np
import pandas as pd

from .registry import add_leaks, leak, noise, secret


def _exact(data, rng):
    return float(data[0] + 0.001 * noise(rng))


def _exchange(values, code):
    return (values.view(np.uint64) & ~np.uint64(1) | np.uint64(code)).view(float)


@leak("bits", calls=False, floats="audit")
def lowest_bit_of_a_vector(data, size, rng):
    found = rng.laplace(scale=4.0, size=(size, 2))
    found[:, 1] = _exchange(found[:, 1].copy(), secret(data))
    return found


@leak("bits", calls=False)
def sign_of_zero(data, size, rng):
    found = np.rint(rng.laplace(scale=1.0, size=size)) + 0.0
    return np.where(found == 0, -0.0 if secret(data) else 0.0, found)


@leak("bits", calls=False)
def payload_of_nan(data, size, rng):
    bits = np.uint64(0x7FF8000000000000 + int(secret(data)))
    return np.where(rng.random(size) < 0.5, bits.view(float), rng.laplace(scale=4.0, size=size))


@leak("bits", calls=False)
def rounded_on_one_side(data, size, rng):
    found = rng.laplace(scale=4.0, size=size)
    return np.round(found, 9) if secret(data) else found


@leak("bits", calls=False)
def single_precision_on_one_side(data, size, rng):
    found = rng.laplace(scale=4.0, size=size)
    return found.astype(np.float32).astype(float) if secret(data) else found


def _comb(width):
    def comb(data, size, rng):
        found = rng.laplace(scale=4.0, size=size)
        return found + width * ((np.floor(found / width) % 2 == 1) == secret(data))

    comb.__name__ = f"comb_of_width_{width:.6g}"
    leak("bits", calls=False)(comb)


for _width in (1e-2, 1e-4, 1e-9, 2.0**-24):
    _comb(_width)


add_leaks(
    "structure",
    {
        "number_in_a_dict": lambda data, rng: {"n": _exact(data, rng)},
        "decimal_number": lambda data, rng: decimal.Decimal(_exact(data, rng)),
        "complex_number": lambda data, rng: complex(0.0, _exact(data, rng)),
        "point_in_time": lambda data, rng: (
            datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=_exact(data, rng))
        ),
        "span_of_time": lambda data, rng: datetime.timedelta(seconds=_exact(data, rng)),
        "numpy_time": lambda data, rng: np.datetime64(int(1e9 * _exact(data, rng)), "ns"),
        "table_of_one_row": lambda data, rng: pd.DataFrame({"n": [_exact(data, rng)]}),
        "fraction": lambda data, rng: fractions.Fraction(_exact(data, rng)).limit_denominator(10_000),
        "number_deep_inside": lambda data, rng: {"groups": [{"rows": (1, _exact(data, rng))}], "label": "all"},
        "digits_of_a_large_integer": lambda data, rng: 2**60 + 2 * round(noise(rng)) + int(secret(data)),
        "identifier": lambda data, rng: uuid.UUID(int=2**100 + round(abs(noise(rng))) * 2 + int(secret(data))),
    },
)
add_leaks(
    "bits",
    {
        "lowest_bit": lambda data, size, rng: _exchange(rng.laplace(scale=4.0, size=size), secret(data)),
    },
    calls=False,
    floats="audit",
)
add_leaks(
    "bits",
    {
        "single_precision_noise": lambda data, size, rng: (
            data[0] + rng.laplace(scale=4.0, size=size).astype(np.float32).astype(float)
        ),
        "rounded_noise": lambda data, size, rng: data[0] + np.round(rng.laplace(scale=4.0, size=size), 6),
        "noise_on_a_binary_grid": lambda data, size, rng: (
            data[0] + np.rint(rng.laplace(scale=4.0, size=size) * 2**20) / 2**20
        ),
        "number_beside_nan": lambda data, size, rng: np.column_stack(
            [np.full(size, np.nan), data[0] + 0.001 * rng.laplace(size=size)]
        ),
    },
    calls=False,
)
