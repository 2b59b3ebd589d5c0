"""DP-SGD in NumPy on the digits of scikit-learn: a logistic regression and a network with one hidden layer.

`Loop` does what its accountant is told. Every fault overrides one of its methods. Canaries are records with a gradient
of their own: long, in one coordinate from the first layer and one from the end.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import audit
from audit.extensions import training

STEPS, RATE, CLIP, NOISE = 100, 0.05, 1.0, 1.0
CANARIES = 300  # of one run; their gradients are in the last coordinates
MICROBATCHES, WORKERS = 4, 2
STEP_LENGTH = 0.5
_LONG = 1e3  # norm of a canary's gradient before it is clipped, in units of the clipping norm


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the 1,797 images of 64 pixels in [0, 1], and their labels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


class Logistic:
    """Logistic regression with ten classes: 64 x 10 weights and 10 intercepts."""

    layers = (640, 10)

    def start(self) -> np.ndarray:
        return np.zeros(650)

    def gradients(self, parameters: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return one row per record."""
        errors = _softmax(X @ parameters[:640].reshape(64, 10) + parameters[640:])
        errors[np.arange(len(y)), y] -= 1.0
        return np.hstack([(X[:, :, None] * errors[:, None, :]).reshape(len(y), 640), errors])


class Network:
    """A network with 16 hidden tanh units: 64 x 16 and 16 x 10 weights with intercepts."""

    layers = (1024, 16, 160, 10)

    def start(self) -> np.ndarray:
        return np.random.default_rng(1).normal(scale=0.1, size=1210)

    def gradients(self, parameters: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return one row per record."""
        first, shift, second, last = np.split(parameters, np.cumsum(self.layers)[:-1])
        hidden = np.tanh(X @ first.reshape(64, 16) + shift)
        errors = _softmax(hidden @ second.reshape(16, 10) + last)
        errors[np.arange(len(y)), y] -= 1.0
        back = (errors @ second.reshape(16, 10).T) * (1 - hidden**2)
        lower = (X[:, :, None] * back[:, None, :]).reshape(len(y), 1024)
        upper = (hidden[:, :, None] * errors[:, None, :]).reshape(len(y), 160)
        return np.hstack([lower, back, upper, errors])


class Still:
    """No model: the gradients of all records are `others` times the direction of the canary 0, for the worst pairs."""

    layers = (16, 16)

    def __init__(self, others: float) -> None:
        self.others = others

    def start(self) -> np.ndarray:
        return np.zeros(32)

    def gradients(self, parameters: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return one row per record."""
        rows = np.zeros((len(y), 32))
        rows[:, [0, 31]] = self.others * CLIP / np.sqrt(2)
        return rows


MODELS = {"logistic": Logistic(), "network": Network(), "still": Still(0.0), "opposed": Still(-1.0)}


def _softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


class Loop:
    """DP-SGD as its accountant is told; `canaries` says which of the canaries are in the data."""

    steps = STEPS

    def __init__(self, model: str = "logistic", canaries: np.ndarray | None = None, rng=None) -> None:
        self.model, self.rng = MODELS[model], rng if rng is not None else np.random.default_rng(0)
        self.X, self.y = digits()
        self.dimension = sum(self.model.layers)
        self.canaries = np.zeros(0, dtype=int) if canaries is None else np.asarray(canaries, dtype=int)
        self.records = len(self.y) + len(self.canaries)
        self.public = 1_950  # what is publicly known of their number
        self.divisor = RATE * self.public

    @property
    def claim(self) -> audit.TrainingClaim:
        """Return what the accountant is told."""
        return audit.TrainingClaim(
            noise_multiplier=NOISE, steps=STEPS, clip=CLIP, rate=RATE, divisor=self.divisor, source="the loop"
        )

    def raw(self, parameters: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """Return the gradients of the records of a batch; those of canaries are long."""
        real, planted = batch[batch < len(self.y)], batch[batch >= len(self.y)]
        rows = np.zeros((len(batch), self.dimension))
        rows[batch < len(self.y)] = self.gradients(parameters, real)
        canaries = self.canaries[planted - len(self.y)]
        for places in (canaries, self.dimension - 1 - canaries):
            rows[np.flatnonzero(batch >= len(self.y)), places] = _LONG * CLIP
        return rows

    # what faults override, in the order of a step
    def sample(self, step: int) -> np.ndarray:
        return np.flatnonzero(self.rng.random(self.records) < RATE)

    def gradients(self, parameters: np.ndarray, batch: np.ndarray) -> np.ndarray:
        return self.model.gradients(parameters, self.X[batch], self.y[batch])

    def clip(self, rows: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows * np.minimum(1.0, CLIP / np.maximum(norms, 1e-12))

    def total(self, rows: np.ndarray) -> np.ndarray:
        return rows.sum(axis=0)

    def noise(self, step: int, batch: np.ndarray) -> np.ndarray:
        return NOISE * CLIP * self.rng.normal(size=self.dimension)

    def release(self, noisy_sum: np.ndarray, batch: np.ndarray) -> np.ndarray:
        return noisy_sum / self.divisor

    def run(
        self, recorder: training.Recorder | None = None, scores: training.AlignmentScores | None = None
    ) -> np.ndarray:
        """Train; hand each step to a recorder and to scores; return what was released, one row per step."""
        parameters, released = self.model.start(), []
        for step in range(self.steps):
            batch = self.sample(step)
            rows = self.clip(self.raw(parameters, batch))
            noisy_sum = self.total(rows) + self.noise(step, batch)
            shown = self.release(noisy_sum, batch)
            if recorder is not None:
                recorder.step(batch, clipped=rows, noisy_sum=noisy_sum, released=shown, parameters=parameters)
            if scores is not None:
                scores.add(shown)
            released.append(shown)
            parameters = parameters - STEP_LENGTH * shown
        return np.array(released)

    def recorder(self, seed: int = 0) -> training.Recorder:
        """Return a recorder for this loop: a gradient alone is that of a batch of one record."""
        correct = Loop.gradients

        def gradient(parameters: np.ndarray, record: int) -> np.ndarray:
            if record >= len(self.y):
                return self.raw(parameters, np.array([record]))[0]
            return correct(self, parameters, np.array([record]))[0]

        return training.Recorder(
            self.claim, self.records, gradient=gradient, seed=seed,
            update=lambda parameters, released: parameters - STEP_LENGTH * released,
        )  # fmt: skip
