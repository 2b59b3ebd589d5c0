"""multi-freq-ldpy 0.2.5: frequency protocols under local differential privacy, one user's report at a time.

Every client documents its parameter with ":param epsilon: privacy guarantee", for any two values (tuples of values) of
a user; the longitudinal ones promise `eps_1` for "a single report", dBitFlipPM `eps_perm` for its memoized one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Verdict
from wild.about import About
from wild.entry import Release
from wild.mechanism import Served
from wild.searched import SHORT, local

LIBRARY, RELEASE = "multi_freq_ldpy", "multi-freq-ldpy 0.2.5"
EPSILON, VALUES = 1.0, 5
BUDGET, BITS_BUDGET = 240_000, 20_000

Pair = tuple[Any, Any]

_SEARCHED = Release(LIBRARY, "multi-freq-ldpy", RELEASE)
_ONE: Pair = (0, 1)
_SEVERAL: Pair = ([0, 0], [1, 1])
_GUARANTEE = '":param epsilon: privacy guarantee"'
_SINGLE = '":param eps_1: lower bound of privacy guarantee (a single report)"'
_AMPLIFIED = (
    "`mdim_freq_est/RSpFD_solution.py: {client}` randomises one attribute, drawn at random, with the amplified "
    "`amp_eps = log(d (e^epsilon - 1) + 1)`, and draws fake values for the others. That amplification holds for two "
    "users who differ in one attribute; where they differ in all d, every term of the law has the ratio e^amp_eps, "
    "and so has their sum. True epsilon: log(2 (e - 1) + 1) = 1.49."
)


def _claim(client: str, sentence: str) -> PrivacyClaim:
    return PrivacyClaim(EPSILON, 0.0, Local(), f"{RELEASE}, docstring of {client}: {sentence}")


def _check(name: str, client: str, pair: Pair = _ONE, sentence: str = _GUARANTEE, *, kept: bool = True) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"multi-freq-ldpy/{name} eps={EPSILON:g}",
        mechanism=Served(LIBRARY, name, own_randomness=True),
        claim=_claim(client, sentence),
        pairs=[pair],
        budget=BUDGET,
        method="fixed",
        expected=Verdict.PASS if kept else Verdict.FAIL,
    )


def one_hot(value: int) -> np.ndarray:
    """Return the vector to which histogram encoding adds noise; shape (VALUES,)."""
    return np.eye(VALUES)[value]


def _bits_of_histogram_encoding() -> PrecisionCheck:
    return PrecisionCheck(
        name=f"multi-freq-ldpy/HE bits eps={EPSILON:g}",
        mechanism=Served(LIBRARY, "HE", own_randomness=True),
        claim=_claim("HE_Client", _GUARANTEE),
        pairs=[_ONE],
        budget=BITS_BUDGET,
        query=one_hot,
        expected=Verdict.FAIL,
    )


CHECKS = [
    _check("GRR", "GRR_Client"),
    _check("SUE", "UE_Client"),
    _check("OUE", "UE_Client"),
    _check("HE", "HE_Client"),
    _bits_of_histogram_encoding(),
    _check("BLH", "LH_Client"),
    _check("OLH", "LH_Client"),
    _check("SS", "SS_Client", kept=False),
    _check("SS sorted", "SS_Client"),
    _check("ADP", "ADP_Client"),
    _check("SPL GRR", "SPL_GRR_Client", _SEVERAL),
    _check("SPL OUE", "SPL_UE_Client", _SEVERAL),
    _check("SMP GRR", "SMP_GRR_Client", _SEVERAL),
    _check("SMP OUE", "SMP_UE_Client", _SEVERAL),
    _check("RS+FD GRR", "RSpFD_GRR_Client", _SEVERAL, kept=False),
    _check("RS+FD OUE-z", "RSpFD_UE_zero_Client", _SEVERAL, kept=False),
    _check("RS+FD OUE-r", "RSpFD_UE_rnd_Client", _SEVERAL, kept=False),
    _check("RS+FD ADP", "RSpFD_ADP_Client", _SEVERAL, kept=False),
    _check("L-GRR", "L_GRR_Client", sentence=_SINGLE),
    _check("L-SUE", "L_SUE_Client", sentence=_SINGLE),
    _check("L-OUE", "L_OUE_Client", sentence=_SINGLE),
    _check("L-OSUE", "L_OSUE_Client", sentence=_SINGLE),
    _check("L-SOUE", "L_SOUE_Client", sentence=_SINGLE),
    _check("L-BLH", "L_LH_Client", sentence=_SINGLE),
    _check("dBitFlipPM", "dBitFlipPM_Client", sentence='":param eps_perm: upper bound of privacy guarantee"'),
    *(local(_SEARCHED, served, _GUARANTEE).check for served in ("GRR", "BLH", "OLH", "SS sorted")),
    *(local(_SEARCHED, served, _GUARANTEE, values=SHORT).check for served in ("SUE", "OUE", "HE", "ADP")),
    local(_SEARCHED, "L-GRR", _SINGLE, share=st.floats(0.1, 0.9)).check,
    *(
        local(_SEARCHED, served, _SINGLE, values=SHORT, share=st.floats(0.1, 0.9)).check
        for served in ("L-SUE", "L-OUE", "L-OSUE", "L-SOUE")
    ),
]

NOTES = {
    "multi-freq-ldpy/HE bits eps=1": (
        "`pure_frequency_oracles/HE.py: HE_Client` adds numba's `np.random.laplace` to a vector of zeros and a one. "
        "`numba/np/random/legacy.py: laplace_impl` is loc + scale log(2 U) in doubles, so that the last bits of an "
        "entry tell whether 0 or 1 is under the noise. The documentation has no caveat."
    ),
    "multi-freq-ldpy/SS eps=1": (
        "`pure_frequency_oracles/SS.py: SS_Client` returns the subset as an array with the user's value, when the "
        "subset holds it, in the first place (`sub_set[0] = int(input_data)`). A value in a later place is certainly "
        "not the user's: epsilon is infinite for subsets of two or more. The same subset in increasing order keeps "
        "the claim."
    ),
    "multi-freq-ldpy/RS+FD GRR eps=1": _AMPLIFIED.format(client="RSpFD_GRR_Client"),
    "multi-freq-ldpy/RS+FD OUE-z eps=1": _AMPLIFIED.format(client="RSpFD_UE_zero_Client"),
    "multi-freq-ldpy/RS+FD OUE-r eps=1": _AMPLIFIED.format(client="RSpFD_UE_rnd_Client"),
    "multi-freq-ldpy/RS+FD ADP eps=1": _AMPLIFIED.format(client="RSpFD_ADP_Client"),
}

ABOUT = About(
    repository="hharcolezi/multi-freq-ldpy",
    access={"*": "one user's report; the collector is the adversary", "*/HE bits *": "one user's report with all bits"},
    not_audited=(
        "RS+RFD, the solutions with realistic fake data.",
        "Aggregators, which see reports only.",
        "Longitudinal protocols over many rounds: the first report is audited, not the memory of a user.",
        "More than two attributes; vectors of more than six values, other reports of more than forty.",
    ),
)
