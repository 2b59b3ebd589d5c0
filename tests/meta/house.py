"""Read the map in docs/design.md and the tree that it describes; run as a program, write the files of the map anew.

`python -m tests.meta.house` replaces the lists between the markers by what the first lines of the modules say.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- files: written by python -m tests.meta.house -->\n", "<!-- end of files -->"


def rooms_of_map() -> dict[str, set[str]]:
    """Return each room in the order of the page's table, with the rooms that it may import from."""
    rows = re.findall(r"^\| `(\w+)/` \| .+? \| (.*?) \|$", PAGE.read_text(), re.MULTILINE)
    return {room: set(re.findall(r"\w+", imported)) - {"nothing"} for room, imported in rows}


def headline(path: Path) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def files_of_room(room: str) -> str:
    """Return the list of a room's modules, a line per module."""
    folder = ROOT / "audit" / room
    paths = sorted(folder.rglob("*.py"), key=lambda path: (path.parent != folder, path.as_posix()))
    rows = [(path.relative_to(folder).as_posix(), headline(path)) for path in paths]
    return "".join(f"* `{name}`: {text}\n" for name, text in rows if text)


def files_of_tree() -> str:
    """Return the lists of all rooms, as they stand on the page."""
    return "".join(f"\n### {room}\n\n{files_of_room(room)}" for room in rooms_of_map()) + "\n"


def files_of_map() -> str:
    """Return the lists of files as the page shows them."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().replace(BEGIN + files_of_map() + END, BEGIN + files_of_tree() + END))
