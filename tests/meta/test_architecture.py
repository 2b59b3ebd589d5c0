"""The house: imports go one way, without circles, and the harness never knows the mechanisms."""

import ast
import functools
import re
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from tests.offenders import for_each

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (  # lowest first: a module may import its own room and those before it
    "base",
    "laws",
    "claims",
    "subjects",
    "enumeration",
    "adapters",
    "game",
    "checks",
    "training",
    "report",
    "faces",
)
MOST_ARROWS = 45  # between rooms; one arrow where any file of one room imports from another


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


@functools.cache
def imports(path: Path, top_only: bool) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_only else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where things come from"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found | ({text for text in texts(tree) if re.fullmatch(r"audit(\.\w+)+", text)} if not top_only else set())


def texts(tree: ast.AST) -> set[str]:
    """The text constants of a module: an import may hide in one, as in `import_module("audit.report")`."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def sources(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


def room_of(name: str) -> str:
    """The room of a module of `audit`; the package itself stands above all rooms."""
    room = name.partition(".")[2].partition(".")[0]
    return room if room in ROOMS else "audit"


def rooms_imported(path: Path) -> set[str]:
    """The other rooms that a file imports from."""
    here = room_of(module_name(path))
    named = {name.split(".")[1] for name in imports(path, top_only=False) if name.startswith("audit.")}
    return {room for room in named if room in ROOMS and room != here}


def test_audit_never_imports_mechanisms():
    for path in sources("audit"):
        guilty = {name for name in imports(path, top_only=False) if name.split(".")[0] in ("mechanisms", "benchmarks")}
        assert not guilty, f"{path} imports {guilty}"


def test_every_file_has_a_room():
    assert len(ROOMS) <= 11
    entries = {path for path in (ROOT / "audit").iterdir() if path.name != "__pycache__"}
    assert {path.name for path in entries if path.is_dir()} == set(ROOMS)
    assert {path.name for path in entries if path.is_file()} == {
        "__init__.py",
        "__init__.pyi",
        "conformance.py",
        "py.typed",
    }


@for_each(sources("audit"))
def test_imports_go_down(path):
    here = room_of(module_name(path))
    if here != "audit":
        below = set(ROOMS[: ROOMS.index(here)])
        assert rooms_imported(path) <= below, f"{module_name(path)} imports from a room above its own"


def test_few_arrows_between_rooms():
    arrows = {(room_of(module_name(path)), room) for path in sources("audit") for room in rooms_imported(path)}
    assert 0 < len({arrow for arrow in arrows if arrow[0] != "audit"}) <= MOST_ARROWS


@pytest.mark.parametrize("package", ["audit", "mechanisms"])
def test_no_import_circles(package):
    modules = {module_name(path): path for path in sources(package)}
    graph = {name: loaded_by(name, imports(path, top_only=False), modules.keys()) for name, path in modules.items()}
    assert circle_in(graph) is None


def loaded_by(name: str, imported: Iterable[str], modules: Collection[str]) -> set[str]:
    """The modules that a module needs: those it imports, and the packages around them that it is not part of."""
    around = {other.rsplit(".", depth)[0] for other in imported for depth in range(other.count("."))}
    return {other for other in around if other in modules and not f"{name}.".startswith(f"{other}.")}


def circle_in(graph: dict[str, set[str]]) -> list[str] | None:
    """A circle of the graph, first node repeated at its end; None when there is none."""
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str] | None:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return None
        for other in sorted(graph[name]):
            if found := visit(other, [*trail, name]):
                return found
        done.add(name)
        return None

    return next((found for name in sorted(graph) if (found := visit(name, []))), None)


def test_the_circle_finder_finds_circles():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def test_no_room_is_called_utils():
    for package in ("audit", "mechanisms"):
        for path in sources(package):
            assert not {"utils", "helpers", "common", "misc"} & set(path.with_suffix("").parts)


def test_files_are_one_topic_long():
    for package in ("audit", "mechanisms"):
        for path in sources(package):
            assert len(path.read_text().splitlines()) <= 800, path


def test_a_package_is_needed_by_whoever_imports_a_part_of_it():
    assert loaded_by("a.x", {"a.b.c"}, {"a.b", "a.b.c"}) == {"a.b", "a.b.c"}
    assert loaded_by("a.b.d", {"a.b.c"}, {"a.b", "a.b.c"}) == {"a.b.c"}
