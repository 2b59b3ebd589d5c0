"""Broken objects that answer, one fault each; `TWINS` asks their correct parents the same.

`budgets` break the accounting, `noises` draws, state and answers, `runs` sparse vector and counters of streams. A
fault whose loss no number of conversations shows is convicted by its ledger, which is exact; the others by a game.
"""

from __future__ import annotations

from dataclasses import replace

from audit import InteractiveCheck, Verdict
from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
TWINS = [
    replace(check, name=check.name.replace("fault/", "twin/"), make=check.make.__mro__[1], expected=Verdict.PASS)
    for check in CHECKS
    if isinstance(check, InteractiveCheck)
]
