"""A net with holes: the ends of the axes alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit import Verdict
from mechanisms.cover.dimensions import PAPER, accuracy_check
from mechanisms.cover.separators import LinearSeparatorClass


@dataclass(frozen=True)
class AxesAlone(LinearSeparatorClass):
    """Half-spaces whose net is the ends of turned axes, whatever the scale; n = 4.

    Broken: the covering radius is 1/3, and the target of the trials lies in a hole, 1/3 away from the net.
    """

    def packing_cover(self, radius: float) -> NDArray[np.float64]:
        """Return the ends of the axes, turned so that the target lies in the largest hole."""
        one = np.r_[np.zeros(self.dim - 2), 0.6, 0.8]
        turned = one - np.full(self.dim, 0.5)  # the reflection that swaps the target and (1/2, ..., 1/2)
        ends = np.vstack([np.eye(self.dim), -np.eye(self.dim)])
        return np.asarray(ends - 2 * np.outer(ends @ turned, turned) / (turned @ turned))


CHECKS = [
    accuracy_check(
        "fault/cover a net with holes",
        f"claimed after {PAPER}, Theorem 8",
        "The ends of four axes are a cover that is fine enough; false: the best of them errs by a third.",
        AxesAlone(4),
        expected=Verdict.FAIL,
    )
]
