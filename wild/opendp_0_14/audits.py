"""OpenDP 0.14.2: randomized response on bit vectors. A dataset is one record of bits, of weight at most 1."""

from __future__ import annotations

import math

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.mechanism import Served

LIBRARY, RELEASE = "opendp_0_14", "OpenDP 0.14.2"
EPSILON = 2 * math.log(3)  # 2 m log((2 - f) / f) with f = 0.5 and m = 1

CHECKS = [
    PrivacyCheck(
        name=f"opendp 0.14/make_randomized_response_bitvec, first and last bit eps={EPSILON:.4g}",
        mechanism=Served(LIBRARY, "make_randomized_response_bitvec", own_randomness=True),
        claim=PrivacyClaim(EPSILON, 0.0, Local(), f"{RELEASE}, privacy map of make_randomized_response_bitvec"),
        pairs=[([1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])],
        budget=20_000,
        method="fixed",
        expected=Verdict.FAIL,
    )
]

NOTES = {
    CHECKS[0].name: (
        "The sampler draws one bit of noise too few, and the last bit of the vector is released as it is: epsilon is "
        "infinite. The library is compiled; the docstring of `opendp/measurements.py: "
        'make_randomized_response_bitvec` promises a flip of each bit ("Per-bit flipping probability"). Release '
        "0.16.0, audited too, has it repaired."
    )
}

ABOUT = About(
    repository="opendp/opendp",
    upstream={"*": "opendp/opendp issue 2707, repaired by pull request 2708"},
    access={"*": "one report: its last bit is the truth"},
    not_audited=("Everything else of this release; OpenDP 0.16.0 has its own page.",),
)
