"""`wild` imports the public names of `audit` alone, and nothing but its tests imports `wild`."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from tests.offenders import for_each

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ("audit", "audit.extensions.adapters", "audit.extensions.conformance", "audit.laws")  # docs/reference.md
FOLDERS = ("audit", "benchmarks", "docs", "examples", "mechanisms", "tests", ".ci")


def imports(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the modules that a text imports, with each name that it takes from one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def private(text: str) -> list[str]:
    """Return what a text takes from the auditor that is not public."""
    found = [(module, name) for module, name in imports(text) if module.split(".")[0] == "audit"]
    return [
        f"{module}.{name}" for module, name in found
        if module not in PUBLIC or (name is not None and name not in importlib.import_module(module).__all__)
    ]  # fmt: skip


@for_each(sorted((ROOT / "wild").rglob("*.py")))
def test_wild_takes_public_names_only(path):
    assert private(path.read_text(encoding="utf-8")) == []


@for_each([path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path.parent.name != "wild"])
def test_nothing_else_imports_wild(path):
    assert not re.search(r"^ *(?:from|import) wild\b", path.read_text(encoding="utf-8"), re.MULTILINE)
