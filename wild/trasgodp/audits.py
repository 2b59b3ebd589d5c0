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
_LOCAL = 'README: "mechanims for ε-differential privacy (numerical and categorical data)", "under a local approach"'
_METRIC = 'README: "metric-privacy (location-based data)", "geo-indistinguishability mechanism"'
_HUNDRED_METERS = math.degrees(100 / 6_371_000)
_PLACES = [([0.0, 0.0], [_HUNDRED_METERS, 0.0])]
_REPLACED = Substitution()

_FROM_DATA = (
    "`trasgodp/categorical/{file}: {function}` takes as categories those that occur in the column (`np.unique`). A "
    "category that one record has alone can be released if and only if the record is there: epsilon is infinite.{more}"
)

ENTRIES = [
    RELEASE.entry("dp_clip_laplace", [([0.0, 0.0], [0.0, 1.0])], _LOCAL, relation=_REPLACED),
    RELEASE.entry("dp_clip_laplace of integers", [([0, 0], [0, 10])], _LOCAL, relation=_REPLACED),
    RELEASE.entry(
        "dp_clip_gaussian", [([0.0], [1.0])], _LOCAL, epsilon=0.9, delta=DELTA, relation=_REPLACED, tolerance=2.5
    ),
    RELEASE.entry("dp_exponential", [(["a", "b", "c", "a"], ["a", "b", "c", "b"])], _LOCAL, relation=_REPLACED),
    RELEASE.entry(
        "dp_exponential",
        [(["a", "b", "b"], ["a", "b", "c"])],
        _LOCAL,
        relation=_REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
        refuted=_FROM_DATA.format(file="_exponential.py", function="dp_exponential_array", more=""),
    ),
    RELEASE.entry("dp_randomized_response_binary", [(["a", "b", "a"], ["a", "b", "b"])], _LOCAL, relation=_REPLACED),
    RELEASE.entry(
        "dp_randomized_response_binary",
        [(["a", "a"], ["a", "b"])],
        _LOCAL,
        relation=_REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
        refuted="`trasgodp/categorical/_randomized_response.py: dp_randomized_response_binary_array` raises ValueError "
        "unless two categories occur in the column: whether one record differs from all others shows with certainty.",
    ),
    RELEASE.entry(
        "dp_randomized_response_kary", [(["a", "b", "c", "a"], ["a", "b", "c", "b"])], _LOCAL, relation=_REPLACED
    ),
    RELEASE.entry(
        "dp_randomized_response_kary",
        [(["a", "b", "c", "c"], ["a", "b", "c", "d"])],
        _LOCAL,
        relation=_REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
        refuted=_FROM_DATA.format(
            file="_randomized_response.py",
            function="dp_randomized_response_kary_array",
            more=" With fewer than three categories it raises, which tells as much.",
        ),
    ),
    RELEASE.entry(
        "metric_privacy",
        _PLACES,
        _METRIC,
        relation=Local(),
        budget=2_000,
        refuted="`trasgodp/geoindis/_geo_metric_privacy.py: metric_privacy` calls `np.random.seed(seed)`, by default "
        "with 42: the same noise in every call, known to everybody. The true location is the released one "
        "minus a constant.",
    ),
    RELEASE.entry(
        "metric_privacy table",
        _PLACES,
        _METRIC,
        relation=Local(),
        budget=4_000,
        named="eps=1, with another seed",
        refuted="`trasgodp/geoindis/_geo_metric_privacy.py: metric_privacy` releases `radius_m`, the distance from the "
        "true location to the released one, beside it: the true location is on that circle. The docstring says "
        '"perturbed location data (including radius)".',
    ),
    RELEASE.entry(
        "metric_privacy location",
        _PLACES,
        _METRIC,
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
    access={
        "*a category of one record": "the released column",
        "*/metric_privacy table *": "the released table, with its column `radius_m`",
        "*/metric_privacy *": "the released table, and the source code",
    },
    not_audited=(
        "The forms for data frames, which repeat the code of those for arrays.",
        "The bits of floats: `numpy.random.laplace` and `normal` are added in doubles, then clipped.",
        "Locations away from the equator, and columns with equal locations, which get equal noise.",
        "Maps and `metrics`, which make no claim.",
    ),
)
