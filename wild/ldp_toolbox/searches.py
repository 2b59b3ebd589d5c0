"""ldp-toolbox 0.1.3 at any parameters."""

from wild.searched import SHORT, Release, local

_RELEASE = Release("ldp_toolbox", "ldp-toolbox", "ldp-toolbox 0.1.3")
_SAYS = 'docstrings of the protocols: "epsilon: The privacy budget ... strength of the privacy guarantee"'

CHECKS = [
    *(local(_RELEASE, served, _SAYS) for served in ("GRR", "SS", "BLH", "OLH")),
    *(local(_RELEASE, served, _SAYS, values=SHORT) for served in ("SUE", "OUE", "THE", "HE")),
]
