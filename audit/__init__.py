"""Audit differential privacy: does the code that runs keep the claim made about it, with a stated error probability?

Importing the package costs next to nothing. The public names are those of `__init__.pyi`, which type checkers read; the
kinds of checks come from their list, `report/kinds.py`. Each name is imported from its module when it is first used.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import lazy_loader

from audit.base import notebook as _notebook

_HERE = Path(__file__).parent


def _exports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that a file passes on: `from module import name as name`."""
    for part in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(part, ast.ImportFrom) and part.module:
            module = part.module.removeprefix("audit.")
            for alias in part.names:
                if alias.name == "*":
                    yield from _exports(_HERE.joinpath(*module.split(".")).with_suffix(".py"))
                elif alias.name == alias.asname:
                    yield module, alias.name


_modules: dict[str, list[str]] = {}
for _module, _name in _exports(Path(__file__).with_suffix(".pyi")):
    _modules.setdefault(_module, []).append(_name)
_attribute, __dir__, __all__ = lazy_loader.attach(__name__, {"conformance", "training"}, _modules)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dp-audit")
    return _attribute(name)


def _html_of(record: Mapping[str, Any]) -> str:
    from audit.report.renderers import check_fragment

    return check_fragment(record)


_notebook.html_of = _html_of
