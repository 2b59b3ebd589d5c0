"""dp-group-stats 0.1.2: noise for sums of clipped hours, as the README adds it. A dataset is a list of hours."""

from __future__ import annotations

import random

from dp_group_stats import DPGroupStatsConfig, laplace_noise

CONFIG = DPGroupStatsConfig()


def noisy_sum(dataset, rng):
    """The README's noisy sum of actual hours, at `epsilon_split.actual_sum`."""
    clipped = [CONFIG.bounds.clip_actual(hours) for hours in dataset]
    generator = random.Random(int(rng.integers(2**63)))
    noise = laplace_noise(CONFIG.epsilon_split.actual_sum, CONFIG.bounds.actual_sensitivity, generator)
    return sum(clipped) + noise


MECHANISMS = {"sum": noisy_sum, "mean": lambda dataset, rng: noisy_sum(dataset, rng) / len(dataset)}
