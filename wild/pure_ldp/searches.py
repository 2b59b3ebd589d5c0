"""pure-ldp 1.2.0 at any parameters."""

from wild.searched import SHORT, Release, local

_RELEASE = Release("pure_ldp", "pure-ldp", "pure-ldp 1.2.0")
_SAYS = 'docstring of FreqOracleClient: "epsilon (float): Privacy budget"'

CHECKS = [
    *(local(_RELEASE, served, _SAYS, first=1) for served in ("DE", "BLH", "OLH")),
    *(local(_RELEASE, served, _SAYS, first=1, values=SHORT) for served in ("SUE", "OUE", "HE")),
    *(local(_RELEASE, served, _SAYS, [(1, 2)]) for served in ("CMS", "HCMS")),
]
