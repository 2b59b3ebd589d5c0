"""differential-privacy 1.1.2 for JavaScript: functions of an array. One element is removed, as its README defines."""

from __future__ import annotations

from typing import Any

from wild.about import About
from wild.entry import Release

RELEASE = Release("js_differential_privacy", "js-differential-privacy", "differential-privacy 1.1.2", budget=20_000)

CHECKS: list[Any] = []
ABOUT = About(
    repository="gittyeric/differential-privacy",
    not_audited=(
        "Objects (`newKeyValueView`), functions that return promises, and datasets of one's own.",
        "`maxCallCount`.",
        "The digits of its decimal numbers.",
        "Node.js from 19 on, where the library cannot be loaded: it assigns to `global.crypto`.",
    ),
)
