"""pure_ldp_1_1, the user's bit in unary encoding."""

from __future__ import annotations

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from wild.mechanism import Served
from wild.pure_ldp_1_1.audits import BUDGET, EPSILON, LIBRARY, SOURCE


def _check(name: str) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"pure-ldp 1.1/{name} eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, Local(), SOURCE),
        pairs=[(1, 2)],
        budget=BUDGET,
        method="fixed",
        expected=Verdict.FAIL,
    )


CHECKS = [
    _check("SUE"),
    _check("OUE"),
]
