"""The epsilon of a training run, as it is claimed: by the accountant, or a bound of it."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

from audit.api import text
from audit.extensions.training.runs.claim import TrainingClaim

_CELL = 1e-3  # width of the cells of a privacy loss: epsilon is within 0.1 % of that with 1e-4, ten times as fast
_CELLS = 2e4  # of a large loss: beyond, they are wider
_SIDES = {  # which side of epsilon is known of a kind of sampling, and under which relation
    "fixed": "at least {} under substitution",
    "shuffled": "at least {} where a record becomes zero",
}
Phases = tuple[tuple[tuple[float, float], int], ...]  # ((noise multiplier, rate), steps) of each


def epsilon_of_claim(claim: TrainingClaim, records: int, steps: int | None = None) -> float:
    """Return the epsilon of a claim after some steps, all unless given, at its delta.

    Poisson sampling and no sampling under add/remove: an upper bound by `dp_accounting`, tight to about 0.1 %. Cyclic
    sampling: the same, of the turns of one group. Fixed size: a lower bound under substitution, of the pair where a
    gradient C meets others of -C; the sum then moves by 2 C. Shuffled epochs: a lower bound of one epoch when a record
    becomes a zero gradient, by `ShuffledEpochs`. Separated batches: all steps together are one Gaussian mechanism,
    whose sensitivity scales the noise.
    """
    taken = claim.steps if steps is None else steps
    noise, rate = claim.noise_multiplier, claim.rate_among(records)
    if claim.sampling == "shuffled":
        from audit.extensions.training.accountants.brackets import ShuffledEpochs, epsilon_bracket

        return epsilon_bracket(ShuffledEpochs(noise, max(1, round(1 / rate))), claim.delta)[0]
    if claim.sampling == "separated":
        return compose_phases((((noise, 1.0), 1),), claim.delta)
    if claim.sampling == "cyclic":
        return compose_phases((((noise, rate), -(-taken // (claim.separation or 1))),), claim.delta)
    half = 2 if claim.sampling == "fixed" else 1
    noises = claim.noise_schedule[:taken] or (noise,) * taken
    phases = Counter(zip([each / half for each in noises], claim.rate_schedule[:taken] or (rate,) * taken, strict=True))
    return compose_phases(tuple(phases.items()), claim.delta, records if claim.truncation else 0, claim.truncation)


@lru_cache(maxsize=4096)
def compose_phases(phases: Phases, delta: float, records: int = 0, truncation: int | None = None) -> float:
    """Return epsilon at delta of phases of Poisson-sampled Gaussian noise; batches may be truncated."""
    from dp_accounting import dp_event as events
    from dp_accounting.pld import PLDAccountant

    mu = math.sqrt(sum(steps * rate / noise**2 for (noise, rate), steps in phases))
    accountant = PLDAccountant(value_discretization_interval=cell_width(mu))
    for (noise, rate), steps in phases:
        event = events.GaussianDpEvent(noise)
        sampled = events.PoissonSampledDpEvent(rate, event) if rate < 1 else event
        if truncation is not None:
            sampled = events.TruncatedSubsampledGaussianDpEvent(records, rate, truncation, noise)
        accountant.compose(events.SelfComposedDpEvent(sampled, steps))
    return float(accountant.get_epsilon(delta))


def cell_width(mu: float) -> float:
    """Return the width of the cells of the loss of Gaussian noise whose means are `mu` standard deviations apart.

    The loss has mean mu^2 / 2 and standard deviation mu. The cells reach five deviations above the mean.
    """
    return max(_CELL, (mu**2 / 2 + 5 * mu) / _CELLS)


def epsilon_says(claim: TrainingClaim, epsilon: float | None) -> str:
    """Return the sentence about the claimed epsilon for a reason."""
    side = _SIDES.get(claim.sampling, "{}")
    return "" if epsilon is None else f". Epsilon is {side.format(text.number(epsilon))} at delta = {claim.delta:g}"
