"""Mechanisms released by other libraries, audited on the real survey of `mechanisms.real_data`.

The claim of each check is the library's own promise for the parameters it was given. Nothing is stated about
the output law, so a PASS is statistical and carries its own budget. The libraries draw from the operating system's
randomness: a second run draws other outputs, whatever the seed. Needs the extra `libraries`.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
