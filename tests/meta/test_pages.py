"""Pages name only files, modules, tests and commands that exist, and workflows run such commands."""

import ast
import pkgutil
import re
from pathlib import Path

import pytest

from tests.offenders import for_each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")} - {ROOT / "CHANGELOG.md"})


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
    text = page.read_text()
    paths, dotted = named_in(text)
    assert not {path for path in paths if not (ROOT / path).exists()}
    assert not {name for name in dotted if not resolves(name)}
    commands = {name.replace(".", "/") for name in re.findall(r"python -m ((?:wild|benchmarks)(?:\.\w+)*)", text)}
    assert not {name for name in commands if not ((ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file())}


GUARANTEES = (ROOT / "tests" / "README.md").read_text().partition("\n## Guarantees")[2].partition("\n## ")[0]


@for_each(re.findall(r"^\| (?!guarantee |---)(.*) \|$", GUARANTEES, re.MULTILINE))
def test_a_guarantee_names_tests_that_exist(row):
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", row.rpartition(" | ")[2])
    assert named
    for path, name in named:
        tree = ast.parse((ROOT / "tests" / path).read_text())
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


@for_each(sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_a_workflow_runs_commands_that_exist(path):
    yaml = pytest.importorskip("yaml")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    commands = [step["run"].split() for job in jobs for step in job["steps"] if "run" in step]
    assert commands
    assert not [command for command in commands if command[0] != "make" or not set(command[1:]) <= targets]
