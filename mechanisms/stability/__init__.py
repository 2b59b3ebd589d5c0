"""Model-agnostic private learning via stability (Bassily, Thakurta & Thakkar 2018): mechanisms and theorems.

`CHECKS` is gathered from the modules of this package; `mechanisms.faults.stability` holds broken variants.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
