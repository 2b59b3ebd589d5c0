"""The list of tests that `make test` leaves out names tests that exist, and leaves out nothing else."""

from pathlib import Path

from tests.weekly import COLLECTED, WEEKLY, is_weekly, unused

TESTS = Path(__file__).parents[1]


def test_every_entry_fits_a_test(request):
    """Of files that are collected whole: others may be asked for by the names of some tests."""
    assert not [start for start in WEEKLY if not (TESTS / start.partition("::")[0]).is_file()]
    if not any("::" in argument for argument in request.config.args):
        assert not unused(request.config.stash[COLLECTED])


def test_most_tests_run_on_every_commit(request):
    names = request.config.stash[COLLECTED]
    assert sum(map(is_weekly, names)) <= max(5, len(names) // 20)


def test_an_entry_that_fits_nothing_is_named():
    start = "core/execution/test_blocks.py::test_memory_does_not_grow_with_the_budget"
    assert is_weekly(start)
    assert not is_weekly("core/execution/test_blocks.py::test_other")
    assert unused(["core/execution/test_blocks.py::test_other"]) == [start]
    some = "core/scorers/test_vector_scorers.py::test_the_leak_is_seen_and_never_overstated["
    assert is_weekly(f"{some}lengths--]")
    assert not is_weekly(f"{some}text--]")
    assert f"{some} order" in unused([f"{some}lengths--]"])
