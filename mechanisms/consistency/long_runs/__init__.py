"""The consistency checks at n = 10^8 and 10^9: `dp-audit run mechanisms.consistency.long_runs`, a minute or two."""

from __future__ import annotations

from mechanisms.consistency import cube_theorems, density_theorems

CHECKS = [*cube_theorems.LONG_CHECKS, *density_theorems.LONG_CHECKS]
