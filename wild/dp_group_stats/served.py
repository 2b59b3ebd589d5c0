"""dp-group-stats 0.1.2: noise for sums of clipped hours, as the README adds it. A dataset is a list of hours."""

from __future__ import annotations

import random

import numpy as np
from dp_group_stats import DPGroupStatsConfig, laplace_noise

CONFIG = DPGroupStatsConfig()


def noisy_sum(dataset, generator):
    """The README's noisy sum of actual hours, at `epsilon_split.actual_sum`."""
    clipped = [CONFIG.bounds.clip_actual(hours) for hours in dataset]
    noise = laplace_noise(CONFIG.epsilon_split.actual_sum, CONFIG.bounds.actual_sensitivity, generator)
    return sum(clipped) + noise


def drawn(release):
    """A release, size times, from a generator that the request seeds."""

    def draw(dataset, size, rng):
        generator = random.Random(int(rng.integers(2**63)))
        return np.array([release(dataset, generator) for _ in range(size)])

    return draw


MECHANISMS = {
    "sum": drawn(noisy_sum),
    "mean": drawn(lambda dataset, generator: noisy_sum(dataset, generator) / len(dataset)),
}
