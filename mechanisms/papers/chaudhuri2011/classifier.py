"""Algorithms A1, A2 and A3 for scikit-learn: one hypothesis of a cover, on any two labels and features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from audit import EstimatorCheck, Labeled, LabelFlip, Substitution
from audit.laws import Law
from mechanisms.estimators import PrivateClassifier, StatedRelease, noise_source
from mechanisms.papers.chaudhuri2011.a1 import A1, CoverAlgorithm
from mechanisms.papers.chaudhuri2011.a2 import A2
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.sample_sizes import agnostic_parts
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.rows import CHAUDHURI

WIDE = (-3.0, 3.0)
FAILURE = 0.1  # the probability that the rule of the accuracy allows for
_ACCURACIES = (0.1, 0.2)  # of covers: 2,474 half-planes of two features, in two seconds, and 575


def cover_accuracy(n: int, epsilon: float, hypotheses: LinearSeparatorClass | StumpClass) -> float:
    """Return the least accuracy in [0.1, 0.2] for which Theorem 8's privacy part asks for at most n examples, or 0.2.

    (8 / (epsilon a)) (d ln(16 / a) + ln(2 / 0.1)) <= n, d the doubling dimension. Covers that are coarser miss good
    half-planes where the data are more concentrated than the uniform distribution, which no public number tells.
    """
    finest, coarsest = _ACCURACIES

    def missing(accuracy: float) -> float:
        return agnostic_parts(epsilon, accuracy, FAILURE, 0.0, hypotheses.doubling_dim)[1] - n

    if missing(finest) <= 0:
        return finest
    return coarsest if missing(coarsest) >= 0 else float(brentq(missing, finest, coarsest))


@dataclass
class ChosenHypothesis:
    """The release of a fit: the algorithm with its public parameters, and the hypothesis that it released."""

    algorithm: CoverAlgorithm
    hypothesis_: Any

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each point, -1 or 1."""
        return np.asarray(self.algorithm.hypotheses.predict(np.asarray(self.hypothesis_)[None], X)[0])


@dataclass(eq=False, repr=False)
class CoverClassifier(PrivateClassifier):
    """A half-plane or a stump, chosen by the exponential mechanism; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    epsilon : float > 0
    accuracy : float in (0, 1), optional
        Scale of the cover: larger is coarser. `cover_accuracy` unless given, from the number of records.
    bounds, projection, classes, random_state
        As for `CubeVoteClassifier`; at most two projected features for half-planes.
    hypotheses : {"half-planes", "stumps"}
        Half-planes of two features, or one threshold on one feature of many: then pass `projection=None`.
    realizable : bool
        Whether some hypothesis labels without error: algorithm A2, in place of A1.

    References
    ----------
    Chaudhuri & Hsu 2011, algorithms A1 and A2, Theorems 7 and 9.
    """

    epsilon: float = 1.0
    accuracy: float | None = None
    bounds: Any = WIDE
    projection: Any = 2
    classes: Any = None
    random_state: Any = None
    hypotheses: str = "half-planes"
    realizable: bool = False

    def decision_function(self, X: Any) -> np.ndarray:
        """Return on which side of the boundary each row of X lies, and how far; at least 0 is the second class."""
        rows, chosen = self._rows(self._checked(X)), self.learner_.hypothesis_
        return np.asarray(StumpClass(rows.shape[1]).margin(chosen, rows)[0] if self._has_stumps else rows @ chosen)

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> ChosenHypothesis:
        rows = self._rows(X)
        algorithm = self._algorithm(rows)
        chosen = algorithm(Labeled(rows, 2 * y - 1), 1, noise_source(self.random_state))[0]
        return ChosenHypothesis(algorithm, chosen)

    def _algorithm(self, rows: np.ndarray) -> CoverAlgorithm:
        """Return the algorithm by the public facts: the numbers of records and features."""
        n, dim = rows.shape
        hypotheses = StumpClass(dim) if self._has_stumps else LinearSeparatorClass(dim)
        accuracy = cover_accuracy(n, self.epsilon, hypotheses) if self.accuracy is None else self.accuracy
        return (A2 if self.realizable else A1)(self.epsilon, accuracy, hypotheses, FAILURE, 1.0)

    def _predicted(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((self.learner_.predict(self._rows(X)) + 1) // 2)

    @property
    def _has_stumps(self) -> bool:
        if self.hypotheses not in ("half-planes", "stumps"):
            raise ValueError(f"`hypotheses` must be 'half-planes' or 'stumps', got {self.hypotheses!r}")
        return self.hypotheses == "stumps"

    def _rows(self, X: np.ndarray) -> np.ndarray:
        """Return the features that the algorithm takes: of half-planes, from -1 to 1 and with a constant."""
        if self._has_stumps:
            return X
        if X.shape[1] > 2:
            raise ValueError(f"`projection` must leave at most 2 features, got {X.shape[1]}")
        return np.column_stack([2 * X - 1, np.full(len(X), 0.5)])


class LabelPrivateCoverClassifier(CoverClassifier):
    """A threshold on one feature, from a cover made of the points; (epsilon, 0)-DP for labels, features are public.

    Parameters
    ----------
    epsilon : float > 0
    accuracy : float in (0, 1), optional
        The cover has scale accuracy / 4; 0.1 unless given.
    bounds, projection, classes, random_state
        As for `CubeVoteClassifier`; one projected feature.

    References
    ----------
    Chaudhuri & Hsu 2011, algorithm A3, Theorem 26.
    """

    relation = "label flip"

    def __init__(
        self,
        epsilon: float = 1.0,
        accuracy: float | None = None,
        bounds: Any = WIDE,
        projection: Any = 1,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.accuracy = epsilon, accuracy
        self.bounds, self.projection, self.classes, self.random_state = bounds, projection, classes, random_state

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far each row of X lies above the threshold; at least 0 is the second class."""
        return np.asarray(self._rows(self._checked(X)) - self.learner_.hypothesis_)

    def _algorithm(self, rows: np.ndarray) -> A3:
        return A3(self.epsilon, 0.1 if self.accuracy is None else self.accuracy)

    def _rows(self, X: np.ndarray) -> np.ndarray:
        """Return the feature, below 1: no threshold labels 1 negative."""
        if X.shape[1] != 1:
            raise ValueError(f"`projection` must leave 1 feature, got {X.shape[1]}")
        return np.minimum(X[:, 0], np.nextafter(1, 0))


class CoverRelease(StatedRelease):
    """A hypothesis of the cover."""

    def reveal(self, fitted: CoverClassifier) -> tuple[Any, Any]:
        """Return the hypothesis."""
        return fitted.learner_.hypothesis_, None

    def law(self, dataset: Labeled) -> Law:
        """Return the law of the algorithm."""
        mapped = self._mapped(dataset)
        rows = self.estimator._rows(mapped.X)
        return self.estimator._algorithm(rows).law(Labeled(rows, 2 * np.asarray(mapped.y) - 1))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> ChosenHypothesis:
        points = np.zeros((n, self._dim)) if rows is None else rows
        return ChosenHypothesis(fresh._algorithm(fresh._rows(points)), revealed[0])


_EIGHT = Labeled(np.random.default_rng(2011).uniform(-3, 3, size=(8, 4)).round(2), np.array([0, 1, 1, 0, 1, 0, 0, 1]))
_FIVE = Labeled(np.array([[1.0], [2.0], [3.5], [4.0], [6.0]]), np.array(["no", "yes", "yes", "no", "yes"]))


def _audit(name: str, learner: CoverClassifier, records: Labeled, theorem: str, stated: Any = None) -> EstimatorCheck:
    relation = LabelFlip() if isinstance(learner, LabelPrivateCoverClassifier) else Substitution()
    budget = 3_600 if name == "defaults" else 2_000  # a cover of 575 half-planes, and small ones
    name, release = f"{type(learner).__name__} {name}", CoverRelease(stated or learner, records.X.shape[1])
    settings = {"relation": relation, "public": ("classes",), "budget": budget}
    return CHAUDHURI.check_fits(name, f"Theorem {theorem}", learner, records, learner.epsilon, release, **settings)


_STATED = CoverClassifier(1.0, 0.2, (-3.0, 3.0), 2, [0, 1], None, "half-planes", False)
CHECKS: list[Any] = [
    _audit("defaults", CoverClassifier(classes=[0, 1]), _EIGHT, "7", _STATED),
    _audit("on stumps", CoverClassifier(3.0, 0.7, (1.0, 6.0), None, ["no", "yes"], hypotheses="stumps"), _FIVE, "7"),
    _audit("realizable", CoverClassifier(2.0, 0.8, (1.0, 6.0), None, ["no", "yes"], realizable=True), _FIVE, "9"),
    _audit("of a sample", LabelPrivateCoverClassifier(2.0, 0.3, (1.0, 6.0), None, ["no", "yes"]), _FIVE, "26"),
]
