"""Hold Gaussian noise to a whole privacy curve, by its stated law or by its outputs alone.

1-GDP says more than any single (epsilon, delta). A mechanism with a `law` method gets an exact audit: the claim is
compared with the law, and the sampler that runs is tested against the law. Without a law the outputs alone decide: here
they refute the claim for noise that is half as large as it should be.
"""

from dataclasses import dataclass

import numpy as np

import audit
from audit.laws import Gaussian


@dataclass(frozen=True)
class NoisySum:
    """Sum of values in [0, 1] plus Gaussian noise; mu-GDP with mu = 1 / sigma under substitution."""

    sigma: float

    def __call__(self, data, size, rng):
        return np.sum(data) + self.sigma * rng.standard_normal(size)


class NoisySumWithLaw(NoisySum):
    """The same mechanism, which also states the law of its outputs."""

    def law(self, data):
        return Gaussian(float(np.sum(data)), self.sigma)


def main():
    claim = audit.GaussianClaim(mu=1.0)
    pairs = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]
    for mechanism in (NoisySumWithLaw(sigma=1.0), NoisySum(sigma=0.5)):
        result = audit.check_privacy(mechanism, claim, pairs, budget=100_000, seed=1)
        print(f"{type(mechanism).__name__}(sigma={mechanism.sigma:g}): {result.verdict} - {result.reason}")


if __name__ == "__main__":
    main()
