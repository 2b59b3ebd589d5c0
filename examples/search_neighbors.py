"""Let Hypothesis look for the worst pair of neighbors.

The noise of the mean below is scaled to 1 / n, which is right when the number of records n is public. Under
add/remove n is private: a neighbor has another mean and another scale of the noise. The search finds such a pair,
shrinks it, and certifies it on fresh outputs.
"""

import numpy as np
from hypothesis import strategies as st

import audit


def clipped_mean(data, size, rng):
    """Return `size` noisy means of the values of `data`, clipped to [0, 1]."""
    mean = np.clip(data, 0, 1).mean() if data else 0.0
    return mean + rng.laplace(scale=1 / max(len(data), 1), size=size)


def main():
    result = audit.check_privacy(
        clipped_mean,
        audit.PrivacyClaim(epsilon=1.0, relation=audit.AddRemove()),
        datasets=st.lists(st.floats(0, 1), max_size=3),
        budget=20_000,
        seed=0,
    )
    print(result.verdict, "-", result.reason)
    print("pair:", *result.witness.pair)
    print("event:", result.witness.text)


if __name__ == "__main__":
    main()
