"""What a certificate states of the calls of a game fits the runs that the game counts, to the last one."""

import copy

import pytest

from audit.certificate.record import from_plain
from audit.errors import InvalidCertificate
from audit.execution.batches import BLOCK
from audit.statistics.dependence import CallStatistics
from audit.statistics.guess_game import GameCounts

# Two calls of four runs on the left, and one run more; no call on the right, where all runs are beyond
SIDE = {"calls": 2, "plus": 3, "minus": 4, "plus_squares": 5, "minus_squares": 10, "products": 6}
NONE = dict.fromkeys(SIDE, 0)
GAME = {
    "counts": {
        "left_plus": 4,
        "left_minus": 4,
        "left_abstain": 1,
        "right_plus": 0,
        "right_minus": 3,
        "right_abstain": 0,
    },
    "calls": {"size": 4, "left": SIDE, "right": NONE, "parts": [[4, 2, 1, 0, 0, 0], [4, 1, 3, 0, 0, 0]], "long": []},
}


def fits(game):
    calls = from_plain(CallStatistics, {"long": [], **game["calls"]})
    return calls.are_of(from_plain(GameCounts, game["counts"]))


def changed(path, value):
    game = copy.deepcopy(GAME)
    inner = game
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return game


def test_counts_that_fit():
    assert fits(GAME)
    no_calls = {**GAME["calls"], "left": NONE, "parts": []}
    assert fits({"counts": dict.fromkeys(GAME["counts"], 1), "calls": no_calls})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("counts", "left_plus"), 2),  # fewer than in the calls
        (("counts", "left_minus"), 3),  # no run beyond, and a guess beyond
        (("counts", "left_abstain"), 4),  # a whole call more
        (("counts", "right_minus"), 4),  # a call of the right side that is not stated
        (("calls", "left", "calls"), 3),
        (("calls", "left", "plus_squares"), 4),  # below those of guesses spread evenly
        (("calls", "left", "minus_squares"), 7),
        (("calls", "left", "products"), 8),  # beyond what Cauchy and Schwarz allow
        (("calls", "parts"), [[4, 2, 1, 0, 0, 0], [4, 1, 2, 0, 0, 0]]),
        (("calls", "parts"), [[4, 2, 1, 0, 0, 0], [4, 1, 3, 0, 0, 1]]),
        (("calls", "parts"), []),
        (("calls", "size"), BLOCK + 1),
    ],
)
def test_counts_that_do_not_fit(path, value):
    try:
        assert not fits(changed(path, value))
    except InvalidCertificate as error:  # the calls alone contradict each other
        assert "contradict" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("call", "outputs", "is_drawn"),
    [
        ([], 0, True),
        ([0, BLOCK, BLOCK, 0], BLOCK, True),
        ([1, BLOCK, 1, BLOCK - 1], BLOCK, True),
        ([1, BLOCK, 1, BLOCK], BLOCK, False),
        ([0, BLOCK, 1, 1], BLOCK - 1, False),
        ([2, BLOCK, 1, 1], BLOCK, False),
        ([0, BLOCK - 1, 1, 1], BLOCK, False),
    ],
)
def test_the_long_call(call, outputs, is_drawn):
    calls = from_plain(CallStatistics, {**GAME["calls"], "long": call})
    assert calls.has_drawn_long_call(outputs) is is_drawn
