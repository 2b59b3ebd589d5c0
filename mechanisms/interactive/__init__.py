"""Objects that answer: sessions with a budget, sparse vector as it is used, and counters of streams.

`CHECKS` is gathered from the modules of this package; `mechanisms.faults.interactive` holds broken variants, each of
which is derived from the correct object here.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
