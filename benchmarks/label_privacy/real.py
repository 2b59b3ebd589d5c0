"""Accuracy of networks on the digits: 20 splits, in each of which the settings are chosen without its test part.

For every method, epsilon and split, epochs and weight decay are those with the best accuracy on a validation part of
the training images; then the network is fitted to all of them. Validation labels are read in the clear: epsilon does
not pay for the choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import joblib
import numpy as np

from mechanisms.labels.digits import N_CLASSES, N_TEST, digits, split
from mechanisms.labels.encoder import Head, LabelEncoder, one_hot
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.network import TargetNetwork
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.two_stage import TwoStageLabelTrainer
from mechanisms.labels.unary import OptimizedUnaryLabelEncoder, SymmetricUnaryLabelEncoder

EPSILONS = (0.3, 0.5, 1.0, 2.0)
EPOCHS, DECAYS = (8, 20, 50), (1e-4, 1e-3, 1e-2)
SEEDS = 20
Setting = tuple[int, float]
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Curve = Callable[[float, Data, int, float, np.random.Generator], dict[int, float]]
"""(epsilon, data, epochs, decay, source) -> accuracy on the held-out part after 8, 20, ... epochs up to `epochs`."""


def accuracies(
    network: TargetNetwork, data: Data, targets: np.ndarray, rng: np.random.Generator, refine: Any = None
) -> dict[int, float]:
    """Train, and give the held-out accuracy after each of `EPOCHS`."""
    X, _, queries, truth = data
    return {
        done: float(np.mean(network.scores(queries).argmax(axis=1) == truth))
        for done in network.training(X, targets, rng, refine)
        if done in EPOCHS
    }


def encoded(
    kind: Callable[[int, float], LabelEncoder],
    head: Head,
    iterated: bool,
    epsilon: float,
    data: Data,
    epochs: int,
    decay: float,
    rng: np.random.Generator,
) -> dict[int, float]:
    """Learn from one release of every label."""
    encoder = kind(N_CLASSES, epsilon)
    released = encoder.release(data[1], rng)

    def refine(rows: Any, prior: np.ndarray) -> np.ndarray:
        return encoder.posterior(released[rows], prior)

    network = TargetNetwork(head, epochs=epochs, decay=decay)
    return accuracies(network, data, encoder.targets(released), rng, refine if iterated else None)


def two_stage(epsilon: float, data: Data, epochs: int, decay: float, rng: np.random.Generator) -> dict[int, float]:
    """Learn in two stages; the first model is trained for all epochs, the second is read after each of `EPOCHS`."""
    X, y, queries, truth = data
    trainer = TwoStageLabelTrainer(N_CLASSES, epsilon, partial(TargetNetwork, "softmax", epochs=20, decay=decay))
    order = rng.permutation(len(X))
    released = trainer.release(X[order], y[order], rng)
    network = TargetNetwork("softmax", epochs=epochs, decay=decay)
    return accuracies(network, (X[order], y, queries, truth), one_hot(released, N_CLASSES), rng)


METHODS: dict[str, Curve] = {
    "vector": partial(encoded, SymmetricUnaryLabelEncoder, "sigmoid", False),
    "optimized unary": partial(encoded, OptimizedUnaryLabelEncoder, "sigmoid", False),
    "RR": partial(encoded, KaryRandomizedResponse, "softmax", False),
    "RR, sigmoid": partial(encoded, KaryRandomizedResponse, "sigmoid", False),
    "LP-2ST": two_stage,
    "ALIBI uniform": partial(encoded, LaplaceOneHotEncoder, "softmax", False),
    "ALIBI iterated": partial(encoded, LaplaceOneHotEncoder, "softmax", True),
}


def parts(seed: int) -> tuple[Data, Data]:
    """Return (fitted, validation) and (training, test) data of one split, the former within the training data."""
    X, y = digits()
    rng = np.random.default_rng((2, seed))
    train, test = split(y, N_TEST, rng)
    fitted, valid = (train[part] for part in split(y[train], N_TEST, rng))
    return (X[fitted], y[fitted], X[valid], y[valid]), (X[train], y[train], X[test], y[test])


def tuned(method: Curve, epsilon: float, seed: int) -> tuple[Setting, float]:
    """Return the setting that did best on the validation part of a split, and its accuracy on the test part."""
    within, whole = parts(seed)

    def source(stage: int) -> np.random.Generator:
        return np.random.default_rng((stage, seed, round(100 * epsilon)))

    found = {
        (epochs, decay): accuracy
        for decay in DECAYS
        for epochs, accuracy in method(epsilon, within, max(EPOCHS), decay, source(1)).items()
    }
    epochs, decay = max(found, key=found.__getitem__)
    return (epochs, decay), method(epsilon, whole, epochs, decay, source(2))[epochs]


def run(epsilon: float, workers: int = 2) -> dict[str, tuple[Counter[Setting], np.ndarray]]:
    """Return how often each setting was chosen, and the test accuracies of every method, shape (seeds,), by split."""
    jobs = joblib.Parallel(n_jobs=workers)(
        joblib.delayed(tuned)(method, epsilon, seed) for method in METHODS.values() for seed in range(SEEDS)
    )
    found = {}
    for name in METHODS:
        chosen, jobs = jobs[:SEEDS], jobs[SEEDS:]
        found[name] = Counter(setting for setting, _ in chosen), np.array([accuracy for _, accuracy in chosen])
    return found
