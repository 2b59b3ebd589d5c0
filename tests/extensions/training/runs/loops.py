"""A loop of noisy sums that is fast: the contributions are fixed, and each argument replaces one part of a step."""

import numpy as np

import audit
from audit.extensions import training

RECORDS, DIMENSION, STEPS, RATE, NOISE = 400, 60, 80, 0.1, 1.5
ROWS = np.random.default_rng(9).normal(size=(RECORDS, DIMENSION))
ROWS /= np.linalg.norm(ROWS, axis=1)[:, None]
CLAIM = audit.TrainingClaim(noise_multiplier=NOISE, steps=STEPS, clip=1.0, rate=RATE, divisor=40.0)
LENIENT = {"unchecked": ("alone", "update"), "tolerance": 0.2}


def poisson(rng, step):
    """Sample as claimed."""
    return np.flatnonzero(rng.random(RECORDS) < RATE)


def noise_of(rng, step, batch):
    """Draw noise as claimed."""
    return NOISE * rng.normal(size=DIMENSION)


def recorded(
    seed=0, *, claim=CLAIM, steps=STEPS, sample=poisson, noise=noise_of, rows=ROWS, sums=None, release=None, alone=None
):
    """Return the recorder of a run."""
    rng = np.random.default_rng(seed)
    recorder = training.Recorder(claim, RECORDS, gradient=alone)
    for step in range(steps):
        batch = sample(rng, step)
        clipped = rows[batch]
        total = clipped.sum(axis=0) if sums is None else sums(clipped)
        noisy = total + noise(rng, step, batch)
        shown = noisy / claim.divisor if release is None else release(noisy, batch)
        recorder.step(batch, clipped=clipped, noisy_sum=noisy, released=shown)
    return recorder
