"""Numbers, texts and lists of a record are admitted up to the end of their limits, and not beyond."""

import math

import pytest

from audit.validate import Limits


@pytest.mark.parametrize(
    ("limits", "admitted", "refused"),
    [
        (Limits(least=0), 0, -1),
        (Limits(most=2), 2, 3),
        (Limits(above=0), 0.1, 0),
        (Limits(below=1), 0.9, 1),
        (Limits(shortest=1), "a", ""),
        (Limits(longest=2), (1, 2), (1, 2, 3)),
        (Limits(pattern="[0-9]+"), "12", "12\n"),
        (Limits(), math.nan, None),
        (Limits(least=0), math.inf, math.nan),
    ],
)
def test_limits_hold_at_their_ends(limits, admitted, refused):
    assert limits.admits(admitted)
    assert refused is None or not limits.admits(refused)
