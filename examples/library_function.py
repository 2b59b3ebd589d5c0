"""Audit a library function that returns one output per call and draws its own randomness.

`per_call` turns such a function into a mechanism. This one releases the share of a survey that said yes. Its
documentation says 1-DP when one answer is replaced.
"""

import random

import audit


class Survey:
    """A stand-in for a third-party class: the caller can neither seed it nor ask it for many outputs at once."""

    def __init__(self, epsilon):
        self.epsilon = epsilon
        self._random = random.SystemRandom()

    def share_of_yes(self, answers):
        scale = 1 / (self.epsilon * len(answers))
        noise = self._random.expovariate(1 / scale) - self._random.expovariate(1 / scale)
        return sum(answers) / len(answers) + noise


def share(answers):
    return Survey(epsilon=1.0).share_of_yes(answers)


def main():
    claim = audit.PrivacyClaim(epsilon=1.0, relation=audit.Substitution(), source="documentation of Survey")
    pairs = [([0] * 10, [1] + [0] * 9)]
    # The library cannot be seeded, so each run draws anew: a small significance keeps false alarms rare over many runs.
    result = audit.check_privacy(audit.per_call(share), claim, pairs, budget=200_000, significance=1e-4)
    print(result.verdict, "-", result.reason)
    print(f"certified: epsilon >= {result.epsilon_lower_bound:.2f}; claimed: {claim.epsilon:g}")


if __name__ == "__main__":
    main()
