"""The house: imports go one way, without circles, and the harness never knows the mechanisms."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = [  # lowest first; a module may import its own layer and those before it
    {"audit.errors", "audit.arguments", "audit.targets"},
    {"audit.relations", "audit.claims", "audit.verdict", "audit.contract"},
    {"audit.executors"},
    {"audit.sampling", "audit.exact"},
    {"audit.checks", "audit.neighbours", "audit.claim_kinds", "audit.describe"},
    {"audit.adapters"},
    {"audit.empirical"},
    {"audit.evidence", "audit.search", "audit.utility", "audit.randomness"},
    {"audit.judge", "audit.statement"},
    {"audit.record", "audit.curve"},
    {"audit.result"},
    {"audit.examination"},
    {"audit.precision"},
    {"audit.kinds"},
    {"audit.isolation"},
    {"audit.privacy", "audit.theorems", "audit.report"},
    {"audit.checkpoint"},
    {"audit.suite"},
    {"audit.compare"},
    {"audit.cli", "audit.pytest_plugin", "audit.__init__"},
]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


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
    return found


def sources(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


def layer(name: str) -> int:
    room = ".".join(name.split(".")[:2])
    places = [index for index, rooms in enumerate(ORDER) if room in rooms]
    assert places, f"{room} has no place in the order of the house"
    return places[0]


def test_audit_never_imports_mechanisms():
    for path in sources("audit"):
        guilty = {name for name in imports(path, top_only=False) if name.split(".")[0] in ("mechanisms", "benchmarks")}
        assert not guilty, f"{path} imports {guilty}"


@pytest.mark.parametrize("path", sources("audit"), ids=module_name)
def test_imports_go_one_way(path):
    here = module_name(path)
    for name in imports(path, top_only=False):
        if name.startswith("audit.") and (ROOT / Path(*name.split("."))).with_suffix(".py").exists():
            assert layer(name) <= layer(here), f"{here} imports {name}, which stands above it"


@pytest.mark.parametrize("package", ["audit", "mechanisms"])
def test_no_import_circles(package):
    modules = {module_name(path): path for path in sources(package)}
    graph = {
        name: {other for other in imports(path, top_only=False) if other in modules and other != name}
        for name, path in modules.items()
    }
    assert circle_in(graph) is None


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
            assert len(path.read_text().splitlines()) <= 400, path
