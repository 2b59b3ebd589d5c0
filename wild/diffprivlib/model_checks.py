"""diffprivlib.models: what is released once a model is fitted.

The documentation names no neighboring relation. Unless said otherwise one record is replaced, which keeps the number
of records that every model uses as public.
"""

from __future__ import annotations

from audit import Labeled
from wild.diffprivlib.entry import ADDED, entry

MODEL = "Privacy parameter epsilon"
TRAINING = "Differential privacy is guaranteed with respect to the training sample"


def labeled(*records: tuple[float, float]) -> Labeled:
    """Records (x, y) of one feature."""
    return Labeled([[x] for x, _ in records], [y for _, y in records])


_LINES = [
    entry(
        "LinearRegression -1..1",
        [(labeled((0.1, 0.0)), labeled((1.0, 0.0)))],
        where="LinearRegression",
        says=TRAINING,
        budget=17_000,
        tolerance=1.5,
    ),
    entry(
        "LogisticRegression norm 1",
        [(labeled((0.0, 0), (0.0, 1)), labeled((0.0, 0), (1.0, 1)))],
        where="LogisticRegression",
        says="epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by "
        "data_norm",
        budget=17_000,
        tolerance=1.5,
    ),
]


_UNSUPERVISED = [
    entry("PCA", [([[1.0, 0.0]] * 2, [[1.0, 0.0], [0.0, 1.0]])], says=MODEL, budget=17_000, tolerance=1.5),
    entry(
        "StandardScaler",
        [([[0.0], [0.0]], [[0.0], [1.0]])],
        says="Differential privacy is guaranteed on the learned scaler with respect to the training sample",
        budget=17_000,
        tolerance=1.5,
    ),
]

_TREES = [
    entry(
        "DecisionTreeClassifier",
        [(labeled((0.0, 0)), labeled((0.0, 0), (0.0, 1)))],
        says=MODEL,
        relation=ADDED,
        budget=17_000,
        tolerance=1.5,
    ),
]

ENTRIES = [*_LINES, *_UNSUPERVISED, *_TREES]
