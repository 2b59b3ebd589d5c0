"""js_differential_privacy, noise is scaled by the data at hand."""

from __future__ import annotations

from wild.entry import Release

RELEASE = Release("js_differential_privacy", "js-differential-privacy", "differential-privacy 1.1.2", budget=20_000)
_SAYS = 'README, `maxEpsilon`: "the maximum amount of data you\'re willing to leak"; "mathematical guarantees"'
_FEW = {"tolerance": 1.5}

CHECKS = [
    RELEASE.entry("count", [([0.0, 0.0], [0.0, 0.0, 0.0])], _SAYS, **_FEW),
    RELEASE.entry("sum", [([1.0, 1.0], [1.0, 1.0, 1.0])], _SAYS, **_FEW),
    RELEASE.entry("mean", [([0.0, 0.0], [0.0, 0.0, 1.0])], _SAYS, **_FEW),
    RELEASE.entry("median", [([0.0, 0.0], [0.0, 0.0, 1.0])], _SAYS, **_FEW),
    RELEASE.entry("maximum", [([0.0, 0.0], [0.0, 0.0, 1.0])], _SAYS, **_FEW),
]
