"""pure-ldp 1.2.0: frequency oracles and heavy hitters under local differential privacy, one user's report at a time.

The README calls it "simple implementations of various state-of-the-art LDP algorithms"; every client takes
"epsilon: float - Privacy budget", the base class says. A dataset is one record; any two are neighbors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit import Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.searched import SHORT, local

LIBRARY, RELEASE = "pure_ldp", "pure-ldp 1.2.0"
EPSILON, GENERAL, VALUES = 1.0, 2.0, 4
SCALE = 0.5  # RAPPOR's f, and one hash function
RAPPOR_EPSILON = 2 * math.log((1 - SCALE / 2) / (SCALE / 2))
BUDGET, GENERAL_BUDGET, BITS_BUDGET = 240_000, 180_000, 20_000

_ONE, _WORDS, _LONG_WORDS = (1, 2), ("00", "11"), ("000", "111")
_BITS = (1, 3)  # of different bits of the Bloom filter
_BUDGET = 'docstring of FreqOracleClient: "epsilon (float): Privacy budget"'
_CONVERTED = 'docstring of RAPPORClient.convert_f_to_eps, of f and k = 1: "Returns: Epsilon value"'

_SEARCHED = Release(LIBRARY, "pure-ldp", RELEASE)


def _claim(epsilon: float, source: str = _BUDGET) -> PrivacyClaim:
    return PrivacyClaim(epsilon, 0.0, Local(), f"{RELEASE}, {source}")


def _check(name: str, pair: tuple[Any, Any] = _ONE, epsilon: float = EPSILON, **settings: Any) -> PrivacyCheck:
    source = settings.pop("source", _BUDGET)
    return PrivacyCheck(
        name=f"pure-ldp/{name} eps={epsilon:.4g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=_claim(epsilon, source),
        pairs=[pair],
        method="fixed",
        **{"budget": BUDGET, **settings},
    )


def one_hot(value: int) -> np.ndarray:
    """Return the vector to which histogram encoding adds noise; shape (VALUES,)."""
    return np.eye(VALUES)[value - 1]


def _bits_of_histogram_encoding() -> PrecisionCheck:
    return PrecisionCheck(
        name=f"pure-ldp/HE bits eps={EPSILON:g}",
        mechanism=Served(LIBRARY, "HE", own_randomness=True),
        claim=_claim(EPSILON),
        pairs=[_ONE],
        budget=BITS_BUDGET,
        query=one_hot,
        expected=Verdict.FAIL,
    )


CHECKS = [
    _check("DE"),
    _check("SUE"),
    _check("OUE"),
    _check("HE"),
    _bits_of_histogram_encoding(),
    _check("BLH"),
    _check("OLH"),
    _check("FLH"),
    _check("HM", expected=Verdict.FAIL),
    _check("HM as a list"),
    _check("HR, high privacy"),
    _check("HR, general", epsilon=GENERAL, budget=GENERAL_BUDGET),
    _check("RAPPOR", _BITS, RAPPOR_EPSILON, source=_CONVERTED, budget=GENERAL_BUDGET, expected=Verdict.FAIL),
    _check("CMS"),
    _check("HCMS"),
    _check("PCS"),
    _check("PEM", _LONG_WORDS),
    _check("TreeHistogram", _WORDS),
    *(local(_SEARCHED, served, _BUDGET).check for served in ("DE", "BLH", "OLH")),
    *(local(_SEARCHED, served, _BUDGET, values=SHORT).check for served in ("SUE", "OUE", "HE")),
    *(local(_SEARCHED, served, _BUDGET, [_ONE]).check for served in ("CMS", "HCMS")),
]

NOTES = {
    "pure-ldp/HE bits eps=1": (
        "`frequency_oracles/histogram_encoding/he_client.py: HEClient._perturb` adds `np.random.laplace` to a vector "
        "of zeros and a one, in doubles: the last bits of an entry tell which of them is under the noise. The "
        "documentation has no caveat."
    ),
    "pure-ldp/HM eps=1": (
        "`frequency_oracles/hadamard_mechanism/hadamard_mechanism_client.py: HadamardMechClient.privatise` returns a "
        "`list` when it tells the truth and a `zip` when it does not: the type of the report tells which, and "
        "epsilon is infinite for whoever receives the object. The same report as a list keeps the claim."
    ),
    f"pure-ldp/RAPPOR eps={RAPPOR_EPSILON:.4g}": (
        "`frequency_oracles/rappor/rappor_client.py: RAPPORClient._perturb` sets bits to 1 and clears none: `data[i] "
        "= 1` has no other branch. The bit of the user's value is always 1, so that a 0 there excludes the value: "
        "epsilon is infinite."
    ),
}

ABOUT = About(
    repository="Samuel-Maddock/pure-LDP",
    access={"*/HE bits *": "one user's report with all bits", "*": "one user's report; the collector is the adversary"},
    not_audited=(
        "Servers and estimators, which see reports only.",
        "`SFP`, the sequence fragment puzzle.",
        "Several reports of one user.",
    ),
)
