"""Define what a mutation is."""

from __future__ import annotations

from dataclasses import dataclass

TESTS = "tests/mechanisms"


@dataclass(frozen=True)
class Mutant:
    """One mutation.

    Parameters
    ----------
    name : str
        Letters for the learner, and a number.
    file : str
        In `mechanisms`.
    old, new : str
        The text, which occurs once, and what replaces it.
    notices : str
        Pattern of checks of `mechanisms.fitted`, or a test file, with a `-k` expression after " -k " if there is one.
    """

    name: str
    file: str
    old: str
    new: str
    notices: str
