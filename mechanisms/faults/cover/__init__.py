"""Broken variants of learning from covers, one fault each.

`weights` breaks the draw from the cover, `covers` what the cover is made of, `utility` keeps the privacy and loses the
accuracy that the theorems promise. Every check expects FAIL; every class says what the fault really gives.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
