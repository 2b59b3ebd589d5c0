"""Do the workers run the code that is here? Evidence from other code would be evidence about something else."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.base.errors import InvalidArgument
from audit.subjects.workers.executor import Executor

_SHOWN = 3  # differences that the message names


def require_same_code(
    executor: Executor, checks: Iterable[Any], targets: Iterable[str], versions: Callable[[], Mapping[str, str]]
) -> None:
    """Compare every worker there is with this process: Python, packages, the files of this package and of the targets.

    Parameters
    ----------
    executor : Executor
    checks : iterable of checks
        The packages that their mechanisms are from are compared as well.
    targets : iterable of str
        Modules whose packages are compared.
    versions : callable
        Gives the packages that evidence depends on, with their versions.

    Raises
    ------
    InvalidArgument
        Naming a worker and what differs there.
    """
    homes = [getattr(getattr(check, "mechanism", check), "__module__", None) or __name__ for check in checks]
    tops = {name.partition(".")[0] for name in (*homes, *targets, __name__)} - {"__main__"}
    names = sorted(name for name, module in sys.modules.items() if name.partition(".")[0] in tops and _file(module))
    here = code_of(names, versions)
    for worker, there in executor.everywhere(code_of, names, versions).items():
        differences = [f"{name} ({here.get(name)} here)" for name in here if there.get(name) != here.get(name)]
        if differences:
            more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
            raise InvalidArgument(f"the worker {worker} has other code: {', '.join(differences[:_SHOWN])}{more}")


def code_of(names: Iterable[str], versions: Callable[[], Mapping[str, str]]) -> dict[str, str]:
    """What is installed where this is called: versions, and a digest of the file of each module named."""
    return {"Python": platform.python_version(), **versions(), **{name: _digest(name) for name in names}}


def _digest(name: str) -> str:
    try:
        found = sys.modules.get(name) or importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return "missing"
    file = _file(found)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] if file else "missing"


def _file(found: Any) -> str | None:
    """The source file of a module or of its specification."""
    place = getattr(found, "__file__", None) or getattr(found, "origin", None)
    return place if isinstance(place, str) and place.endswith(".py") and Path(place).exists() else None
