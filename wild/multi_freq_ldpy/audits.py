"""multi-freq-ldpy 0.2.5: frequency protocols under local differential privacy, one user's report at a time.

Every client documents its parameter with ":param epsilon: privacy guarantee", for any two values (tuples of values) of
a user; the longitudinal ones promise `eps_1` for "a single report", dBitFlipPM `eps_perm` for its memoized one.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from audit import Local, PrivacyCheck, PrivacyClaim
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.searched import SHORT, local

LIBRARY, RELEASE = "multi_freq_ldpy", "multi-freq-ldpy 0.2.5"
EPSILON, VALUES = 1.0, 5
BUDGET = 240_000

Pair = tuple[Any, Any]

_SEARCHED = Release(LIBRARY, "multi-freq-ldpy", RELEASE)
ONE: Pair = (0, 1)
SEVERAL: Pair = ([0, 0], [1, 1])
GUARANTEE = '":param epsilon: privacy guarantee"'
_SINGLE = '":param eps_1: lower bound of privacy guarantee (a single report)"'


def claim_of(client: str, sentence: str) -> PrivacyClaim:
    return PrivacyClaim(EPSILON, 0.0, Local(), f"{RELEASE}, docstring of {client}: {sentence}")


def one_check(name: str, client: str, pair: Pair = ONE, sentence: str = GUARANTEE) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"multi-freq-ldpy/{name} eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=claim_of(client, sentence),
        pairs=[pair],
        budget=BUDGET,
        method="fixed",
    )


CHECKS = [
    one_check("GRR", "GRR_Client"),
    one_check("SUE", "UE_Client"),
    one_check("OUE", "UE_Client"),
    one_check("HE", "HE_Client"),
    one_check("BLH", "LH_Client"),
    one_check("OLH", "LH_Client"),
    one_check("SS sorted", "SS_Client"),
    one_check("ADP", "ADP_Client"),
    one_check("SPL GRR", "SPL_GRR_Client", SEVERAL),
    one_check("SPL OUE", "SPL_UE_Client", SEVERAL),
    one_check("SMP GRR", "SMP_GRR_Client", SEVERAL),
    one_check("SMP OUE", "SMP_UE_Client", SEVERAL),
    one_check("L-GRR", "L_GRR_Client", sentence=_SINGLE),
    one_check("L-SUE", "L_SUE_Client", sentence=_SINGLE),
    one_check("L-OUE", "L_OUE_Client", sentence=_SINGLE),
    one_check("L-OSUE", "L_OSUE_Client", sentence=_SINGLE),
    one_check("L-SOUE", "L_SOUE_Client", sentence=_SINGLE),
    one_check("L-BLH", "L_LH_Client", sentence=_SINGLE),
    one_check("dBitFlipPM", "dBitFlipPM_Client", sentence='":param eps_perm: upper bound of privacy guarantee"'),
    *(local(_SEARCHED, served, GUARANTEE).check for served in ("GRR", "BLH", "OLH", "SS sorted")),
    *(local(_SEARCHED, served, GUARANTEE, values=SHORT).check for served in ("SUE", "OUE", "HE", "ADP")),
    local(_SEARCHED, "L-GRR", _SINGLE, share=st.floats(0.1, 0.9)).check,
    *(
        local(_SEARCHED, served, _SINGLE, values=SHORT, share=st.floats(0.1, 0.9)).check
        for served in ("L-SUE", "L-OUE", "L-OSUE", "L-SOUE")
    ),
]


ABOUT = About(
    repository="hharcolezi/multi-freq-ldpy",
    not_audited=(
        "RS+RFD, the solutions with realistic fake data.",
        "Aggregators, which see reports only.",
        "Longitudinal protocols over many rounds: the first report is audited, not the memory of a user.",
        "More than two attributes; vectors of more than six values, other reports of more than forty.",
    ),
)
