"""diffprivlib.models: what is released once a model is fitted.

The documentation names no neighboring relation. Unless said otherwise one record is replaced, which keeps the number
of records that every model uses as public.
"""

from __future__ import annotations

from audit import Labeled
from wild.diffprivlib.entry import ADDED, entry

_MODEL = "Privacy parameter epsilon"
_TRAINING = "Differential privacy is guaranteed with respect to the training sample"
_SECOND_MOMENT = (
    "`models/linear_regression.py: _construct_regression_obj` computes the sensitivity of the second moment of a "
    "feature as `np.max(np.abs([bounds_X[0][i], bounds_X[0][i]])) ** 2`: the lower bound twice, the upper one not at "
    "all. With bounds (0, 1) that is 0, and the sum of squares enters the coefficient without noise."
)
_CLASSES = (
    "The classes are read from the labels without noise (`{where}`); where RandomForestClassifier does so, it warns of "
    '"additional privacy leakage".'
)


def _labeled(*records: tuple[float, float]) -> Labeled:
    """Records (x, y) of one feature."""
    return Labeled([[x] for x, _ in records], [y for _, y in records])


_LINES = [
    entry(
        "LinearRegression -1..1",
        [(_labeled((0.1, 0.0)), _labeled((1.0, 0.0)))],
        where="LinearRegression",
        says=_TRAINING,
        budget=17_000,
        tolerance=1.5,
    ),
    entry(
        "LinearRegression 0..1",
        [(_labeled((0.1, 0.0)), _labeled((1.0, 0.0)))],
        where="LinearRegression",
        says=_TRAINING,
        budget=8_000,
        refuted=_SECOND_MOMENT,
    ),
    entry(
        "LogisticRegression norm 1",
        [(_labeled((0.0, 0), (0.0, 1)), _labeled((0.0, 0), (1.0, 1)))],
        where="LogisticRegression",
        says="epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by "
        "data_norm",
        budget=17_000,
        tolerance=1.5,
    ),
    entry(
        "LogisticRegression norm 100",
        [(_labeled((0.0, 0), (0.0, 1)), _labeled((0.0, 0), (100.0, 1)))],
        where="LogisticRegression",
        says="epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by "
        "data_norm",
        budget=10_000,
        refuted="`mechanisms/vector.py: Vector.randomise` spends 2 log(1 + c R / alpha) of epsilon on the curvature "
        "of the loss, with R = `data_sensitivity`, the norm of a record. The second derivative of the loss of a "
        "record of norm R is up to c R^2; Chaudhuri, Monteleoni & Sarwate (2011), from whom the term is, prove it for "
        "records of norm at most 1, where both agree. Here c R / alpha = 0.1 and c R^2 / alpha = 10.",
    ),
]

_BAYES = [
    entry(
        "GaussianNB 10..11",
        [
            (
                _labeled((10.0, 0), (10.0, 0), (10.0, 1), (10.0, 1)),
                _labeled((10.0, 0), (10.0, 1), (10.0, 1), (10.0, 1)),
            )
        ],
        where="GaussianNB",
        says="Privacy parameter epsilon for the model",
        budget=5_000,
        refuted="`models/naive_bayes.py: GaussianNB._update_mean_variance` adds noise for a change of upper - lower = "
        "1 to the sum of a feature within a class. A record that is replaced by one of the other class leaves one sum "
        "and enters another, and changes each by up to max(|lower|, |upper|) = 11. Besides, two class counts, two "
        "sums and two variances change where `epsilon / 3` is spent on one of each.",
    ),
    entry(
        "GaussianNB classes",
        [(_labeled((0.0, 0), (0.0, 0)), _labeled((0.0, 0), (0.0, 1)))],
        where="GaussianNB",
        says="Privacy parameter epsilon for the model",
        budget=2_000,
        refuted=_CLASSES.format(where="models/naive_bayes.py: GaussianNB._partial_fit"),
    ),
]

_UNSUPERVISED = [
    entry(
        "KMeans centers",
        [([[0.0], [0.0]], [[0.0], [1.0]])],
        where="KMeans",
        says=_MODEL,
        budget=3_000,
        refuted="`models/k_means.py: KMeans._update_centers` skips a cluster that no record is nearest to (`if "
        "cluster not in labels: continue`): its center stays where chance put it first, well inside the bounds, and "
        "is never made noisy. A center near the bounds says that its cluster is not empty.",
    ),
    entry(
        "KMeans inertia",
        [([[0.0], [0.0]], [[0.0], [1.0]])],
        where="KMeans",
        says=f"{_MODEL} ... inertia_: Sum of squared distances of samples to their closest cluster center",
        budget=3_000,
        refuted="`models/k_means.py: KMeans.fit` computes `inertia_` (and `labels_`) from the records without noise: "
        "for records 0 and 1 it is at least 1/2 wherever the center is.",
    ),
    entry("PCA", [([[1.0, 0.0]] * 2, [[1.0, 0.0], [0.0, 1.0]])], says=_MODEL, budget=17_000, tolerance=1.5),
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
        [(_labeled((0.0, 0)), _labeled((0.0, 0), (0.0, 1)))],
        says=_MODEL,
        relation=ADDED,
        budget=17_000,
        tolerance=1.5,
    ),
    entry(
        "RandomForestClassifier",
        [(_labeled((0.0, 0), (0.0, 0), (0.0, 1)), _labeled((0.0, 0), (0.0, 0), (0.0, 1), (0.0, 0)))],
        says="epsilon-Differential privacy is achieved by constructing decision trees via random splitting criterion",
        relation=ADDED,
        budget=1_200,
        refuted="`models/forest.py: RandomForestClassifier.fit` gives record i to tree i // (n / trees): one record "
        "more moves others to another tree, where the labels of all trees that change cost epsilon each. With one "
        "record replaced instead, `_FittingTree.fit` uses PermuteAndFlip with `monotonic=True`, which holds for added "
        "records only: two counts change, in opposite directions.",
    ),
]

ENTRIES = [*_LINES, *_BAYES, *_UNSUPERVISED, *_TREES]
