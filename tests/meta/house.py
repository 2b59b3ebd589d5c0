"""Read the map in docs/design.md and the tree that it describes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design.md"


def rooms_of_map() -> dict[str, set[str]]:
    """Return each room in the order of the page's table, with the rooms that it may import from."""
    rows = re.findall(r"^\| `(\w+)/` \| .+? \| (.*?) \|$", PAGE.read_text(), re.MULTILINE)
    return {room: set(re.findall(r"\w+", imported)) - {"nothing"} for room, imported in rows}


def headline(path: Path) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())
