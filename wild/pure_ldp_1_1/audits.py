"""pure-ldp 1.1.2: unary encoding before its repair in release 1.2.0. A dataset is one record."""

from __future__ import annotations

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.mechanism import Served

LIBRARY, RELEASE = "pure_ldp_1_1", "pure-ldp 1.1.2"
EPSILON, BUDGET = 1.0, 60_000

_SOURCE = f'{RELEASE}, docstring of UEClient: "epsilon: float - privacy budget"'


def _check(name: str) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"pure-ldp 1.1/{name} eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, Local(), _SOURCE),
        pairs=[(1, 2)],
        budget=BUDGET,
        method="fixed",
        expected=Verdict.FAIL,
    )


CHECKS = [_check("SUE"), _check("OUE")]

_KEPT = (
    "`frequency_oracles/unary_encoding/ue_client.py: UEClient._perturb` draws every bit as if it were 0, and then "
    "sets the user's to 1 with probability p: it is 1 with probability p + (1 - p) q in place of p. True epsilon: "
    "{true}. Release 1.2.0 sets the bit to 0 before, and keeps the claim."
)
NOTES = {
    "pure-ldp 1.1/SUE eps=1": _KEPT.format(true="1.68"),
    "pure-ldp 1.1/OUE eps=1": _KEPT.format(true="1.55"),
}

ABOUT = About(
    repository="Samuel-Maddock/pure-LDP",
    upstream={"*": "Samuel-Maddock/pure-LDP issue 11, repaired in release 1.2.0"},
    access={"*": "one user's report; the collector is the adversary"},
    not_audited=("Everything else of this release; pure-ldp 1.2.0 has its own page.",),
)
