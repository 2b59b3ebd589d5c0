"""A rule that is held for many things in one test: every offender is named, and no thing at all is an offence."""

import pytest

from tests.offenders import for_each


def at_most_two(number):
    """Numbers are small."""
    assert number <= 2


def test_all_offenders_are_named():
    for_each([0, 1, 2])(at_most_two)()
    with pytest.raises(AssertionError, match=r"(?s)2 of 4:\n3: AssertionError.*\n7: AssertionError"):
        for_each([1, 3, 2, 7])(at_most_two)()


def test_nothing_to_look_at_is_an_offence():
    with pytest.raises(AssertionError, match="nothing to look at"):
        for_each(iter(()))(at_most_two)()


def test_an_exception_and_a_failure_are_offences_and_tuples_are_spread():
    def divides(one, other):
        if other == 3:
            pytest.fail("three")
        assert one / other

    with pytest.raises(AssertionError, match=r"(?s)ZeroDivisionError.*\n\(1, 3\): Failed: three"):
        for_each([(1, 2), (1, 0), (1, 3)])(divides)()


def test_what_pytest_reads_is_that_of_the_rule():
    test = for_each([1])(pytest.mark.slow(at_most_two))
    assert (test.__name__, test.__doc__, test.rule) == ("at_most_two", "Numbers are small.", at_most_two)
    assert [mark.name for mark in test.pytestmark] == ["slow"]
