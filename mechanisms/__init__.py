"""Reference mechanisms and learners, each with its claims as CHECKS; `faults` holds broken variants of them.

`BASIC` is gathered from the modules of this package, `TOPICS` are packages of objects that answer, and each of `PAPERS`
is a folder of `papers`. The releases on a real dataset (`mechanisms.real_data`) and the faults are targets of their
own.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from audit.checks.base import Check

OWN_TARGETS = frozenset({"real_data"})
TOPICS = ("interactive",)
PAPERS = ("bassily2018", "berrett2019", "bousquet2022", "chaudhuri2011", "zhao2024")


def gather(
    path: list[str], package: str, left_out: frozenset[str] = frozenset(), topics: Iterable[str] = ()
) -> list[Check]:
    """Return the CHECKS of every module directly in a package, in the order of names, then those of its topics."""
    names = sorted(module.name for module in pkgutil.iter_modules(path) if not module.ispkg)
    wanted = [*(name for name in names if name not in left_out), *topics]
    modules = (importlib.import_module(f"{package}.{name}") for name in wanted)
    return [check for module in modules for check in getattr(module, "CHECKS", ())]


@cache
def gather_basic() -> list[Check]:
    """Return the checks of the modules directly in this package."""
    return gather(list(__path__), __name__, OWN_TARGETS)


@cache
def gather_all() -> list[Check]:
    """Return these, and the checks of all topics and papers."""
    return [
        *gather_basic(),
        *gather([], __name__, topics=TOPICS),
        *gather([], f"{__name__}.papers", topics=PAPERS),
    ]


def __getattr__(name: str) -> list[Check]:
    if name == "BASIC":
        return gather_basic()
    if name == "CHECKS":
        return gather_all()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
