"""Reference mechanisms, each with its claims as CHECKS; `faults` holds broken variants of them.

`CHECKS` is gathered from every module directly in this package, so that adding a mechanism touches one file. The
releases on a real dataset (`mechanisms.real_data`), the third-party libraries (`mechanisms.third_party`) and the
faults are targets of their own.
"""

from __future__ import annotations

import importlib
import pkgutil

from audit import PrivacyCheck

OWN_TARGETS = frozenset({"real_data"})


def gather(path: list[str], package: str, left_out: frozenset[str] = frozenset()) -> list[PrivacyCheck]:
    """Return the CHECKS of every module directly in a package, in the order of the module names."""
    names = sorted(module.name for module in pkgutil.iter_modules(path) if not module.ispkg)
    modules = (importlib.import_module(f"{package}.{name}") for name in names if name not in left_out)
    return [check for module in modules for check in getattr(module, "CHECKS", ())]


CHECKS: list[PrivacyCheck] = gather(list(__path__), __name__, OWN_TARGETS)
