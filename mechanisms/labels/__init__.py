"""Label privacy by vector approximation (Zhao et al. 2024): encoders, baselines, learners, and the paper's claims.

`CHECKS` is gathered from the modules of this package; `mechanisms.faults.labels` holds broken variants.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
