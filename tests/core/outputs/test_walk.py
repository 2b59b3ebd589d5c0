"""All that read objects agree on what the whole object is: a value that one of them sees is seen by the others."""

import dataclasses
import functools
import types
from collections import deque, namedtuple

import numpy as np
import pytest

from audit.outputs.encode import encode
from audit.outputs.walk import identify, walk


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def told(self):
        """Return nothing."""


class SlotLikeThoseOfC:
    __slots__ = ("__own__",)

    def __init__(self, value):
        self.__own__ = value


@dataclasses.dataclass
class Record:
    value: str


class Listed(list):
    def __iter__(self):
        return iter(())


class Failed(Exception):
    pass


def enclosed(value):
    return lambda: value


def defaulted(value):
    def function(first=value):
        return first

    return function


def keyword(value):
    def function(*, first=value):
        return first

    return function


def noted(value):
    function = enclosed(None)
    function.note = value
    return function


def failed(value):
    error = Failed()
    error.value = value
    return error


def caused(value):
    error = Failed()
    error.__cause__ = ValueError(value)
    return error


HOLDERS = {
    "list": lambda value: [value],
    "tuple": lambda value: (1, (value,)),
    "key": lambda value: {value: 1},
    "value": lambda value: {"x": [value]},
    "set": lambda value: {value},
    "slots": Slots,
    "slots with names like those of C": SlotLikeThoseOfC,
    "dataclass": Record,
    "named tuple": namedtuple("Named", "value"),
    "subclass that hides its entries": lambda value: Listed([value]),
    "closure": enclosed,
    "default": defaulted,
    "keyword": keyword,
    "attribute of a function": noted,
    "method": lambda value: Slots(value).told,
    "argument of an exception": lambda value: Failed(value),
    "attribute of an exception": failed,
    "cause": caused,
    "objects in an array": lambda value: np.array([1, value, None], dtype=object),
    "namespace": lambda value: types.SimpleNamespace(value=value),
}
COPIED = {"deque": lambda value: deque([value]), "partial": lambda value: functools.partial(print, value)}


@pytest.mark.parametrize("hold", (HOLDERS | COPIED).values(), ids=HOLDERS | COPIED)
def test_what_is_held_shows(hold):
    one, same, other = hold("one"), hold("one"), hold("other")
    assert identify(one) == identify(same) != identify(other)
    keys = encode([one, same, other], 3).keys()
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_the_walk_meets_what_is_held_once(hold):
    held = hold("a marker")
    parts = list(walk(held))
    assert parts[0] is held
    assert sum(type(part) is str and part == "a marker" for part in parts) == 1


def test_circles_end():
    circle = [1]
    circle.append({"again": circle})
    assert sum(part is circle for part in walk(circle)) == 1
    assert "<same as output>" in identify(circle)
