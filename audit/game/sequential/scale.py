"""Centring and scaling by past outputs, so that the experts see numbers of order one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LARGEST = 1e150  # outputs beyond are as good as infinite; differences of two such numbers stay finite
_FARTHEST = 1e6  # largest standardised value
_WINSOR = 8.0  # deviations are cut at this many median deviations: one wild output must not set the scale


@dataclass(frozen=True)
class Scale:
    """u = (x - centre) / spread.

    Parameters
    ----------
    centre : float
        Median of past outputs, both sides together.
    spread : float > 0
        Their mean absolute deviation, large deviations cut.
    """

    centre: float
    spread: float

    @classmethod
    def of(cls, values: np.ndarray) -> Scale | None:
        """Fit to past outputs; None when there are not two different ones."""
        past = np.clip(values[~np.isnan(values)], -_LARGEST, _LARGEST)
        if len(past) < 2:
            return None
        centre = float(np.median(past))
        deviations = np.abs(past - centre)
        middle = float(np.median(deviations))
        spread = float(np.mean(np.minimum(deviations, _WINSOR * middle) if middle > 0 else deviations))
        return cls(centre, max(spread, 1 / _LARGEST)) if spread > 0 else None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Standardised values; NaN stays NaN."""
        scaled = (np.clip(values, -_LARGEST, _LARGEST) - self.centre) / self.spread
        return np.clip(scaled, -_FARTHEST, _FARTHEST)
