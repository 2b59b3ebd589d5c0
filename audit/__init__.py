"""Audit differential privacy: does the code that runs keep the claim made about it, with a stated error probability?

Importing the package costs next to nothing. The public names are those of `__init__.pyi`, which type checkers read.
Each is imported from its module when it is first used.
"""

from pathlib import Path
from typing import Any

from audit.lazy import attach as _attach

_attribute, __dir__, __all__ = _attach(Path(__file__).with_suffix(".pyi"))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dp-audit")
    return _attribute(name)
