"""What a function brings along is compared with what it was: its code, defaults, and attributes."""

import pytest

from audit.extensions.enumeration.surroundings import Surroundings


def new_function():
    def scaled(value, by=1, *, plus=2):
        return value * by + plus

    return scaled


def plain_function():
    return lambda value: value


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (new_function, lambda function: function.__kwdefaults__.update(plus=3)),
        (new_function, lambda function: setattr(function, "__defaults__", (4,))),
        (new_function, lambda function: setattr(function, "calls", 1)),
        (plain_function, lambda function: setattr(function, "calls", 1)),
        (plain_function, lambda function: setattr(function, "__defaults__", (5,))),
        (plain_function, lambda function: setattr(function, "__kwdefaults__", {"value": 6})),
        (plain_function, lambda function: setattr(function, "__code__", (lambda other: 7).__code__)),
    ],
)
def test_a_function_that_was_changed_is_noticed(make, change):
    function, around = make(), Surroundings()
    around.add(function)
    assert around.is_unchanged()
    change(function)
    assert not around.is_unchanged()
