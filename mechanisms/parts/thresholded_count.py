"""Noisy counts that are released from a threshold on: a count of 0 draws no noise and is absent.

The law of one is `mechanisms.thresholded_laplace.ThresholdedLaplace`, an atom for "absent" and a density above.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.laws import PointMass, Product
from mechanisms.thresholded_laplace import ThresholdedLaplace


def released_counts(counts: Any, scale: float, threshold: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw releases of integer counts, shape (size, labels); 0 is absent, and no released value is below the threshold.

    Parameters
    ----------
    counts : array of int >= 0, shape (labels,)
    scale, threshold : float > 0
        Of the Laplace noise, and the least noisy count that is released.
    """
    exact = np.asarray(counts)
    present = np.flatnonzero(exact)
    output = np.zeros((size, exact.size))
    noisy = exact[present] + rng.laplace(scale=scale, size=(size, present.size))
    output[:, present] = np.where(noisy < threshold, 0.0, noisy)
    return output


def released_law(counts: Any, scale: float, threshold: float) -> Product:
    """Return the law of a release: independent labels, an atom at 0 each."""
    return Product(
        tuple(
            ThresholdedLaplace(float(count), scale, threshold) if count else PointMass(0.0)
            for count in np.asarray(counts)
        )
    )
