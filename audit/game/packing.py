"""The packing audit: a learner that is too accurate on a hard family of datasets is not private.

K datasets S_z, any two within b steps of the relation, and K pairwise disjoint sets G_z of outputs. With
p_z = P(A(S_z) in G_z) and group privacy, 1 - p_z >= sum over z' != z of P(A(S_z) in G_z'), each at least
e^(-epsilon b) (p_z' - delta_b), where delta_b = delta (e^(epsilon b) - 1) / (e^epsilon - 1). Averaged over z,

    (K - 1) (p - delta_b) <= e^(epsilon b) (1 - p),      p the mean of the p_z:

an equality for K-ary randomised response (b = 1, delta = 0). When every trial draws its own target z uniformly, the
successes are independent with probability exactly p, so one exact binomial bound certifies epsilon, however large K.
A test of two hypotheses cannot certify more than about log(trials); this one adds log(K - 1). It convicts supports that
depend on the data and learners that do not randomise; a missing factor of 2 is below what group privacy resolves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from audit.base.arguments import closed_probability, integer, open_probability
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.claims import PrivacyClaim
from audit.subjects import Block, Stream, Subject, SubjectFailed

DatasetFor = Callable[[int, np.random.Generator], Any]
Hits = Callable[[int, Any], Any]

_CHECKED = 16  # trials after which distance and disjointness are looked at
_TARGETS, _DATASETS, _RUNS, _OTHERS = range(4)
LARGEST_FAMILY = 2**62


@dataclass(frozen=True)
class PackingResult:
    """What a packing audit found.

    Parameters
    ----------
    verdict : Verdict
        FAIL when the claim is refuted, else INCONCLUSIVE: the audit convicts, it never acquits.
    reason : str
    claim : PrivacyClaim
    epsilon_lower_bound : float
        Certified at the claim's delta, for one step of the relation.
    successes, trials, family_size, distance : int
    failed_calls : int
        Trials in which the learner raised: counted as misses.
    significance, seconds : float
    """

    verdict: Verdict
    reason: str
    claim: PrivacyClaim
    epsilon_lower_bound: float
    successes: int
    trials: int
    family_size: int
    distance: int
    failed_calls: int
    significance: float
    seconds: float


def packing_epsilon_lower_bound(
    successes: int,
    trials: int,
    family_size: int,
    distance: int,
    *,
    delta: float = 0.0,
    significance: float = 0.05,
) -> float:
    """Lower confidence bound of epsilon from the success rate of a learner; too high with prob. <= `significance`.

    The probability is over the targets, the datasets and the learner. Exact for every number of trials.

    Parameters
    ----------
    successes, trials : int, 0 <= successes <= trials
        Trials with a target drawn uniformly and afresh, in which the output lay in the target's own set.
    family_size : int >= 2
        K, the number of datasets and of disjoint sets; it may be astronomically large.
    distance : int >= 1
        b, the largest number of steps between two datasets of the family.
    delta : float in [0, 1]
    significance : float in (0, 1)
    """
    n = integer(trials, "trials", at_least=1)
    s = integer(successes, "successes", at_least=0)
    if s > n:
        raise InvalidArgument.of("successes", f"lie in 0..{n}", successes)
    others = integer(family_size, "family_size", at_least=2) - 1
    steps = integer(distance, "distance", at_least=1)
    slack, level = closed_probability(delta, "delta"), open_probability(significance, "significance")
    if s == 0:
        return 0.0
    rate = float(special.betaincinv(s, n - s + 1, level))
    miss = float(special.betainccinv(n - s + 1, s, level))  # 1 - rate, with its digits
    highest = (math.log(others) + math.log(rate) - math.log(miss)) / steps
    if slack == 0 or highest <= 0:
        return max(0.0, highest)
    return _with_delta(rate, miss, others, steps, slack, highest)


def _with_delta(rate: float, miss: float, others: int, steps: int, delta: float, highest: float) -> float:
    """The least epsilon with (K - 1) (p - delta_b) <= e^(epsilon b) (1 - p): left falls, right rises, so bisect."""

    def refuted(epsilon: float) -> bool:
        leak = group_delta(epsilon, steps, delta)
        return leak < rate and epsilon * steps + math.log(miss) < math.log(others) + math.log(rate - leak)

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, highest
    while high - low > 1e-12 * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def group_delta(epsilon: float, steps: int, delta: float) -> float:
    """Give delta (e^(epsilon b) - 1) / (e^epsilon - 1), group privacy at distance b; b delta at epsilon = 0."""
    if epsilon == 0:
        return steps * delta
    growth = epsilon * steps + math.log(-math.expm1(-epsilon * steps)) - epsilon - math.log(-math.expm1(-epsilon))
    return math.inf if growth > 700 else delta * math.exp(growth)


def check_packing(
    learner: Any,
    claim: PrivacyClaim,
    dataset_for: DatasetFor,
    hits: Hits,
    *,
    family_size: int,
    distance: int,
    trials: int = 1000,
    significance: float = 0.05,
    seed: int = 0,
) -> PackingResult:
    """Audit a learner on a family of datasets: random target, fresh run, did the output hit the target?

    Parameters
    ----------
    learner : callable
        `(dataset, size, rng) -> array-like` of length `size`; called with size 1, once a trial.
    claim : PrivacyClaim
    dataset_for : callable (index, rng) -> dataset
        The dataset of target 0 <= index < family_size; random or not.
    hits : callable (index, output) -> bool
        Whether an output lies in the target's set. The sets are pairwise disjoint: the caller's promise, spot-checked.
    family_size, distance : int
        As for `packing_epsilon_lower_bound`. The distance is spot-checked when the claim's relation counts steps.
    trials : int >= 1
    significance : float in (0, 1)
    seed : int >= 0

    Raises
    ------
    InvalidArgument
        For a claim along a curve, which group privacy of (epsilon, delta) does not speak of; or when a spot check finds
        two datasets too far apart, or an output in two sets.
    """
    if not isinstance(claim, PrivacyClaim):
        raise InvalidArgument.of("claim", "be a PrivacyClaim, an epsilon and a delta", claim)
    started = time.perf_counter()
    size = integer(family_size, "family_size", at_least=2)
    if size > LARGEST_FAMILY:
        raise InvalidArgument.of("family_size", "be at most 2^62 to draw targets from", family_size)
    steps, total = integer(distance, "distance", at_least=1), integer(trials, "trials", at_least=1)
    level, stream = open_probability(significance, "significance"), Stream(integer(seed, "seed", at_least=0))
    targets = stream.child(_TARGETS).rng().integers(0, size, total)
    _check_distance(claim, dataset_for, targets[:_CHECKED], steps, stream)
    subject, successes, failed = Subject(learner), 0, 0
    for trial, target in enumerate(map(int, targets)):
        output = _output(subject, dataset_for(target, stream.child(_DATASETS, trial).rng()), stream, trial)
        failed += output is None
        successes += output is not None and bool(hits(target, output[0]))
        if output is not None and trial < _CHECKED:
            require_disjoint(hits, output[0], target, size, stream.child(_OTHERS, trial).rng())
    bound = packing_epsilon_lower_bound(successes, total, size, steps, delta=claim.delta, significance=level)
    verdict, reason = _judge(claim, bound, successes, total, level)
    seconds = time.perf_counter() - started
    return PackingResult(verdict, reason, claim, bound, successes, total, size, steps, failed, level, seconds)


def _judge(claim: PrivacyClaim, bound: float, successes: int, trials: int, level: float) -> tuple[Verdict, str]:
    found = f"{successes} of {trials} outputs hit their target: epsilon >= {bound:.4g} at delta = {claim.delta:g}"
    if bound > claim.epsilon:
        return Verdict.FAIL, f"{found}, claimed {claim.epsilon:g} (error probability {level:.2g})"
    return Verdict.INCONCLUSIVE, f"{found}, not refuted; a packing audit does not acquit"


def _output(subject: Subject, dataset: Any, stream: Stream, trial: int) -> Any:
    """A batch of one output of a fresh run; None when the learner raised."""
    try:
        outputs, odd = subject.draw(Block(dataset, 1, stream.child(_RUNS, trial).seed()))
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        return None
    return None if odd["raised"] else outputs.raw


def _check_distance(
    claim: PrivacyClaim, dataset_for: DatasetFor, targets: np.ndarray, distance: int, stream: Stream
) -> None:
    drawn = [dataset_for(int(z), stream.child(_OTHERS, _CHECKED + i).rng()) for i, z in enumerate(targets)]
    for first, second in pairwise(drawn):
        require_distance(claim, first, second, distance)


def require_distance(claim: PrivacyClaim, first: Any, second: Any, distance: int) -> None:
    """Raise `InvalidArgument` when two datasets are more steps apart than `distance`, if the relation counts steps."""
    measure = getattr(claim.relation, "distance", None)
    steps = 0 if measure is None else measure(first, second)
    if isinstance(steps, str) or steps > distance:
        raise InvalidArgument.of("distance", "bound the steps between any two datasets of the family", steps)


def require_disjoint(hits: Hits, output: Any, target: int, size: int, rng: np.random.Generator) -> None:
    """Raise `InvalidArgument` when an output lies in the sets of two targets: neighbors and a few others are tried."""
    others = {int(z) for z in rng.integers(0, size, 4)} | {max(target - 1, 0), min(target + 1, size - 1), target}
    found = sorted(z for z in others if bool(hits(z, output)))
    if len(found) > 1:
        raise InvalidArgument.of(
            "hits", "describe pairwise disjoint sets: this output lies in two", (output, found[:2])
        )
