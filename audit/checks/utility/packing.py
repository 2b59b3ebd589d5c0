"""The packing audit as a check: a learner that hits the targets of a packing too often is not private."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument
from audit.checks.utility.guarantee import GuaranteeCheck
from audit.claims import PrivacyClaim
from audit.game.packing import LARGEST_FAMILY, DatasetFor, Hits, group_delta, require_disjoint, require_distance


@dataclass(frozen=True, kw_only=True)
class PackingCheck(GuaranteeCheck):
    """A privacy claim, tested by how often a learner hits its target in a family of datasets.

    K datasets, any two within b steps, and K disjoint sets of outputs. For a target drawn uniformly an
    (epsilon, delta)-private learner hits the target's set with probability at most

        (e^(epsilon b) + (K - 1) delta_b) / (e^(epsilon b) + K - 1),

    so that it misses with at least 1 minus that: a guarantee, judged by the exact binomial tests of `GuaranteeCheck`,
    in whose records a failure is a hit. FAIL refutes the privacy claim. PASS says only that no hit beyond the bound
    and the slack was seen: a packing audit convicts data-dependent supports and learners that do not randomise, and
    does not acquit. `audit.check_packing` turns the hits into a lower bound of epsilon.

    Parameters
    ----------
    learner : callable
        `(dataset, size, rng) -> array-like` of length `size`; called with size 1, once a trial.
    privacy : PrivacyClaim
        What is promised.
    dataset_for : callable (index, rng) -> dataset
        The dataset of target 0 <= index < family_size; random or not.
    hits : callable (index, output) -> bool
        Whether an output lies in the target's set; disjoint sets are the caller's promise, spot-checked.
    family_size : int, 2 <= family_size <= 2^62
        K.
    distance : int >= 1
        b; spot-checked when the claim's relation counts steps.

    Other parameters are those of `GuaranteeCheck`, but `trials` and `beta`, which follow.

    References
    ----------
    Chaudhuri & Hsu (2011), Lemma 22 and the proof of Theorem 5; see `audit.game.packing`.
    """

    learner: Callable[..., Any]
    privacy: PrivacyClaim
    dataset_for: DatasetFor
    hits: Hits
    family_size: int
    distance: int
    trials: Callable[..., Any] = field(init=False, repr=False, default=max)
    beta: float = field(init=False, default=0.0)

    def _validate(self) -> None:
        for name in ("learner", "dataset_for", "hits"):
            if not callable(getattr(self, name)):
                raise InvalidArgument.of(name, "be callable", getattr(self, name))
        if not isinstance(self.privacy, PrivacyClaim):
            raise InvalidArgument.of("privacy", "be a PrivacyClaim", self.privacy)
        if integer(self.family_size, "family_size", at_least=2) > LARGEST_FAMILY:
            raise InvalidArgument.of("family_size", "be at most 2^62 to draw targets from", self.family_size)
        integer(self.distance, "distance", at_least=1)
        object.__setattr__(self, "trials", self.draw_misses)
        object.__setattr__(self, "beta", largest_hit_rate(self.privacy, self.family_size, self.distance))
        super()._validate()

    @property
    def subject(self) -> Any:
        """The learner."""
        return self.learner

    def draw_misses(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Draw whether each of so many runs misses its own random target, shape (replicates,).

        Raises
        ------
        InvalidArgument
            When two of the datasets are too far apart, or an output lies in two sets (spot checks).
        """
        missed = np.empty(replicates, dtype=bool)
        first = None
        for trial, target in enumerate(rng.integers(0, self.family_size, replicates).tolist()):
            dataset = self.dataset_for(target, rng)
            output = np.asarray(self.learner(dataset, 1, rng))[0]
            missed[trial] = not self.hits(target, output)
            if trial == 0:
                first = dataset
                require_disjoint(self.hits, output, target, self.family_size, rng)
            elif trial == 1:
                require_distance(self.privacy, first, dataset, self.distance)
        return missed


def largest_hit_rate(claim: PrivacyClaim, family_size: int, distance: int) -> float:
    """Give the largest mean probability of a hit that a claim allows; attained by randomised response at distance 1."""
    epsilon, delta, others = claim.epsilon * distance, claim.delta, family_size - 1
    excess = others * group_delta(claim.epsilon, distance, delta) if delta else 0.0
    rate = (1 + excess * math.exp(-epsilon)) / (1 + others * math.exp(-epsilon))
    if not rate < 1:
        raise InvalidArgument.of("privacy", "leave a packing audit something to refute: every rate is allowed", claim)
    return rate
