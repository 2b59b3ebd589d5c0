"""The house: imports go one way, without circles; the core knows no extension, and an extension the api alone."""

import ast
import functools
import graphlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from audit import plugins
from tests.offenders import for_each

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = ROOT / "audit" / "extensions"
FINDERS = {"plugins.py", "lazy.py"}  # they name modules that are imported when they are asked for
OUTSIDE = ("mechanisms", "benchmarks", "wild", "tests")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


@functools.cache
def imports(path: Path) -> set[str]:
    """The modules and names that a file imports, wherever it does, and modules of `audit` that a text names."""
    tree, found = ast.parse(path.read_text()), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where things come from"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    if path.name in FINDERS:
        return found
    return found | {text for text in texts(tree) if re.fullmatch(r"audit(\.\w+)+", text)}


def texts(tree: ast.AST) -> set[str]:
    """The text constants of a module: an import may hide in one, as in `import_module("audit.report")`."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def sources(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


CORE = [path for path in sources("audit") if not path.is_relative_to(EXTENSIONS)]


@for_each(sources("audit"))
def test_audit_never_imports_what_is_built_on_it(path):
    assert not {name for name in imports(path) if name.split(".")[0] in OUTSIDE}


@for_each(path for path in CORE if path.name not in FINDERS)
def test_the_core_names_no_extension(path):
    assert not [text for text in texts(ast.parse(path.read_text())) if "audit.extensions" in text and " " not in text]
    assert not {name for name in imports(path) if f"{name}.".startswith("audit.extensions.")}


PUBLIC_OF_THE_CORE = re.findall(r"^from audit\.(?!extensions)[\w.]+ import (\w+) as", plugins.stub(), re.MULTILINE)


@for_each(plugins.list_folders())
def test_an_extension_imports_the_api_public_names_of_the_core_and_itself(name):
    allowed = rf"audit(\.api(\.\w+)?|\.extensions|\.({'|'.join(PUBLIC_OF_THE_CORE)}))?"
    for path in sorted((EXTENSIONS / name).rglob("*.py")):
        known = {text for text in imports(path) if text.split(".")[0] == "audit"}
        own = {text for text in known if f"{text}.".startswith(f"audit.extensions.{name}.")}
        assert not {text for text in known - own if not re.fullmatch(allowed, text)}, path


@pytest.mark.parametrize("package", ["audit", "mechanisms"])
def test_no_import_circles(package):
    modules = {module_name(path): path for path in sources(package)}
    graph = {name: loaded_by(name, imports(path), modules.keys()) for name, path in modules.items()}
    graphlib.TopologicalSorter(graph).prepare()  # an error that shows the circle


def loaded_by(name: str, imported: Iterable[str], modules: Collection[str]) -> set[str]:
    """The modules that a module needs: those it imports, and the packages around them that it is not part of."""
    around = {other.rsplit(".", depth)[0] for other in imported for depth in range(other.count("."))}
    return {other for other in around if other in modules and not f"{name}.".startswith(f"{other}.")}


def test_the_stub_lists_the_public_names_of_the_core_and_of_each_extension():
    """`python -m audit.plugins > audit/__init__.pyi` writes it."""
    assert (ROOT / "audit" / "__init__.pyi").read_text() == plugins.stub()
