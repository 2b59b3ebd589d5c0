"""The paper's network for small images, on target vectors: two convolutions with pooling, dropout, one dense layer.

Zhao et al. (2024, section 5.2) name a simple convolutional network of two convolution and pooling layers with dropout
1/2; sizes and training are not said. Here: 3 x 3 kernels, 8 and 16 channels, rectified linear units, Adam. It runs on
jax, of the extra `jax`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.nn import log_sigmoid, log_softmax, relu, softmax

SIDE, KERNEL, CHANNELS, DROPOUT, RATE = 28, 3, (8, 16), 0.5, 1e-3
Parameters = dict[str, Any]


def features(parameters: Parameters, X: Any) -> Any:
    """Return what the two convolutions make of images, shape (m, features)."""
    maps = X.reshape(-1, SIDE, SIDE, 1)
    for layer in ("first", "second"):
        weights, offset = parameters[layer]
        maps = jax.lax.conv_general_dilated(maps, weights, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        m, height, width, channels = maps.shape
        pooled = (maps + offset).reshape(m, height // 2, 2, width // 2, 2, channels)
        maps = relu(pooled.max(axis=(2, 4)))
    return maps.reshape(len(maps), -1)


def logits(parameters: Parameters, X: Any) -> Any:
    """Return the last layer's outputs, shape (m, K), without dropout."""
    weights, offset = parameters["last"]
    return features(parameters, X) @ weights + offset


def loss(parameters: Parameters, X: Any, targets: Any, key: Any, head: str, iterated: bool) -> Any:
    """Return the mean cross entropy; `iterated` takes targets for evidence and the network's output for the prior."""
    inner = features(parameters, X)
    kept = jax.random.bernoulli(key, 1 - DROPOUT, inner.shape)
    weights, offset = parameters["last"]
    output = jnp.where(kept, inner / (1 - DROPOUT), 0.0) @ weights + offset
    if iterated:
        targets = softmax(jax.lax.stop_gradient(log_softmax(output)) + targets)
    if head == "sigmoid":
        return -jnp.mean((targets * log_sigmoid(output) + (1 - targets) * log_sigmoid(-output)).sum(axis=1))
    return -jnp.mean((targets * log_softmax(output)).sum(axis=1))


OPTIMIZER = optax.adam(RATE)


@partial(jax.jit, static_argnames=("head", "iterated"))
def epoch(state: Any, X: Any, targets: Any, batches: Any, key: Any, head: str, iterated: bool) -> Any:
    """Train on all minibatches, rows of `batches`."""

    def step(carried: Any, rows: Any) -> Any:
        parameters, moments, key = carried
        key, own = jax.random.split(key)
        slopes = jax.grad(loss)(parameters, X[rows], targets[rows], own, head, iterated)
        changes, moments = OPTIMIZER.update(slopes, moments)
        return (optax.apply_updates(parameters, changes), moments, key), None

    return jax.lax.scan(step, (*state, key), batches)[0][:2]


class ConvolutionalNetwork:
    """A model of target vectors, as `TargetNetwork` is.

    Parameters
    ----------
    head : {"sigmoid", "softmax"}
    epochs, batch : int >= 1
    iterated : bool
        Whether targets are log-likelihoods of the classes, to which the network's output is the prior (ALIBI).
    start : dict, optional
        Parameters whose convolutions are where training begins: those of a network that was trained on public images.
    """

    def __init__(
        self, head: str, epochs: int, batch: int = 64, iterated: bool = False, start: Parameters | None = None
    ) -> None:
        self.head, self.epochs, self.batch, self.iterated, self.start = head, epochs, batch, iterated, start

    def fit(self, X: np.ndarray, targets: np.ndarray, rng: np.random.Generator, refine: Any = None) -> Any:
        """Train for all epochs; the last minibatch of an epoch that is not full is left out."""
        key = jax.random.key(int(rng.integers(2**31)))
        parameters = initial(targets.shape[1], rng)
        if self.start is not None:
            parameters |= {layer: self.start[layer] for layer in ("first", "second")}
        state = parameters, OPTIMIZER.init(parameters)
        images, wanted = jnp.asarray(X, jnp.float32), jnp.asarray(targets, jnp.float32)
        steps = len(X) // self.batch
        for own in jax.random.split(key, self.epochs):
            batches = rng.permutation(len(X))[: steps * self.batch].reshape(steps, self.batch)
            state = epoch(state, images, wanted, jnp.asarray(batches), own, self.head, self.iterated)
        self.parameters: Parameters = state[0]
        return self

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities, shape (m, K)."""
        output = logits(self.parameters, jnp.asarray(X, jnp.float32))
        return np.asarray(jax.nn.sigmoid(output) if self.head == "sigmoid" else softmax(output), dtype=float)


def initial(n_classes: int, rng: np.random.Generator) -> Parameters:
    """Draw the weights, as He et al. 2015."""
    shapes = {
        "first": (KERNEL, KERNEL, 1, CHANNELS[0]),
        "second": (KERNEL, KERNEL, *CHANNELS),
        "last": ((SIDE // 4) ** 2 * CHANNELS[1], n_classes),
    }
    return {
        name: (
            jnp.asarray(rng.normal(scale=np.sqrt(2 / np.prod(shape[:-1])), size=shape), jnp.float32),
            jnp.zeros(shape[-1], jnp.float32),
        )
        for name, shape in shapes.items()
    }
