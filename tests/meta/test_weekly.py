"""The list of tests that `make test` leaves out names tests that exist, and leaves out nothing else."""

from pathlib import Path

from tests.weekly import COLLECTED, WEEKLY, unused

TESTS = Path(__file__).parents[1]


def test_every_entry_fits_a_test(request):
    """Of files that are collected whole: others may be asked for by the names of some tests."""
    assert not [start for start in WEEKLY if not (TESTS / start.partition("::")[0]).is_file()]
    if not any("::" in argument for argument in request.config.args):
        assert not unused(request.config.stash[COLLECTED])
