"""Natural mistakes are answered by a verdict, or by words that say what to type instead."""

import pytest

from benchmarks.mistakes import CASES


@pytest.mark.parametrize("case", CASES, ids=[case.slip for case in CASES])
def test_a_natural_mistake_is_answered(case):
    answer = case.answer()
    assert case.accepts(answer), answer


def test_there_are_enough():
    assert len(CASES) >= 57
    assert len({case.slip for case in CASES}) == len(CASES)
