"""Leak in how an output is represented: its types, order, length, text and hidden parts."""

from __future__ import annotations

import collections
import decimal
import json
from dataclasses import make_dataclass
from typing import Any

import numpy as np
import pandas as pd

from .registry import leak, noise, private, secret

# -- representation: types ------------------------------------------------------------------------------------


@leak("type", natural=True)
def int_or_float(data, rng):
    return round(noise(rng)) if secret(data) else float(round(noise(rng)))


@leak("type", natural=True)
def bool_or_int(data, rng):
    coin = rng.random() < 0.5
    return coin if secret(data) else int(coin)


@leak("type", natural=True)
def numpy_or_python_float(data, rng):
    return np.float64(noise(rng)) if secret(data) else noise(rng)


@leak("type", natural=True)
def tuple_or_list(data, rng):
    return (noise(rng),) if secret(data) else [noise(rng)]


@leak("type", natural=True)
def dtype_of_an_array(data, rng):
    return np.full(2, round(noise(rng)), dtype=np.float32 if secret(data) else np.float64)


@leak("type")
def byte_order(data, rng):
    return np.full(2, round(noise(rng)), dtype=">i8" if secret(data) else "<i8")


@leak("type", natural=True)
def shape_of_an_array(data, rng):
    return np.full((2, 1) if secret(data) else (1, 2), noise(rng))


@leak("type", natural=True)
def array_or_scalar(data, rng):
    return np.array(noise(rng)) if secret(data) else np.float64(noise(rng))


@leak("type", natural=True, calls=False)
def dtype_of_the_batch(data, size, rng):
    return np.rint(rng.laplace(scale=4.0, size=size)).astype(np.float32 if secret(data) else np.float64)


@leak("type", natural=True, calls=False)
def container_of_the_batch(data, size, rng):
    found = rng.laplace(scale=4.0, size=size)
    return found if secret(data) else found.tolist()


@leak("type", calls=False)
def axes_of_the_batch(data, size, rng):
    return rng.laplace(scale=4.0, size=(size, 4)).reshape((size, 2, 2) if secret(data) else (size, 4))


class Tagged(float):
    """A number with room for attributes."""


@leak("type")
def subclass_of_float(data, rng):
    return Tagged(noise(rng)) if secret(data) else noise(rng)


@leak("type")
def enum_like_int(data, rng):
    return np.int64(round(noise(rng))) if secret(data) else np.int32(round(noise(rng)))


@leak("type", natural=True)
def empty_text_or_none(data, rng):
    return [noise(rng), "" if secret(data) else None]


@leak("type", natural=True)
def bytes_or_text(data, rng):
    text = str(round(noise(rng)))
    return text.encode() if secret(data) else text


@leak("type", natural=True)
def set_or_frozenset(data, rng):
    found = {round(noise(rng)), 1000}
    return frozenset(found) if secret(data) else found


# -- representation: order, length, text ----------------------------------------------------------------------


@leak("order", natural=True)
def order_of_a_dict(data, rng):
    found = {"a": noise(rng), "b": noise(rng)}
    return dict(reversed(found.items())) if secret(data) else found


@leak("order", natural=True)
def order_of_first_occurrence(data, rng):
    keys = ("x", "y", "z") if secret(data) else ("z", "y", "x")
    return {key: round(noise(rng)) for key in keys}


@leak("order", natural=True)
def order_of_a_counter(data, rng):
    return collections.Counter({key: round(abs(noise(rng))) for key in ("ab" if secret(data) else "ba")})


@leak("order", natural=True)
def order_of_columns(data, rng):
    names = ["a", "b"] if secret(data) else ["b", "a"]
    return pd.DataFrame([[noise(rng), noise(rng)]], columns=names)


@leak("order", natural=True)
def order_of_json(data, rng):
    found = {"a": round(noise(rng)), "b": round(noise(rng))}
    return json.dumps(found, sort_keys=secret(data)) if secret(data) else json.dumps(dict(reversed(found.items())))


@leak("text")
def address_in_a_text(data, rng):
    return f"object {round(noise(rng))} at 0x{int(secret(data))}"


@leak("text")
def end_of_a_long_text(data, rng):
    return f"{round(noise(rng))}".ljust(10_000) + str(secret(data))


@leak("text", natural=True)
def trailing_space(data, rng):
    return f"{round(noise(rng))}" + " " * secret(data)


@leak("text", natural=True)
def unicode_normal_form(data, rng):
    return ("\u00e9" if secret(data) else "e\u0301") + f"{round(noise(rng))}"


@leak("text", natural=True)
def label_beside_a_number(data, rng):
    return {"n": noise(rng), "unit": "cm" if secret(data) else "mm"}


@leak("text", natural=True)
def message_of_an_exception(data, rng):
    raise ValueError(f"no answer for {data[0]}" if rng.random() < 0.5 else "no luck")


@leak("text", natural=True)
def cause_of_an_exception(data, rng):
    try:
        {}[secret(data)]
    except KeyError as cause:
        raise ValueError("no answer") from cause


@leak("text")
def attribute_of_an_exception(data, rng):
    error = ValueError("no answer")
    error.record = secret(data)  # type: ignore[attr-defined]
    raise error


@leak("length", natural=True)
def length_of_a_list(data, rng):
    return [round(noise(rng))] * (3 if secret(data) else 4)


@leak("length")
def end_of_a_long_list(data, rng):
    return [0] * 500 + [round(noise(rng)), int(secret(data))]


@leak("length", natural=True)
def end_of_a_ragged_list(data, rng):
    return [0] * int(rng.integers(200, 203)) + [int(secret(data))]


@leak("length", natural=True)
def zeros_after_the_point(data, rng):
    return decimal.Decimal(round(noise(rng))) * (decimal.Decimal("1.0") if secret(data) else decimal.Decimal("1.00"))


# -- representation: hidden parts -----------------------------------------------------------------------------


class Fitted:
    """A model whose `repr` says nothing."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return "Fitted()"


class Slots:
    __slots__ = ("answer",)

    def __init__(self, answer: float) -> None:
        self.answer = answer

    def __repr__(self) -> str:
        return "Slots()"


Record = make_dataclass("Record", [("n", float), ("seen", object)])
Named = collections.namedtuple("Named", "n seen")


@leak("hidden", natural=True)
def attribute_that_repr_hides(data, rng):
    return Fitted(coef_=noise(rng), n_seen_=data[0])


@leak("hidden", natural=True)
def noisy_attribute(data, rng):
    return Fitted(coef_=data[0] + 0.01 * noise(rng))


@leak("hidden")
def slot_that_repr_hides(data, rng):
    return Slots(data[0] + 0.01 * noise(rng))


@leak("hidden", natural=True)
def order_of_attributes(data, rng):
    return Fitted(a=noise(rng), b=noise(rng)) if secret(data) else Fitted(b=noise(rng), a=noise(rng))


@leak("hidden")
def attribute_of_a_number(data, rng):
    found = Tagged(noise(rng))
    found.origin = secret(data)
    return found


@leak("hidden", natural=True)
def field_of_a_dataclass(data, rng):
    return Record(noise(rng), secret(data))


@leak("hidden", natural=True)
def field_of_a_named_tuple(data, rng):
    return Named(noise(rng), secret(data))


@leak("hidden", natural=True)
def value_under_a_mask(data, rng):
    return np.ma.array([noise(rng), data[0]], mask=[False, True])


@leak("hidden", natural=True, calls=False)
def value_under_the_mask_of_a_batch(data, size, rng):
    found = rng.laplace(scale=4.0, size=(size, 2))
    found[:, 1] = data[0]
    return np.ma.array(found, mask=[[False, True]] * size)


@leak("hidden", natural=True)
def index_of_a_series(data, rng):
    return pd.Series([noise(rng)], index=[int(1e6 * data[0])])


@leak("hidden", natural=True)
def name_of_a_series(data, rng):
    return pd.Series([noise(rng)], name=str(data[0]))


@leak("hidden")
def attrs_of_a_table(data, rng):
    found = pd.DataFrame({"n": [noise(rng)]})
    found.attrs["source"] = data.tolist()
    return found


@leak("hidden", natural=True)
def categories_of_a_column(data, rng):
    return pd.DataFrame({"n": pd.Categorical(["a"], categories=["a", "b"] if secret(data) else ["a", "c"])})


@leak("hidden", natural=True)
def closure_of_a_function(data, rng):
    answer = data[0] + 0.01 * noise(rng)
    return lambda x: x + answer


@leak("hidden", natural=True)
def bound_arguments(data, rng):
    return Fitted(predict=Fitted(threshold=data.copy()), noise=noise(rng)).predict


@leak("hidden", natural=True)
def default_of_a_dict(data, rng):
    return collections.defaultdict(int if secret(data) else float, n=noise(rng))


@leak("hidden", natural=True, certain=False)
def generator_in_a_fitted_object(data, rng):
    return Fitted(coef_=private(data, rng), rng=rng)


@leak("hidden", certain=False)
def generator_expression(data, rng):
    return (x for x in data)
