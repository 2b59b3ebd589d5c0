"""Bounds from a packing: a learner that is too accurate on a hard family of datasets is not private.

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

from scipy import special

from audit.api import InvalidArgument, PrivacyClaim, closed_probability, integer, largest_refuted, open_probability


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
