"""The faults of DP-SGD that released code has had, one method each, with the truth about them; and decoys.

Truths are at delta = 1e-5 and of the worst pair, by the accountant for the mechanism that is run, or by an argument
that the note states. `math.inf` means that some pair of datasets is told apart for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.extensions.training.runs.epsilon import epsilon_of
from benchmarks.training.loop import CLIP, MICROBATCHES, NOISE, RATE, STEPS, WORKERS, Loop

DELTA = 1e-5


def _epsilon(noise: float = NOISE, rate: float = RATE, steps: int = STEPS) -> float:
    return epsilon_of("poisson", rate, noise, steps, DELTA)


def _correlated() -> float:
    """Return a lower bound of epsilon where the noise is 0.8 f(t) - 0.6 f(t - 1): that of the sum over all steps."""
    scale = NOISE * math.sqrt(0.4**2 + (STEPS - 2) * 0.2**2 + 0.8**2)  # of the first noise, those between, the last
    counts, thresholds = np.arange(STEPS + 1), np.linspace(0.0, 20.0, 401) * scale
    at_most = special.bdtr(counts, STEPS, RATE)
    chances = np.diff(at_most, prepend=0.0)
    with_it = (chances * special.ndtr((counts - thresholds[:, None]) / scale)).sum(axis=1)
    bounds = np.log(np.maximum(with_it - DELTA, 1e-300)) - special.log_ndtr(-thresholds / scale)
    return float(bounds[with_it > DELTA].max())


def _and_gaussian(mu: float) -> float:
    """Return the epsilon of the claimed mechanism together with a Gaussian one of that mu."""
    from dp_accounting import dp_event as events
    from dp_accounting.pld import PLDAccountant

    sampled = events.PoissonSampledDpEvent(RATE, events.GaussianDpEvent(NOISE))
    both = [events.SelfComposedDpEvent(sampled, STEPS), events.GaussianDpEvent(1 / mu)]
    return float(
        PLDAccountant(value_discretization_interval=1e-3).compose(events.ComposedDpEvent(both)).get_epsilon(DELTA)
    )


@dataclass(frozen=True)
class Fault:
    """A loop with one fault, and the truth about it."""

    name: str
    loop: type[Loop]
    sign: str  # of the truth: "=", ">=", "<=", or "~" for an estimate
    epsilon: float
    note: str = ""
    pair: str = "still"  # the model with the worst pair: other gradients are zero, or opposed to the canary's


class ShuffledEpochs(Loop):
    def sample(self, step):
        size = round(RATE * self.records)
        place = step % (self.records // size)
        if place == 0:
            self.order = self.rng.permutation(self.records)
        return self.order[place * size : (place + 1) * size]


class FixedSize(Loop):
    def sample(self, step):
        return self.rng.choice(self.records, round(RATE * self.records), replace=False)


class SameBatchesEachEpoch(Loop):
    def sample(self, step):
        period = round(1 / RATE)
        return np.flatnonzero(np.random.default_rng([5, step % period]).random(self.records) < RATE)


class WrongRate(Loop):
    def sample(self, step):
        return np.flatnonzero(self.rng.random(self.records) < 2 * RATE)


class BatchNormalization(Loop):
    def gradients(self, parameters, batch):
        X = self.X[batch]
        X = (X - X.mean(axis=0)) / (X.std(axis=0) + 0.1) if len(batch) else X
        return self.model.gradients(parameters, X, self.y[batch])


class ClipAfterAveraging(Loop):
    def clip(self, rows):
        return rows

    def total(self, rows):
        mean = rows.mean(axis=0) if len(rows) else np.zeros(self.dimension)
        return mean * min(1.0, CLIP / max(float(np.linalg.norm(mean)), 1e-12))

    def noise(self, step, batch):
        return super().noise(step, batch) / self.divisor

    def release(self, noisy_sum, batch):
        return noisy_sum


class PerLayerClip(Loop):
    def clip(self, rows):
        ends = np.cumsum(self.model.layers)[:-1]
        return np.hstack([super(PerLayerClip, self).clip(part) for part in np.split(rows, ends, axis=1)])


class NoClip(Loop):
    def clip(self, rows):
        return rows


class UnscaledUnderAccumulation(Loop):
    def noise(self, step, batch):
        return super().noise(step, batch) / MICROBATCHES


class NoisePerMicrobatch(Loop):
    def noise(self, step, batch):
        return sum(super(NoisePerMicrobatch, self).noise(step, batch) for _ in range(MICROBATCHES))


class SumsNoiseOnTheMean(Loop):
    def noise(self, step, batch):
        return super().noise(step, batch) * self.divisor


class MeansNoiseOnTheSum(Loop):
    def noise(self, step, batch):
        return super().noise(step, batch) / self.divisor


class OneSeedOnAllWorkers(Loop):
    def noise(self, step, batch):
        shard = -(-self.dimension // WORKERS)  # each worker draws the noise of its shard of the parameters
        return NOISE * CLIP * np.tile(self.rng.normal(size=shard), WORKERS)[: self.dimension]


class GeneratorReused(Loop):
    def noise(self, step, batch):
        return NOISE * CLIP * np.random.default_rng(17).normal(size=self.dimension)


class CorrelatedSteps(Loop):
    def noise(self, step, batch):
        fresh, self.last = self.rng.normal(size=self.dimension), getattr(self, "fresh", 0.0)
        self.fresh = fresh
        return NOISE * CLIP * (fresh if step == 0 else 0.8 * fresh - 0.6 * self.last)


class LayerWithoutNoise(Loop):
    def noise(self, step, batch):
        values = super().noise(step, batch)
        values[-self.model.layers[-1] :] = 0.0
        return values


class UniformNoise(Loop):
    def noise(self, step, batch):
        return NOISE * CLIP * self.rng.uniform(-math.sqrt(3), math.sqrt(3), size=self.dimension)


class NoiseByBatchSize(Loop):
    def noise(self, step, batch):
        return super().noise(step, batch) * math.sqrt(len(batch) / (RATE * self.records))


class DividedByDrawnSize(Loop):
    def release(self, noisy_sum, batch):
        return noisy_sum / max(1, len(batch))


class RecordsInTheStepLength(Loop):
    def release(self, noisy_sum, batch):
        return noisy_sum / (RATE * self.records)


class OneStepMore(Loop):
    steps = STEPS + 1


B = round(RATE * 1797)
_UNSAMPLED = math.sqrt(STEPS * (2 * 650 / 1797**2 + (RATE / NOISE) ** 2))  # Gaussian mu: of a scale, and of a shift
FAULTS = (
    Fault("shuffled epochs as Poisson", ShuffledEpochs, ">=", epsilon_of("shuffled", 1 / 20, NOISE, 20, DELTA),
          "one epoch of 20 batches, a record becomes zero", "opposed"),
    Fault("fixed size as Poisson", FixedSize, ">=", _epsilon(NOISE / 2), "substitution moves the sum by 2 C",
          "opposed"),
    Fault("the same batches in each epoch", SameBatchesEachEpoch, ">=", _epsilon(NOISE / math.sqrt(5), RATE, 20),
          "five epochs amount to one with 1/sqrt(5) of the noise"),
    Fault("wrong sampling rate", WrongRate, "=", _epsilon(rate=2 * RATE), "twice the rate"),
    Fault("batch normalization", BatchNormalization, "<=", _epsilon(NOISE / (2 * B)),
          "one record may move all gradients of its batch"),
    Fault("clip after averaging", ClipAfterAveraging, ">=", _epsilon(NOISE / B), "one gradient among zeros moves all"),
    Fault("per-layer clip at the global bound", PerLayerClip, "=", _epsilon(NOISE / math.sqrt(2)), "two layers"),
    Fault("no clip", NoClip, "=", math.inf),
    Fault("noise unscaled under accumulation", UnscaledUnderAccumulation, "=", _epsilon(NOISE / MICROBATCHES)),
    Fault("noise per microbatch", NoisePerMicrobatch, "=", _epsilon(NOISE * 2), "private, and less accurate"),
    Fault("noise on the mean at the sum's scale", SumsNoiseOnTheMean, "=", _epsilon(NOISE * B), "private, and useless"),
    Fault("noise on the sum at the mean's scale", MeansNoiseOnTheSum, "=", _epsilon(NOISE / B)),
    Fault("one seed on all workers", OneSeedOnAllWorkers, "=", math.inf, "the noise of two shards cancels"),
    Fault("generator reused between steps", GeneratorReused, "=", math.inf, "the noise of two steps cancels"),
    Fault("noise correlated over the steps", CorrelatedSteps, ">=", _correlated(), "by the sum over all steps"),
    Fault("a layer without noise", LayerWithoutNoise, "=", math.inf),
    Fault("uniform noise", UniformNoise, "=", math.inf, "its support moves"),
    Fault("noise scaled by the batch size", NoiseByBatchSize, "~", _epsilon((NOISE**-2 + 650 / 2 / B**2) ** -0.5),
          "the scale tells the size of a batch"),
    Fault("division by the drawn batch size", DividedByDrawnSize, "~", _epsilon(NOISE / 2),
          "against opposed gradients the sum moves by 2 C", "opposed"),
    Fault("number of records in the step length", RecordsInTheStepLength, "~", _and_gaussian(_UNSAMPLED),
          "the scale tells the number", "opposed"),
    Fault("one step more than accounted", OneStepMore, "=", _epsilon(steps=STEPS + 1)),
)  # fmt: skip


class Accumulated(Loop):
    """Sums of microbatches, with noise once: what it should be."""

    def total(self, rows):
        return sum(part.sum(axis=0) for part in np.array_split(rows, MICROBATCHES))


class NoiseByTwoWorkers(Loop):
    def noise(self, step, batch):
        return (
            NOISE * CLIP / math.sqrt(2) * (self.rng.normal(size=self.dimension) + self.rng.normal(size=self.dimension))
        )


class SinglePrecision(Loop):
    def clip(self, rows):
        return super().clip(rows.astype(np.float32))

    def noise(self, step, batch):
        return super().noise(step, batch).astype(np.float32)


class NoiseAfterDivision(Loop):
    def release(self, noisy_sum, batch):
        return noisy_sum * (1.0 / self.public) / RATE


class BoxMuller(Loop):
    def noise(self, step, batch):
        half = -(-self.dimension // 2)
        radius = np.sqrt(-2 * np.log1p(-self.rng.random(half)))
        angle = 2 * math.pi * self.rng.random(half)
        return NOISE * CLIP * np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[: self.dimension]


DECOYS = (Accumulated, NoiseByTwoWorkers, SinglePrecision, NoiseAfterDivision, BoxMuller)
