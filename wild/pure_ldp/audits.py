"""pure-ldp 1.2.0: frequency oracles and heavy hitters under local differential privacy, one user's report at a time.

The README calls it "simple implementations of various state-of-the-art LDP algorithms"; every client takes
"epsilon: float - Privacy budget", the base class says. A dataset is one record; any two are neighbors.
"""

from __future__ import annotations

from typing import Any

from audit import Local, PrivacyCheck, PrivacyClaim
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.searched import SHORT, local

LIBRARY, RELEASE = "pure_ldp", "pure-ldp 1.2.0"
EPSILON, GENERAL, VALUES = 1.0, 2.0, 4
SCALE = 0.5  # RAPPOR's f, and one hash function
BUDGET, GENERAL_BUDGET = 240_000, 180_000

ONE, _WORDS, _LONG_WORDS = (1, 2), ("00", "11"), ("000", "111")
_BUDGET = 'docstring of FreqOracleClient: "epsilon (float): Privacy budget"'

_SEARCHED = Release(LIBRARY, "pure-ldp", RELEASE)


def claim_of(epsilon: float, source: str = _BUDGET) -> PrivacyClaim:
    return PrivacyClaim(epsilon, 0.0, Local(), f"{RELEASE}, {source}")


def one_check(name: str, pair: tuple[Any, Any] = ONE, epsilon: float = EPSILON, **settings: Any) -> PrivacyCheck:
    source = settings.pop("source", _BUDGET)
    return PrivacyCheck(
        name=f"pure-ldp/{name} eps={epsilon:.4g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=claim_of(epsilon, source),
        pairs=[pair],
        method="fixed",
        **{"budget": BUDGET, **settings},
    )


CHECKS = [
    one_check("DE"),
    one_check("SUE"),
    one_check("OUE"),
    one_check("HE"),
    one_check("BLH"),
    one_check("OLH"),
    one_check("FLH"),
    one_check("HM as a list"),
    one_check("HR, high privacy"),
    one_check("HR, general", epsilon=GENERAL, budget=GENERAL_BUDGET),
    one_check("CMS"),
    one_check("HCMS"),
    one_check("PCS"),
    one_check("PEM", _LONG_WORDS),
    one_check("TreeHistogram", _WORDS),
    *(local(_SEARCHED, served, _BUDGET).check for served in ("DE", "BLH", "OLH")),
    *(local(_SEARCHED, served, _BUDGET, values=SHORT).check for served in ("SUE", "OUE", "HE")),
    *(local(_SEARCHED, served, _BUDGET, [ONE]).check for served in ("CMS", "HCMS")),
]


ABOUT = About(
    repository="Samuel-Maddock/pure-LDP",
    not_audited=(
        "Servers and estimators, which see reports only.",
        "`SFP`, the sequence fragment puzzle.",
        "Several reports of one user.",
    ),
)
