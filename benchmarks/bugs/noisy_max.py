"""Report noisy max: the index of the largest noisy answer, or, wrongly, its value.

Algorithms 5 to 8 of StatDP (Ding et al., CCS 2018). Departure from the text: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class NoisyMax:
    """The largest of the answers plus independent noise.

    Parameters
    ----------
    noise : {"laplace", "exponential"}
        Family of the noise.
    scale : float > 0
        Of the noise; the mean of exponential noise.
    release : {"index", "value"}
        What is shown of the largest.
    """

    noise: Literal["laplace", "exponential"]
    scale: float
    release: Literal["index", "value"]

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        draw = rng.laplace if self.noise == "laplace" else rng.exponential
        noisy = np.asarray(dataset, dtype=float) + draw(scale=self.scale, size=(size, len(dataset)))
        return noisy.argmax(axis=1) if self.release == "index" else noisy.max(axis=1)
