"""OpenDP 0.4.0: randomized response, before the repair of the boolean form in release 0.5.0. A dataset is one record.

This release has privacy relations: `measurement.check(1, epsilon)` says whether epsilon is promised for any two
records. It holds from log 3 on for the boolean form with prob = 0.75, and from log 6 on for three categories.
"""

from __future__ import annotations

import math

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.mechanism import Served

LIBRARY, RELEASE = "opendp_0_4", "OpenDP 0.4.0"


def one_check(name: str, epsilon: float, expected: Verdict) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"opendp 0.4/{name} eps={epsilon:.4g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=PrivacyClaim(epsilon, 0.0, Local(), f"{RELEASE}, privacy relation of {name}, prob = 0.75"),
        pairs=[(0, 1)],
        budget=30_000,
        method="fixed",
        expected=expected,
        tolerance=1.0,
    )


CHECKS = [
    one_check("make_randomized_response", math.log(6), Verdict.PASS),
]


ABOUT = About(
    repository="opendp/opendp",
    not_audited=("Everything else of this release; OpenDP 0.16.0 has its own page.",),
)
