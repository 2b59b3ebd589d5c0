"""Broken consistent learners, one fault each, with their true privacy, or what becomes of their risk, in the docstring.

Every check expects FAIL. `CHECKS` is gathered from the modules of this package.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
