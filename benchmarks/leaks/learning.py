"""Leaks of training: models and reports whose parameters are private, beside what was counted, chosen or kept.

The last record belongs to a class of its own, so that a label that nobody else has appears and goes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, NearestNeighbors
from sklearn.preprocessing import KBinsDiscretizer, LabelEncoder, MinMaxScaler, OneHotEncoder, QuantileTransformer
from sklearn.tree import DecisionTreeClassifier

from benchmarks.leaks.data import Data, Leak, private


def table(data: Data) -> tuple[Any, Any]:
    """Return features, shape (n, 1), and a label for each record: whether it is above 1.5, and above 6."""
    return np.reshape(data, (-1, 1)), [int(x > 1.5) + int(x > 6) for x in data]


def with_noise(made: Any, rng: np.random.Generator, *names: str) -> Any:
    """Replace fitted attributes by noise, whatever was learned."""
    for name in names:
        value = np.asarray(getattr(made, name), dtype=float)
        setattr(made, name, rng.laplace(scale=9, size=value.shape))
    return made


def gradient_steps(data: Data, rng: np.random.Generator) -> list[float]:
    """Return the iterates of gradient descent with the noise of one step in the last one only."""
    weight, seen = 0.0, []
    for _ in range(4):
        weight += 0.1 * float(np.clip(data, 0, 1).sum() - weight)
        seen.append(weight)
    return [*seen[:-1], seen[-1] + float(rng.laplace(scale=5))]


def stopped_early(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    """Return a private mean, and after how many steps the exact loss was small."""
    steps = int(np.ceil(10 * np.log(sum(data))))
    return {"mean": private(data, rng), "steps": steps}


def best_of_grid(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    """Choose a parameter by its exact score, and release a private number under it."""
    grid = [1.0, 4.0, 8.0]
    best = min(grid, key=lambda c: abs(np.mean(data) - c / 2))
    return {"C": best, "value": private(data, rng)}


def generated_text(data: Data, rng: np.random.Generator) -> str:
    """Walk the pairs of neighboring records, as a generator of text does that knows only pairs that it has seen."""
    words = [f"w{x:.0f}" for x in data]
    follow = dict(itertools.pairwise(words))
    return " ".join([start := str(rng.choice(words)), follow.get(start, words[0])])


def noisy_batches(data: Data, rng: np.random.Generator) -> list[int]:
    """Return the sizes of the batches, drawn by Poisson sampling without a limit."""
    return [int(rng.binomial(10 * len(data), 0.9)) for _ in range(4)]


def clipped_after(data: Data, rng: np.random.Generator) -> float:
    """Clip the mean of the gradients instead of each of them."""
    return float(np.clip(np.mean(np.square(data)), 0, 20) + rng.normal())


def adaptive_clip(data: Data, rng: np.random.Generator) -> dict[str, float]:
    """Release the bound of the norms, which is an exact quantile, beside a noisy sum."""
    bound = float(np.quantile(data, 0.9))
    return {"bound": bound, "sum": float(np.clip(data, 0, bound).sum() + rng.laplace(scale=2 * bound))}


def kept_votes(data: Data, rng: np.random.Generator) -> tuple[int, float]:
    """Return the winner of noisy votes, and how far it was ahead without noise."""
    votes = np.bincount([int(x) % 3 for x in data], minlength=3)
    return int(np.argmax(votes + rng.gumbel(scale=9, size=3))), float(np.ptp(votes))


LEAKS: Mapping[str, Leak] = {
    "classes of naive Bayes": lambda d, r: with_noise(
        GaussianNB().fit(*table(d)), r, "theta_", "var_", "class_prior_", "class_count_"
    ),
    "epsilon of naive Bayes": lambda d, r: (
        private(d, r),
        float(GaussianNB().fit(np.reshape(d, (-1, 1)), [0, 1] * 2 + [1] * (len(d) - 4)).epsilon_),
    ),
    "bounds of a scaler": lambda d, r: (private(d, r), MinMaxScaler().fit(table(d)[0]).data_max_),
    "quantiles of a transformer": lambda d, r: QuantileTransformer(n_quantiles=3).fit(table(d)[0]),
    "edges of a discretizer": lambda d, r: (
        KBinsDiscretizer(2, strategy="uniform", subsample=None).fit(table(d)[0]).bin_edges_[0]
    ),
    "categories of an encoder": lambda d, r: OneHotEncoder().fit(table(d)[0]),
    "labels of an encoder": lambda d, r: (private(d, r), LabelEncoder().fit(table(d)[1]).classes_),
    "vocabulary": lambda d, r: CountVectorizer(token_pattern=r"\S+").fit([f"w{x:.0f}" for x in d]).vocabulary_,
    "points of a neighbor search": lambda d, r: NearestNeighbors(n_neighbors=1).fit(table(d)[0]),
    "density on its grid": lambda d, r: np.exp(
        KernelDensity(bandwidth=0.5).fit(table(d)[0]).score_samples([[3.0], [9.0]])
    ),
    "thresholds of isotonic regression": lambda d, r: (
        IsotonicRegression().fit(d, np.arange(len(d)) + r.laplace(scale=9, size=len(d))).X_thresholds_
    ),
    "singular values": lambda d, r: with_noise(PCA(1).fit(table(d)[0]), r, "components_", "mean_"),
    "intercept of a regression": lambda d, r: with_noise(
        LinearRegression().fit(np.arange(len(d)).reshape(-1, 1), d), r, "coef_"
    ),
    "iterations of a solver": lambda d, r: with_noise(
        LogisticRegression(C=1e3).fit(*table(d)), r, "coef_", "intercept_"
    ),
    "steps of stochastic gradients": lambda d, r: (
        with_noise(SGDClassifier(max_iter=20, tol=None, random_state=0).fit(*table(d)), r, "coef_", "intercept_").t_
    ),
    "thresholds of a tree": lambda d, r: float(
        DecisionTreeClassifier(random_state=0).fit(*table(d)).tree_.threshold[0] + (len(d) > 4) + 0.1 * r.laplace()
    ),
    "depth of a tree": lambda d, r: (private(d, r), DecisionTreeClassifier(random_state=0).fit(*table(d)).get_depth()),
    "coefficients with noise over n": lambda d, r: float(np.polyfit(np.arange(len(d)), d, 1)[0] + r.laplace(scale=0.2)),
    "covariance with noise on one triangle": lambda d, r: _covariance(d, r),
    "iterates": gradient_steps,
    "early stopping": stopped_early,
    "best of a grid": best_of_grid,
    "text from pairs that were seen": generated_text,
    "sizes of batches": noisy_batches,
    "clipping after averaging": clipped_after,
    "exact bound of the norms": adaptive_clip,
    "exact margin of votes": kept_votes,
    "accuracy on the training set": lambda d, r: (private(d, r), float(np.mean(np.array(d) > 4))),
    "loss curve": lambda d, r: {"w": private(d, r), "loss": [float(np.mean(np.square(d)) / k) for k in (1, 2)]},
    "support vectors": lambda d, r: {"w": private(d, r), "support": [x for x in d if x > 4]},
    "medoid": lambda d, r: float(min(d, key=lambda x: sum(abs(x - y) + 0.01 * r.random() for y in d)) + max(d) / 2),
    "leaf counts": lambda d, r: {
        "split": 3.0,
        "leaves": [sum(x < 3 for x in d), sum(x >= 3 for x in d)],
        "mean": private(d, r),
    },
    "learning rate by the data": lambda d, r: {"w": private(d, r), "rate": 1 / np.linalg.norm(d)},
    "class weights": lambda d, r: {
        "w": private(d, r),
        "weights": {c: len(d) / sum(y == c for y in table(d)[1]) for c in (0, 1)},
    },
}


def _covariance(data: Data, rng: np.random.Generator) -> Any:
    """Return second moments of (1, x); the noise of one triangle is not copied to the other."""
    X = np.column_stack([np.ones(len(data)), data])
    return X.T @ X + np.tril(rng.laplace(scale=500, size=(2, 2)))
