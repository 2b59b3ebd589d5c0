"""How often a correct package fails its own tests, summed over the suite; and the list of the weekly tier.

A test that can fail by chance carries `@pytest.mark.false_alarm(p)`: over fresh seeds, a correct package fails it with
probability at most p. Its docstring, or that of its file, states null and sample size. `seeded=True` is for a weak
test, with p above `WEAK`, whose draws repeat in every run: it cannot fail by chance until a change moves its stream.
"""

from pathlib import Path

from tests.weekly import COLLECTED, WEEKLY, unused

TESTS = Path(__file__).parents[1]
MOST = 1e-4  # a run
WEAK = 1e-6


def alarms(items):
    """The mark of each collected test that has one."""
    return [(item.nodeid, mark) for item in items if (mark := item.get_closest_marker("false_alarm"))]


def test_false_alarms_of_the_collected_tests_are_rare(request):
    """Every worker of pytest-xdist collects the whole suite."""
    found = alarms(request.session.items)
    assert sum(mark.args[0] for _, mark in found if not mark.kwargs.get("seeded")) < MOST


def test_a_weak_test_has_fixed_draws(request):
    for name, mark in alarms(request.session.items):
        (chance,) = mark.args
        assert 0 < chance < 1, name
        assert mark.kwargs in ({}, {"seeded": True}), name
        assert (chance > WEAK) == bool(mark.kwargs), f"{name}: `seeded=True` above {WEAK}, and only there"


def test_every_entry_fits_a_test(request):
    """Of files that are collected whole: others may be asked for by the names of some tests."""
    assert not [start for start in WEEKLY if not (TESTS / start.partition("::")[0]).is_file()]
    if not any("::" in argument for argument in request.config.args):
        assert not unused(request.config.stash[COLLECTED])
