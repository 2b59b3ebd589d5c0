"""Broken variants of the reference mechanisms, one fault each, with their true privacy in the docstring.

Every check expects FAIL: the audit must convict the fault at significance 0.001 with at most 200,000 outputs per
side. `CHECKS` is gathered from the modules of this package, so that adding a fault touches one file.
"""

from __future__ import annotations

from audit import PrivacyCheck
from mechanisms import gather

CHECKS: list[PrivacyCheck] = gather(list(__path__), __name__)
