"""opendp_0_4, an answer that is drawn anew."""

from __future__ import annotations

import math

from audit import Verdict
from wild.opendp_0_4.audits import one_check

CHECKS = [
    one_check("make_randomized_response_bool", math.log(3), Verdict.FAIL),
]
