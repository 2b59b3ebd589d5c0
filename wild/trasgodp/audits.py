"""trasgoDP 2.1.0: local mechanisms for columns. A dataset is a column; one record is replaced.

Locations are audited at epsilon = 0.01 per meter: two points 100 meters apart may differ by epsilon = 1.
"""

from __future__ import annotations

import math

from audit import Local, Substitution
from wild.about import About
from wild.entry import Release, notes_of

DELTA = 0.05  # as in `served.py`
RELEASE = Release("trasgodp", "trasgodp", "trasgoDP 2.1.0", budget=200_000, own_randomness=False)
LOCAL = 'README: "mechanims for ε-differential privacy (numerical and categorical data)", "under a local approach"'
METRIC = 'README: "metric-privacy (location-based data)", "geo-indistinguishability mechanism"'
_HUNDRED_METERS = math.degrees(100 / 6_371_000)
PLACES = [([0.0, 0.0], [_HUNDRED_METERS, 0.0])]
REPLACED = Substitution()


ENTRIES = [
    RELEASE.entry("dp_clip_laplace", [([0.0, 0.0], [0.0, 1.0])], LOCAL, relation=REPLACED),
    RELEASE.entry("dp_clip_laplace of integers", [([0, 0], [0, 10])], LOCAL, relation=REPLACED),
    RELEASE.entry(
        "dp_clip_gaussian", [([0.0], [1.0])], LOCAL, epsilon=0.9, delta=DELTA, relation=REPLACED, tolerance=2.5
    ),
    RELEASE.entry("dp_exponential", [(["a", "b", "c", "a"], ["a", "b", "c", "b"])], LOCAL, relation=REPLACED),
    RELEASE.entry("dp_randomized_response_binary", [(["a", "b", "a"], ["a", "b", "b"])], LOCAL, relation=REPLACED),
    RELEASE.entry(
        "dp_randomized_response_kary", [(["a", "b", "c", "a"], ["a", "b", "c", "b"])], LOCAL, relation=REPLACED
    ),
    RELEASE.entry(
        "metric_privacy location",
        PLACES,
        METRIC,
        relation=Local(),
        budget=34_000,
        named="eps=1, with another seed and without the radius",
        tolerance=2.0,
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="IFCA-Advanced-Computing/trasgoDP",
    not_audited=(
        "The forms for data frames, which repeat the code of those for arrays.",
        "The bits of floats: `numpy.random.laplace` and `normal` are added in doubles, then clipped.",
        "Locations away from the equator, and columns with equal locations.",
        "Maps and `metrics`, which make no claim.",
    ),
)
