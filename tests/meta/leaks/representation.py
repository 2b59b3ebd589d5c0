"""Leak in how an output is represented: its types, order, length, text and hidden parts."""

from __future__ import annotations

import collections
import decimal
import json
from dataclasses import make_dataclass
from typing import Any

import numpy as np
import pandas as pd

from .registry import add_leaks, leak, noise, private, secret


@leak("type")
def bool_or_int(data, rng):
    coin = rng.random() < 0.5
    return coin if secret(data) else int(coin)


@leak("type", calls=False)
def container_of_the_batch(data, size, rng):
    found = rng.laplace(scale=4.0, size=size)
    return found if secret(data) else found.tolist()


class Tagged(float):
    """A number with room for attributes."""


@leak("type")
def bytes_or_text(data, rng):
    text = str(round(noise(rng)))
    return text.encode() if secret(data) else text


@leak("type")
def set_or_frozenset(data, rng):
    found = {round(noise(rng)), 1000}
    return frozenset(found) if secret(data) else found


@leak("order")
def order_of_a_dict(data, rng):
    found = {"a": noise(rng), "b": noise(rng)}
    return dict(reversed(found.items())) if secret(data) else found


@leak("order")
def order_of_first_occurrence(data, rng):
    keys = ("x", "y", "z") if secret(data) else ("z", "y", "x")
    return {key: round(noise(rng)) for key in keys}


@leak("order")
def order_of_columns(data, rng):
    names = ["a", "b"] if secret(data) else ["b", "a"]
    return pd.DataFrame([[noise(rng), noise(rng)]], columns=names)


@leak("order")
def order_of_json(data, rng):
    found = {"a": round(noise(rng)), "b": round(noise(rng))}
    return json.dumps(found, sort_keys=secret(data)) if secret(data) else json.dumps(dict(reversed(found.items())))


@leak("text")
def message_of_an_exception(data, rng):
    raise ValueError(f"no answer for {data[0]}" if rng.random() < 0.5 else "no luck")


@leak("text")
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


@leak("hidden")
def attribute_of_a_number(data, rng):
    found = Tagged(noise(rng))
    found.origin = secret(data)
    return found


@leak("hidden", calls=False)
def value_under_the_mask_of_a_batch(data, size, rng):
    found = rng.laplace(scale=4.0, size=(size, 2))
    found[:, 1] = data[0]
    return np.ma.array(found, mask=[[False, True]] * size)


@leak("hidden")
def attrs_of_a_table(data, rng):
    found = pd.DataFrame({"n": [noise(rng)]})
    found.attrs["source"] = data.tolist()
    return found


@leak("hidden")
def closure_of_a_function(data, rng):
    answer = data[0] + 0.01 * noise(rng)
    return lambda x: x + answer


add_leaks(
    "type",
    {
        "int_or_float": lambda data, rng: round(noise(rng)) if secret(data) else float(round(noise(rng))),
        "numpy_or_python_float": lambda data, rng: np.float64(noise(rng)) if secret(data) else noise(rng),
        "tuple_or_list": lambda data, rng: (noise(rng),) if secret(data) else [noise(rng)],
        "dtype_of_an_array": lambda data, rng: np.full(
            2, round(noise(rng)), dtype=np.float32 if secret(data) else np.float64
        ),
        "byte_order": lambda data, rng: np.full(2, round(noise(rng)), dtype=">i8" if secret(data) else "<i8"),
        "shape_of_an_array": lambda data, rng: np.full((2, 1) if secret(data) else (1, 2), noise(rng)),
        "array_or_scalar": lambda data, rng: np.array(noise(rng)) if secret(data) else np.float64(noise(rng)),
        "subclass_of_float": lambda data, rng: Tagged(noise(rng)) if secret(data) else noise(rng),
        "enum_like_int": lambda data, rng: np.int64(round(noise(rng))) if secret(data) else np.int32(round(noise(rng))),
        "empty_text_or_none": lambda data, rng: [noise(rng), "" if secret(data) else None],
    },
)
add_leaks(
    "type",
    {
        "dtype_of_the_batch": lambda data, size, rng: np.rint(rng.laplace(scale=4.0, size=size)).astype(
            np.float32 if secret(data) else np.float64
        ),
        "axes_of_the_batch": lambda data, size, rng: rng.laplace(scale=4.0, size=(size, 4)).reshape(
            (size, 2, 2) if secret(data) else (size, 4)
        ),
    },
    calls=False,
)
add_leaks(
    "order",
    {
        "order_of_a_counter": lambda data, rng: collections.Counter(
            {key: round(abs(noise(rng))) for key in ("ab" if secret(data) else "ba")}
        ),
    },
)
add_leaks(
    "text",
    {
        "address_in_a_text": lambda data, rng: f"object {round(noise(rng))} at 0x{int(secret(data))}",
        "end_of_a_long_text": lambda data, rng: f"{round(noise(rng))}".ljust(10_000) + str(secret(data)),
        "trailing_space": lambda data, rng: f"{round(noise(rng))}" + " " * secret(data),
        "unicode_normal_form": lambda data, rng: ("\u00e9" if secret(data) else "e\u0301") + f"{round(noise(rng))}",
        "label_beside_a_number": lambda data, rng: {"n": noise(rng), "unit": "cm" if secret(data) else "mm"},
    },
)
add_leaks(
    "length",
    {
        "length_of_a_list": lambda data, rng: [round(noise(rng))] * (3 if secret(data) else 4),
        "end_of_a_long_list": lambda data, rng: [0] * 500 + [round(noise(rng)), int(secret(data))],
        "end_of_a_ragged_list": lambda data, rng: [0] * int(rng.integers(200, 203)) + [int(secret(data))],
        "zeros_after_the_point": lambda data, rng: (
            decimal.Decimal(round(noise(rng))) * (decimal.Decimal("1.0") if secret(data) else decimal.Decimal("1.00"))
        ),
    },
)
add_leaks(
    "hidden",
    {
        "attribute_that_repr_hides": lambda data, rng: Fitted(coef_=noise(rng), n_seen_=data[0]),
        "noisy_attribute": lambda data, rng: Fitted(coef_=data[0] + 0.01 * noise(rng)),
        "slot_that_repr_hides": lambda data, rng: Slots(data[0] + 0.01 * noise(rng)),
        "order_of_attributes": lambda data, rng: (
            Fitted(a=noise(rng), b=noise(rng)) if secret(data) else Fitted(b=noise(rng), a=noise(rng))
        ),
        "field_of_a_dataclass": lambda data, rng: Record(noise(rng), secret(data)),
        "field_of_a_named_tuple": lambda data, rng: Named(noise(rng), secret(data)),
        "value_under_a_mask": lambda data, rng: np.ma.array([noise(rng), data[0]], mask=[False, True]),
        "index_of_a_series": lambda data, rng: pd.Series([noise(rng)], index=[int(1e6 * data[0])]),
        "name_of_a_series": lambda data, rng: pd.Series([noise(rng)], name=str(data[0])),
        "categories_of_a_column": lambda data, rng: pd.DataFrame(
            {"n": pd.Categorical(["a"], categories=["a", "b"] if secret(data) else ["a", "c"])}
        ),
        "bound_arguments": lambda data, rng: Fitted(predict=Fitted(threshold=data.copy()), noise=noise(rng)).predict,
        "default_of_a_dict": lambda data, rng: collections.defaultdict(int if secret(data) else float, n=noise(rng)),
    },
)
add_leaks(
    "hidden",
    {
        "generator_in_a_fitted_object": lambda data, rng: Fitted(coef_=private(data, rng), rng=rng),
        "generator_expression": lambda data, rng: (x for x in data),
    },
    certain=False,
)
