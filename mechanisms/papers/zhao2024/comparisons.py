"""Section 5 and Appendix A of Zhao et al. (2024): learners on the circle of Gaussians and on digits, in paired trials.

"A beats B by m" claims that A's accuracy exceeds B's by more than m in at least three of four trials (one of two where
the learners are close). Classes are uniform; the text does not say. Scikit-learn's 1,797 digits and a small network
stand for Table 1 (docs/label-privacy.md, `python -m benchmarks.label_privacy`).
"""

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck
from mechanisms.papers.rows import ZHAO
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, ResponseEncoder, TwoStageEncoder
from mechanisms.papers.zhao2024.neighbors import LabelLearner, NeighborSum, TargetModel
from mechanisms.papers.zhao2024.network import TargetNetwork
from mechanisms.papers.zhao2024.vector import FloatArray, LabelEncoder, VectorEncoder

SHARE = 0.25  # of the trials in which an ordering may fail
N_TEST = 360  # digits
Data = tuple[FloatArray, NDArray[np.int64]]


@dataclass(frozen=True)
class Circle:
    """Uniform classes; X given class j is Gaussian, of deviation sigma, around the j-th of K points on the circle."""

    n_classes: int
    sigma: float

    @property
    def centers(self) -> FloatArray:
        """The K means, shape (K, 2)."""
        angle = 2 * math.pi * np.arange(self.n_classes) / self.n_classes
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def sample(self, n: int, rng: np.random.Generator) -> Data:
        """Draw n points, shape (n, 2), and their labels."""
        labels = rng.integers(self.n_classes, size=n)
        return self.centers[labels] + self.sigma * rng.normal(size=(n, 2)), labels


def learn(encoder: LabelEncoder, model: TargetModel, X: FloatArray, y: Any, rng: np.random.Generator) -> LabelLearner:
    """Fit the learner of the estimators, on a source of randomness of its own."""
    return LabelLearner(encoder, model, int(rng.integers(2**63))).fit(X, y, rng)


def near(name: str, K: int, epsilon: float, k: int) -> tuple[LabelEncoder, NeighborSum]:
    """Return the release and the model of a method by its name, with k neighbors."""
    if name == "LP-2ST":
        return TwoStageEncoder(K, epsilon, model=partial(NeighborSum, k)), NeighborSum(k)
    kind, rounds = METHODS[name]
    return kind(K, epsilon), NeighborSum(k, rounds)


METHODS: dict[str, tuple[type[LabelEncoder], int]] = {
    "RR": (ResponseEncoder, 0),
    "ALIBI uniform": (LaplaceEncoder, 0),
    "ALIBI, 5 rounds": (LaplaceEncoder, 5),
    "vector": (VectorEncoder, 0),
    "vector, 5 rounds": (VectorEncoder, 5),
}


@dataclass(frozen=True)
class Setting:
    """A distribution, and the facts given to the learners."""

    n_classes: int
    sigma: float
    epsilon: float
    n_neighbors: int
    n_samples: int = 10_000
    n_queries: int = 300

    def accuracies(self, names: tuple[str, ...], rng: np.random.Generator) -> list[float]:
        """Draw data, and the accuracy of every method on it."""
        circle = Circle(self.n_classes, self.sigma)
        (X, y), (queries, truth) = circle.sample(self.n_samples, rng), circle.sample(self.n_queries, rng)
        builds = (near(name, self.n_classes, self.epsilon, self.n_neighbors) for name in names)
        return [float(np.mean(learn(*build, X, y, rng).predict(queries) == truth)) for build in builds]

    def __str__(self) -> str:
        return f"K={self.n_classes} sigma={self.sigma:.2g} eps={self.epsilon:g} k={self.n_neighbors}"


def draw_wins(names: tuple[str, ...], setting: Setting, margin: float, size: int, rng: Any) -> np.ndarray:
    """Draw whether the first method is ahead of all others by more than the margin, shape (size,)."""
    found = (setting.accuracies(names, child) for child in rng.spawn(size))
    return np.array([first - max(others) > margin for first, *others in found])


def draw_ties(names: tuple[str, ...], setting: Setting, margin: float, size: int, rng: Any) -> np.ndarray:
    """Draw whether all methods differ by at most the margin, shape (size,)."""
    return np.array([np.ptp(setting.accuracies(names, child)) <= margin for child in rng.spawn(size)])


def draw_stable(few: int, many: int, size: int, rng: Any) -> np.ndarray:
    """Draw whether, at sigma = 2 / K, many classes are learned as well as few, up to 0.05, shape (size,)."""
    settings = [Setting(K, 2 / K, 1.0, 200, n_queries=500) for K in (few, many)]
    pairs = [[setting.accuracies(("vector",), child)[0] for setting in settings] for child in rng.spawn(size)]
    return np.array([abs(one - other) <= 0.05 for one, other in pairs])


@cache
def load_digits() -> Data:
    """Return scikit-learn's images of digits, shape (1797, 64), within [0, 1], and their labels."""
    from sklearn import datasets

    X, y = datasets.load_digits(return_X_y=True)
    return X / 16, y.astype(np.int64)


def split(y: NDArray[np.int64], size: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the positions of all others and of `size` at random, in proportion to the classes but for rounding."""
    order = rng.permutation(len(y))
    ranks = np.argsort(np.argsort(y[order], kind="stable"), kind="stable")  # spread every class over the whole range
    held = np.zeros(len(y), dtype=bool)
    held[np.floor(np.arange(size) * len(y) / size).astype(int)] = True
    return order[~held[ranks]], order[held[ranks]]


def draw_network_wins(
    encoders: tuple[LabelEncoder, LabelEncoder], margin: float, settings: dict[str, Any], size: int, rng: Any
) -> np.ndarray:
    """Draw whether the network of the first release is ahead on the digits by more than the margin, shape (size,)."""
    X, y = load_digits()
    found = []
    for child in rng.spawn(size):
        train, test = split(y, N_TEST, child)
        models = [(encoder, TargetNetwork(encoder.head, **settings)) for encoder in encoders]
        one, other = (np.mean(learn(*each, X[train], y[train], child).predict(X[test]) == y[test]) for each in models)
        found.append(bool(one - other > margin))
    return np.array(found)


def compare(name: str, trials: Any, share: float = SHARE, where: str = "", statement: str = "") -> GuaranteeCheck:
    """Return a check that an ordering fails in at most a share of the trials."""
    said = f"{statement or ZHAO.sentence_of(name)[1]}, in {1 - share:.0%} of the trials at least."
    return ZHAO.guarantee(name, where, said, trials, share, slack=0.1, budget=256)


def _beats(
    first: str, second: str, setting: Setting, margin: float = 0.0, is_false: bool = False, share: float = SHARE
) -> GuaranteeCheck:
    where = "section 5.1 and Appendix A" + (", read at settings that it does not use" if is_false else "")
    said = f"The accuracy of {first} exceeds that of {second} by more than {margin:g}{'; false' if is_false else ''}"
    trials = partial(draw_wins, (first, *second.split(" and ")), setting, margin)
    return compare(f"{first} beats {second}, {setting}", trials, share, where, said)


_EIGHTY = Setting(80, 0.05, 1.0, 200)
_FEW = Setting(10, 0.3, 1.0, 20, n_queries=1_500)
_THREE = Setting(3, 0.3, 1.0, 20)
_DIGITS = VectorEncoder(10, 0.7), ResponseEncoder(10, 0.7)
_ALL = ("vector", "RR", "LP-2ST", "ALIBI uniform")

CHECKS: list[Any] = [
    _beats("vector", "RR and LP-2ST", _EIGHTY, 0.1),
    _beats("vector", "ALIBI uniform", replace(_EIGHTY, n_queries=1_500), share=0.5),
    _beats("vector", "RR", Setting(70, 2 / 70, 2.0, 100), 0.05),
    _beats("vector", "RR", _FEW),
    _beats("vector", "LP-2ST", _FEW, is_false=True),
    _beats("vector", "ALIBI, 5 rounds", _FEW, is_false=True),
    _beats("vector", "ALIBI, 5 rounds", Setting(10, 0.2, 1.0, 50), is_false=True),
    _beats("vector, 5 rounds", "LP-2ST", _FEW, 0.05),
    _beats("vector, 5 rounds", "ALIBI, 5 rounds", replace(_FEW, n_queries=5_000), share=0.5),
    _beats("RR", "vector", _THREE, 0.02),
    compare("all nearly the same, K=5 sigma=0.05 k=200", partial(draw_ties, _ALL, Setting(5, 0.05, 1.0, 200), 0.005)),
    compare("vector and RR nearly the same, K=3 sigma=0.3 k=20", partial(draw_ties, ("vector", "RR"), _THREE, 0.02)),
    compare("vector stable in K up to 100", partial(draw_stable, 10, 100)),
    compare("vector stable in K while N / K > k", partial(draw_stable, 10, 40)),
    compare(
        "vector beats RR, digits eps=0.7",
        partial(draw_network_wins, _DIGITS, 0.0, {"epochs": 10, "decay": 0.01}),
        share=0.5,
    ),
]
