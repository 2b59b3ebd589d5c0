"""opendp, delta of thresholds for integer noise."""

from __future__ import annotations

from wild.opendp.audits import Pairs, one_check

KEYS_DELTA = 0.17  # as in `served.py`
_COUNTED: Pairs = [([], [1]), ([1] * 4, [1] * 5)]
_GAUSSIAN_KEYS = 1.10226  # of rho = 1/8 and delta = 0.15866 at KEYS_DELTA, by the library's conversion, rounded up
_KEPT = "make_zCDP_to_approxDP, of make_gaussian_threshold"
_THRESHOLD_DELTA = 0.0364  # rounded up from 0.036397

CHECKS = [
    one_check("count by, make_laplace_threshold", _COUNTED, delta=_THRESHOLD_DELTA),
    one_check("make_gaussian_threshold", [([], ["a"])], _GAUSSIAN_KEYS, KEYS_DELTA, source=_KEPT),
]
