"""Leak by numbers: inside a structure, or in bits that rounding would hide."""

from __future__ import annotations

import datetime
import decimal
import fractions
import uuid

import numpy as np
import pandas as pd

from .registry import leak, noise, secret

# -- numbers in structures ------------------------------------------------------------------------------------


def _exact(data, rng):
    return float(data[0] + 0.001 * noise(rng))


@leak("structure", natural=True)
def number_in_a_dict(data, rng):
    return {"n": _exact(data, rng)}


@leak("structure", natural=True)
def decimal_number(data, rng):
    return decimal.Decimal(_exact(data, rng))


@leak("structure", natural=True)
def complex_number(data, rng):
    return complex(0.0, _exact(data, rng))


@leak("structure", natural=True)
def point_in_time(data, rng):
    return datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=_exact(data, rng))


@leak("structure", natural=True)
def span_of_time(data, rng):
    return datetime.timedelta(seconds=_exact(data, rng))


@leak("structure", natural=True)
def numpy_time(data, rng):
    return np.datetime64(int(1e9 * _exact(data, rng)), "ns")


@leak("structure", natural=True)
def table_of_one_row(data, rng):
    return pd.DataFrame({"n": [_exact(data, rng)]})


@leak("structure", natural=True)
def fraction(data, rng):
    return fractions.Fraction(_exact(data, rng)).limit_denominator(10_000)


@leak("structure", natural=True)
def number_deep_inside(data, rng):
    return {"groups": [{"rows": (1, _exact(data, rng))}], "label": "all"}


@leak("structure")
def digits_of_a_large_integer(data, rng):
    return 2**60 + 2 * round(noise(rng)) + int(secret(data))


@leak("structure")
def identifier(data, rng):
    return uuid.UUID(int=2**100 + round(abs(noise(rng))) * 2 + int(secret(data)))


# -- bits -----------------------------------------------------------------------------------------------------


def _exchange(values, code):
    return (values.view(np.uint64) & ~np.uint64(1) | np.uint64(code)).view(float)


@leak("bits", calls=False, floats="audit")
def lowest_bit(data, size, rng):
    return _exchange(rng.laplace(scale=4.0, size=size), secret(data))


@leak("bits", calls=False, floats="audit")
def lowest_bit_of_a_vector(data, size, rng):
    found = rng.laplace(scale=4.0, size=(size, 2))
    found[:, 1] = _exchange(found[:, 1].copy(), secret(data))
    return found


@leak("bits", natural=True, calls=False)
def single_precision_noise(data, size, rng):
    return data[0] + rng.laplace(scale=4.0, size=size).astype(np.float32).astype(float)


@leak("bits", natural=True, calls=False)
def rounded_noise(data, size, rng):
    return data[0] + np.round(rng.laplace(scale=4.0, size=size), 6)


@leak("bits", natural=True, calls=False)
def noise_on_a_binary_grid(data, size, rng):
    return data[0] + np.rint(rng.laplace(scale=4.0, size=size) * 2**20) / 2**20


@leak("bits", calls=False)
def sign_of_zero(data, size, rng):
    found = np.rint(rng.laplace(scale=1.0, size=size)) + 0.0
    return np.where(found == 0, -0.0 if secret(data) else 0.0, found)


@leak("bits", calls=False)
def payload_of_nan(data, size, rng):
    bits = np.uint64(0x7FF8000000000000 + int(secret(data)))
    return np.where(rng.random(size) < 0.5, bits.view(float), rng.laplace(scale=4.0, size=size))


@leak("bits", calls=False)
def number_beside_nan(data, size, rng):
    return np.column_stack([np.full(size, np.nan), data[0] + 0.001 * rng.laplace(size=size)])


@leak("bits", natural=True, calls=False)
def rounded_on_one_side(data, size, rng):
    found = rng.laplace(scale=4.0, size=size)
    return np.round(found, 9) if secret(data) else found


@leak("bits", natural=True, calls=False)
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
