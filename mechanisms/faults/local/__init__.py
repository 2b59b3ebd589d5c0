"""Broken variants of classification under local differential privacy, one fault each.

`arrays` breaks the noise, `bits` what is released with it, `rules` the classifier made of it. Every check expects
FAIL; every class says what the fault really gives.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
