"""The map in docs/design.md agrees with the tree, and pages name only files and modules that exist."""

import pkgutil
import re

from benchmarks import placement
from tests.meta.house import ROOT, headline, rooms_of_map
from tests.meta.test_architecture import ROOMS, module_name, room_of, rooms_imported, sources
from tests.offenders import for_each

PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")} - {ROOT / "CHANGELOG.md"})


def test_the_table_of_rooms_is_the_tree():
    arrows = {room: set() for room in ROOMS}
    for path in sources("audit"):
        if (room := room_of(module_name(path))) in arrows:
            arrows[room] |= rooms_imported(path)
    assert list(rooms_of_map()) == list(ROOMS)
    assert rooms_of_map() == arrows


def test_every_module_says_what_it_is():
    assert not {path for path in sources("audit") if path.read_text() and not headline(path)}


def named_in(text: str) -> tuple[set[str], set[str]]:
    """Return the paths and the dotted names of the project that a page sets in code style."""
    code = set(re.findall(r"`([^`\s]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    paths = {
        name for name in code if re.fullmatch(r"(audit|mechanisms|tests|benchmarks|wild|docs|examples)/[\w./-]*", name)
    }
    dotted = {name for name in code if re.fullmatch(r"(audit|mechanisms|benchmarks|wild)(\.\w+)+", name)}
    return paths, dotted


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module or an attribute of one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@for_each(PAGES)
def test_pages_name_what_exists(page):
    paths, dotted = named_in(page.read_text())
    assert not {path for path in paths if not (ROOT / path).exists()}
    assert not {name for name in dotted if not resolves(name)}


def test_names_are_found_in_pages():
    assert named_in("`audit/base/errors.py` and `audit.base.errors` but `x = 1`") == (
        {"audit/base/errors.py"},
        {"audit.base.errors"},
    )
    assert resolves("audit.base.errors.AuditError")
    assert not resolves("audit.base.errors.Nothing")


def test_the_map_lists_every_folder_of_a_room():
    listed = re.findall(r"^\| `(\w+/\w+)/` \| [^|]+ \|$", (ROOT / "docs" / "design.md").read_text(), re.MULTILINE)
    folders = {path.parent.relative_to(ROOT / "audit").as_posix() for path in (ROOT / "audit").glob("*/*/__init__.py")}
    assert folders
    assert sorted(listed) == sorted(folders)


def test_functions_are_drawn_for_a_reader_of_the_map():
    """The same for one seed, from every room, and without saying where they are."""
    every = placement.functions()
    assert {found.place.partition("/")[0] for found in every} == set(ROOMS)
    assert placement.drawn(1, 20) == placement.drawn(1, 20) != placement.drawn(2, 20)
    assert len(set(placement.drawn(1, 20))) == 20
    assert all(found.headline and (ROOT / "audit" / found.place).exists() for found in every)
