"""Mechanisms that leak in what a careless auditor throws away: types, bits, seeds, the pattern of calls.

`python -m tests.meta.leaks [NAME ...]` audits them at the defaults and prints a table. Most of them occur in code that
somebody could have written with good intentions.
"""

from . import numbers, relations, representation  # noqa: F401 - they register their leaks
from .registry import CLAIM, LEAKS, LEFT, RIGHT, private
from .seeds_and_calls import SUSPICIOUS, LeaksLater

__all__ = ["CLAIM", "LEAKS", "LEFT", "RIGHT", "SUSPICIOUS", "LeaksLater", "private"]
