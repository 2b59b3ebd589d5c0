"""The consistency checks at n = 10^8 and 10^9: `dp-audit run mechanisms.papers.bousquet2022.long_runs`."""

from __future__ import annotations

from mechanisms.papers.bousquet2022 import section3, section4

CHECKS = [*section3.LONG_CHECKS, *section4.LONG_CHECKS]
