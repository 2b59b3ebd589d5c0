"""privjail, low-order bits of Laplace noise."""

from __future__ import annotations

from audit import AddRemove, PrecisionCheck, PrivacyClaim
from wild.mechanism import Served

_SAYS = 'the eps that the accountant spends; summary: "Enforcing differential privacy in Python"'

CHECKS = [
    PrecisionCheck(
        name="privjail/sum, bits eps=1",
        mechanism=Served("privjail", "sum"),
        claim=PrivacyClaim(1.0, 0.0, AddRemove(), f"privjail 0.1.2, {_SAYS}"),
        pairs=[([(0.0, "a"), (0.0, "b")], [(1.0, "a"), (0.0, "a"), (0.0, "b")])],
        budget=20_000,
        query=lambda records: sum(value for value, _ in records),
        tolerance=2.0,
    ),
]
