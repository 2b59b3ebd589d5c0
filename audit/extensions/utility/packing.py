"""Test a privacy claim by how often a learner hits its target in a family of datasets: the packing audit.

K datasets S_z, any two within b steps of the relation, and K pairwise disjoint sets G_z of outputs. With
p_z = P(A(S_z) in G_z) and group privacy, 1 - p_z >= sum over z' != z of P(A(S_z) in G_z'), each at least
e^(-epsilon b) (p_z' - delta_b), where delta_b = delta (e^(epsilon b) - 1) / (e^epsilon - 1). Averaged over z,

    (K - 1) (p - delta_b) <= e^(epsilon b) (1 - p),      p the mean of the p_z,

with equality for K-ary randomized response (b = 1, delta = 0). If every output has its own target z, drawn uniformly,
then hits are independent with probability exactly p, and one exact binomial bound certifies epsilon for any K.
A test of two hypotheses cannot certify more than about log(outputs); this bound adds log(K - 1). It refutes learners
whose support depends on the data and learners that do not randomize. Group privacy does not resolve a factor of 2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import special

from audit.api import (
    DEFAULT_CONFIRMATION,
    DEFAULT_SIGNIFICANCE,
    UNNAMED,
    Allowance,
    Budget,
    Evidence,
    InvalidArgument,
    PrivacyClaim,
    Result,
    StatedCheck,
    Stream,
    Verdict,
    closed_probability,
    describe_error,
    document_from,
    integer,
    is_of_subject,
    largest_refuted,
    open_probability,
    run_alone,
)
from audit.extensions.utility.guarantee import (
    FIRST_LOOKS,
    GuaranteeCheck,
    GuaranteeEvidence,
    GuaranteeTerms,
    gather_looks,
    look_share,
)


def packing_epsilon_lower_bound(
    successes: int,
    trials: int,
    family_size: int,
    distance: int,
    *,
    delta: float = 0.0,
    significance: float = 0.05,
) -> float:
    """Return a lower confidence bound of epsilon from the success rate of a learner.

    It exceeds the true epsilon with probability at most `significance`, for every number of trials. The probability is
    over the targets, the datasets and the learner.

    Parameters
    ----------
    successes, trials : int, 0 <= successes <= trials
        Trials with a target drawn uniformly and afresh, in which the output lay in the target's own set.
    family_size : int >= 2
        K, the number of datasets and of disjoint sets; it may be astronomically large.
    distance : int >= 1
        b, the largest number of steps between two datasets of the family.
    delta : float in [0, 1], default 0.0
        The additive slack at which epsilon is bounded.
    significance : float in (0, 1), default 0.05
        Probability that the bound may exceed the true epsilon.

    Returns
    -------
    float >= 0
        Every smaller epsilon is refuted, at this delta and for one step of the relation.

    Raises
    ------
    InvalidArgument
        When an argument lies outside its admissible set.

    References
    ----------
    Chaudhuri & Hsu (2011), "Sample complexity bounds for differentially private learning", lemma 22 and theorem 5.

    Examples
    --------
    >>> from audit import packing_epsilon_lower_bound
    >>> round(packing_epsilon_lower_bound(900, 1000, family_size=100, distance=1), 3)
    6.616
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
    if slack == 0:
        return max(0.0, highest)

    def refuted(epsilon: float) -> bool:
        """Return whether (K - 1) (p - delta_b) > e^(epsilon b) (1 - p); the left falls in epsilon, the right rises."""
        leak = group_delta(epsilon, steps, slack)
        return leak < rate and epsilon * steps + math.log(miss) < math.log(others) + math.log(rate - leak)

    return largest_refuted(refuted, highest, 1e-12)


def group_delta(epsilon: float, steps: int, delta: float) -> float:
    """Return delta (e^(epsilon b) - 1) / (e^epsilon - 1), group privacy at distance b; b delta at epsilon = 0."""
    if epsilon == 0:
        return steps * delta
    growth = epsilon * steps + math.log(-math.expm1(-epsilon * steps)) - epsilon - math.log(-math.expm1(-epsilon))
    return math.inf if growth > 700 else delta * math.exp(growth)


def largest_hit_rate(claim: PrivacyClaim, family_size: int, distance: int) -> float:
    """Return the largest mean probability of a hit that a claim allows; randomized response attains it at b = 1."""
    epsilon, delta, others = claim.epsilon * distance, claim.delta, family_size - 1
    excess = others * group_delta(claim.epsilon, distance, delta) if delta else 0.0
    rate = (1 + excess * math.exp(-epsilon)) / (1 + others * math.exp(-epsilon))
    if not rate < 1:
        instead = "give a smaller `distance` or a larger `family_size`"
        raise InvalidArgument.of("claim", "be one that not every rate of hits satisfies", claim, instead)
    return rate


DatasetFor = Callable[[int, np.random.Generator], Any]
Hits = Callable[[int, Any], Any]
_LARGEST_FAMILY = 2**62
_SPOT_CHECK = 2  # child of the check's stream


@dataclass(frozen=True, repr=False, eq=False)
class PackingResult(Result):
    """The outcome of a packing audit; see `audit.Result`.

    Examples
    --------
    >>> from audit import Local, PrivacyClaim, check_packing
    >>> result = check_packing(lambda record, size, rng: [record] * size, PrivacyClaim(1.0, relation=Local()),
    ...                        lambda index, rng: index, lambda index, output: output == index, family_size=10,
    ...                        distance=1, budget=100)
    >>> result.successes, round(result.epsilon_lower_bound, 2)
    (100, 5.69)
    """

    check: "PackingCheck"
    evidence: GuaranteeEvidence

    @property
    def epsilon_lower_bound(self) -> float:
        """Lower bound of epsilon at the claim's delta, for one step; too high with probability <= `significance`."""
        family, delta = (self.check.family_size, self.check.distance), self.check.claim.delta
        bounds = [0.0]
        for index, look in enumerate(self.evidence.looks):
            share = look_share(index, self.evidence.planned, self.significance)
            counts = look.failures, look.trials
            bounds.append(packing_epsilon_lower_bound(*counts, *family, delta=delta, significance=share))
        return max(bounds)

    @property
    def successes(self) -> int:
        """Outputs that hit their target, of those at the last look."""
        return self.evidence.looks[-1].failures if self.evidence.looks else 0


@dataclass(frozen=True, kw_only=True)
class PackingCheck(StatedCheck):
    """A privacy claim, tested by how often a learner hits its target in a family of datasets.

    K datasets, any two within b steps, and K disjoint sets of outputs. For a target drawn uniformly, an
    (epsilon, delta)-private learner hits the target's set with probability at most

        (e^(epsilon b) + (K - 1) delta_b) / (e^(epsilon b) + K - 1).

    The exact binomial tests of `GuaranteeCheck` judge this; in the record a failure is a hit. FAIL refutes the privacy
    claim. PASS says only that hits beyond this rate and its slack are excluded: a packing audit refutes data-dependent
    supports and learners that do not randomize, and does not show that any other learner is private.

    Parameters
    ----------
    learner : callable
        `(dataset, size, rng) -> sequence` of length `size`; called with size 1, once per target. An exception counts as
        a miss and bars a PASS.
    claim : PrivacyClaim
        The claim under test.
    dataset_for : callable (index, rng) -> dataset
        The dataset of target 0 <= index < family_size; random or not.
    hits : callable (index, output) -> bool
        Whether an output lies in the target's set. The sets must be disjoint; they are spot-checked.
    family_size : int, 2 <= family_size <= 2^62
        K.
    distance : int >= 1
        b; spot-checked if the claim's relation counts steps.
    stop_early : bool
        Whether drawing ends at the first look that decides. Otherwise there is one test, after the whole budget and at
        the full significance, which gives the best bound of epsilon.
    budget : int >= 2, optional
        Outputs of the learner, one per target; None takes the run's budget.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Chaudhuri and Hsu (2011), Sample complexity bounds for differentially private learning, lemma 22 and theorem 5.
    """

    learner: Callable[..., Any]
    claim: PrivacyClaim = field()  # required, though a utility check states its claim by a property of this name
    dataset_for: DatasetFor
    hits: Hits
    family_size: int
    distance: int
    stop_early: bool = True

    kind: ClassVar[str] = "packing"
    unit: ClassVar[str] = "outputs"
    callables: ClassVar = {"learner": "(dataset, size, rng)", "dataset_for": "(index, rng)", "hits": "(index, output)"}
    terms_type: ClassVar[type[Any]] = GuaranteeTerms
    evidence_type: ClassVar[type[Evidence]] = GuaranteeEvidence
    result_type: ClassVar[type[Result]] = PackingResult
    summary = GuaranteeCheck.summary
    decide = staticmethod(GuaranteeCheck.decide)

    def _validate(self) -> None:
        if not isinstance(self.claim, PrivacyClaim):
            raise InvalidArgument.of("claim", "be a PrivacyClaim, an epsilon and a delta", self.claim)
        if integer(self.family_size, "family_size", at_least=2) > _LARGEST_FAMILY:
            raise InvalidArgument.of("family_size", "be at most 2^62 to draw targets from", self.family_size)
        integer(self.distance, "distance", at_least=1)
        self.terms()

    def terms(self) -> GuaranteeTerms:
        return GuaranteeTerms.of(largest_hit_rate(self.claim, self.family_size, self.distance))

    def gather(self, allowance: Allowance) -> GuaranteeEvidence:
        raised: list[str] = []
        misses, first = partial(self.misses, raised), FIRST_LOOKS[-1]  # fewer outputs would bound epsilon less well
        evidence = gather_looks(misses, self.terms(), allowance, stop_early=self.stop_early, first=first)
        refuted = self.judge(self.terms(), evidence, allowance.significance).verdict is Verdict.FAIL
        if raised and not refuted and evidence.failure is None:
            return replace(evidence, failure=f"the learner raised in {len(raised)} runs, first {raised[0]}")
        return evidence

    def misses(self, raised: list[str], replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Return whether each run misses its own random target; list exceptions in `raised`; spot-check the family."""
        missed = np.ones(replicates, dtype=bool)
        first = None
        for run, target in enumerate(rng.integers(0, self.family_size, replicates).tolist()):
            dataset = self.dataset_for(target, rng)
            first = dataset if run == 0 else first
            if run == 1 and (measure := getattr(self.claim.relation, "distance", None)):
                steps = measure(first, dataset)
                if isinstance(steps, str) or steps > self.distance:
                    rule = "bound the steps between any two datasets of the family"
                    raise InvalidArgument.of("distance", rule, steps)
            try:
                output = self.learner(dataset, 1, rng)[0]
            except BaseException as error:
                if not is_of_subject(error):
                    raise
                raised.append(f"{type(error).__name__}: {describe_error(error)[:200]}")
                continue
            missed[run] = not self.hits(target, output)
            if run == 0:
                others = {int(index) for index in rng.integers(0, self.family_size, 4)}
                others |= {max(target - 1, 0), min(target + 1, self.family_size - 1), target}  # its neighbors
                found = sorted(index for index in others if bool(self.hits(index, output)))
                if len(found) > 1:
                    rule = "describe pairwise disjoint sets: this output lies in two"
                    raise InvalidArgument.of("hits", rule, (output, found[:2]))
        return missed


@document_from(PackingCheck)
def check_packing(
    learner: Callable[..., Any],
    claim: PrivacyClaim,
    dataset_for: DatasetFor,
    hits: Hits,
    *,
    family_size: int,
    distance: int,
    stop_early: bool = False,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: Budget = 1_000, significance: float = DEFAULT_SIGNIFICANCE,
    confirmation: float | None = DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> PackingResult:  # fmt: skip
    """Test a privacy claim on a family of datasets by how often an output hits its own target.

    Raises
    ------
    InvalidArgument
        For arguments outside their admissible sets; for a claim along a curve, which group privacy of (epsilon, delta)
        does not cover; or if a spot check finds two datasets too far apart, or an output in two sets.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Local, PrivacyClaim, check_packing
    >>> def respond(record, size, rng):  # tells the truth with probability 0.9
    ...     return np.where(rng.random(size) < 0.9, record, rng.integers(0, 100, size))
    >>> result = check_packing(respond, PrivacyClaim(5.0, relation=Local()), lambda index, rng: index,
    ...                        lambda index, output: output == index, family_size=100, distance=1)
    >>> print(result.verdict, round(result.epsilon_lower_bound, 1))
    FAIL 6.5
    """
    check = PackingCheck(
        name=name or UNNAMED, learner=learner, claim=claim, dataset_for=dataset_for, hits=hits, family_size=family_size,
        distance=distance, stop_early=stop_early, source=source, statement=statement, expected=expected,
        timeout=timeout,
    )  # fmt: skip
    if timeout is None:  # a run records the error as the cause; here it raises
        check.misses([], 2, Stream(seed).child(_SPOT_CHECK).rng())
    return run_alone(check, budget=budget, significance=significance, confirmation=confirmation, seed=seed)
