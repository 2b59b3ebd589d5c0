"""multi-freq-ldpy 0.2.5 at any parameters."""

from hypothesis import strategies as st

from wild.searched import SHORT, Release, local

_RELEASE = Release("multi_freq_ldpy", "multi-freq-ldpy", "multi-freq-ldpy 0.2.5")
_SAYS = '":param epsilon: privacy guarantee"'
_SINGLE = '":param eps_1: lower bound of privacy guarantee (a single report)"'
_SHARE = st.floats(0.1, 0.9)

CHECKS = [
    *(local(_RELEASE, served, _SAYS) for served in ("GRR", "BLH", "OLH", "SS sorted")),
    *(local(_RELEASE, served, _SAYS, values=SHORT) for served in ("SUE", "OUE", "HE", "ADP")),
    local(_RELEASE, "L-GRR", _SINGLE, share=_SHARE),
    *(local(_RELEASE, each, _SINGLE, values=SHORT, share=_SHARE) for each in ("L-SUE", "L-OUE", "L-OSUE", "L-SOUE")),
]
