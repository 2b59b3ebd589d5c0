"""opendp_0_14, one bit of a vector is not randomized."""

from __future__ import annotations

import math

from audit import Local, PrivacyCheck, PrivacyClaim
from wild.mechanism import Served

LIBRARY, RELEASE = "opendp_0_14", "OpenDP 0.14.2"
EPSILON = 2 * math.log(3)

CHECKS = [
    PrivacyCheck(
        name=f"opendp 0.14/make_randomized_response_bitvec, first and last bit eps={EPSILON:.4g}",
        mechanism=Served(LIBRARY, "make_randomized_response_bitvec", own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, Local(), f"{RELEASE}, privacy map of make_randomized_response_bitvec"),
        pairs=[([1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])],
        budget=20_000,
        method="fixed",
    ),
]
