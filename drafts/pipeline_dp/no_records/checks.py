"""pipeline_dp, no record at all."""

from __future__ import annotations

from wild.pipeline_dp.audits import one_check

CHECKS = [
    one_check("COUNT", [([], [1.0])], suffix=" of nothing"),
]
