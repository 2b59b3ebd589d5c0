"""Algorithm A2 of Chaudhuri & Hsu (2011), Figure 2: A1 with a finer cover, for data that some hypothesis labels right.

The cover's scale follows from the conditions of Theorem 9, which ask for fewer examples where the accuracy is small.
The text prints the tail as |G| exp(-3 a m / 20); the weights exp(-alpha k / 2) give |G| exp(-3 alpha a m / 40), which
is taken here. Without the factor 1/2 the algorithm would be 2 alpha-private.
"""

import math
from dataclasses import dataclass

from mechanisms.papers.chaudhuri2011.a1 import A1


@dataclass(frozen=True)
class A2(A1):
    """Algorithm A2; (epsilon, 0)-DP under substitution. Parameters as `A1`."""

    def log_cover(self, m: int) -> float:
        """ln of the largest |G| with |G| e^(-m a / 400) <= beta / 4 and |G| e^(-3 alpha a m / 40) <= beta / 2."""
        deviation = m * self.accuracy / 400 - math.log(4 / self.beta)
        return min(deviation, 3 * self.epsilon * self.accuracy * m / 40 - math.log(2 / self.beta))
