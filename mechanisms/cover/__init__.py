"""Private learning from covers (Chaudhuri & Hsu 2011): three learners, their hard family, and the theorems as checks.

`CHECKS` is gathered from the modules of this package; `mechanisms.faults.cover` holds broken variants.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
