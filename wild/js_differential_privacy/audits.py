"""differential-privacy 1.1.2 for JavaScript: functions of an array. One element is removed, as its README defines."""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("js_differential_privacy", "js-differential-privacy", "differential-privacy 1.1.2", budget=20_000)
_SAYS = 'README, `maxEpsilon`: "the maximum amount of data you\'re willing to leak"; "mathematical guarantees"'
_LOCAL = (
    "`lib/sensitivity.js: calculateSensitivity` takes the largest minus the smallest value over the arrays that lack "
    "one element, and `lib/privatize.js` scales the noise by it. That is a range around the data at hand, and no bound "
    "for all neighbors: "
)
_MEND = (
    " To mend it, ask for the sensitivity over all datasets, or for bounds of the elements that they are clipped to. "
    "The documentation calls it the Laplace mechanism and has no caveat."
)
_FEW = {"tolerance": 1.5}

ENTRIES = [
    RELEASE.entry(
        "count",
        [([0.0, 0.0], [0.0, 0.0, 0.0])],
        _SAYS,
        **_FEW,
        refuted=f"{_LOCAL}all arrays that lack one element have the same length, so that every count is released "
        f"without any noise.{_MEND}",
    ),
    RELEASE.entry(
        "sum",
        [([1.0, 1.0], [1.0, 1.0, 1.0])],
        _SAYS,
        **_FEW,
        refuted=f"{_LOCAL}where all elements are equal, the sum is released without noise.{_MEND}",
    ),
    RELEASE.entry(
        "mean",
        [([0.0, 0.0], [0.0, 0.0, 1.0])],
        _SAYS,
        **_FEW,
        refuted=f"{_LOCAL}the mean of equal elements is released without noise, that of others is not.{_MEND}",
    ),
    RELEASE.entry(
        "median",
        [([0.0, 0.0], [0.0, 0.0, 1.0])],
        _SAYS,
        **_FEW,
        refuted=f"{_LOCAL}a median that no single element moves is released without noise.{_MEND}",
    ),
    RELEASE.entry(
        "maximum",
        [([0.0, 0.0], [0.0, 0.0, 1.0])],
        _SAYS,
        **_FEW,
        refuted=f"{_LOCAL}a maximum that two elements attain is released without noise.{_MEND}",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="gittyeric/differential-privacy",
    not_audited=(
        "Objects (`newKeyValueView`), functions that return promises, and datasets of one's own.",
        "`maxCallCount`: every call of `privatize` has a budget of its own, whatever others spent on the same data.",
        "The digits of its decimal numbers.",
        "Node.js from 19 on, where the library cannot be loaded: it assigns to `global.crypto`.",
    ),
)
