"""State what the statistics of a game's calls have to do with its counts: both are of the same runs.

`Tally` (`audit/game/dependence.py`) counts the whole calls of either side, and the runs of one more call that are due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.game.dependence import PARTS
from audit.subjects import BLOCK

_SIDES = ("left", "right")
_GUESSES = ("plus", "minus")

Record = Mapping[str, Any]


def counts_its_calls(game: Record) -> bool:
    """Test whether the calls of either side, and their parts, hold the runs and guesses that the game counts."""
    calls = game["calls"]
    return (
        calls["size"] <= BLOCK
        and all(_fits_counts(calls, side, game["counts"]) for side in _SIDES)
        and len(calls["parts"]) <= 1 + PARTS
        and all(total == due for side in _SIDES for total, due in _totals(calls, side))
    )


def _fits_counts(calls: Record, side: str, counts: Record) -> bool:
    """Test whether the calls are the whole ones among the runs of a side, and the guesses theirs."""
    whole = calls[side]
    runs = sum(counts[f"{side}_{guess}"] for guess in (*_GUESSES, "abstain"))
    rest = runs - whole["calls"] * calls["size"]
    abstained = whole["calls"] * calls["size"] - whole["plus"] - whole["minus"]
    found = {**{guess: whole[guess] for guess in _GUESSES}, "abstain": abstained}
    is_spread = all(whole[guess] ** 2 <= whole["calls"] * whole[f"{guess}_squares"] for guess in _GUESSES)
    return (
        0 <= rest < calls["size"]
        and all(0 <= counts[f"{side}_{guess}"] - part <= rest for guess, part in found.items())
        and is_spread
        and whole["products"] ** 2 <= whole["plus_squares"] * whole["minus_squares"]
    )


def _totals(calls: Record, side: str) -> Iterator[tuple[int, int]]:
    """Yield runs and guesses in the parts, and in all calls of a side."""
    whole, start = calls[side], 3 * _SIDES.index(side)
    parts = [part[start : start + 3] for part in calls["parts"]] or [[0, 0, 0]]
    due = whole["calls"] * calls["size"], whole["plus"], whole["minus"]
    return zip(map(sum, zip(*parts, strict=True)), due, strict=True)


def long_call_fits(calls: Record, outputs: int) -> bool:
    """Test whether the long call, which is apart from the game, has the size of all long calls, and was drawn."""
    if not calls["long"]:
        return True
    side, size, plus, minus = calls["long"]
    return side in (0, 1) and size == BLOCK and plus + minus <= size and size <= outputs
