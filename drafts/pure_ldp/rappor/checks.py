"""pure_ldp, bits that are never cleared."""

from __future__ import annotations

import math

from wild.pure_ldp.audits import GENERAL_BUDGET, SCALE, one_check

RAPPOR_EPSILON = 2 * math.log((1 - SCALE / 2) / (SCALE / 2))
_BITS = (1, 3)
_CONVERTED = 'docstring of RAPPORClient.convert_f_to_eps, of f and k = 1: "Returns: Epsilon value"'

CHECKS = [
    one_check("RAPPOR", _BITS, RAPPOR_EPSILON, source=_CONVERTED, budget=GENERAL_BUDGET),
]
