"""The files around the project: workflows, hooks, citation. What they run and name exists."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def steps(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert jobs
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_commands_that_exist(path):
    commands = [step["run"] for step in steps(path) if "run" in step]
    assert commands
    for command in commands:
        tool, *arguments = command.split()
        assert tool == "make", command
        assert set(arguments) <= TARGETS, command


def test_every_supported_python_is_tested():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    versions = jobs["test"]["strategy"]["matrix"]["python-version"]
    assert versions == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_contributing_names_targets_and_files_that_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = {target for line in re.findall(r"make ([\w -]+?)\s*[`#]", page) for target in line.split()}
    assert named
    assert named <= TARGETS
    for path in re.findall(r"`((?:docs|tests|audit|mechanisms|examples|wild|reports)/[\w./-]*)`", page):
        assert (ROOT / path).exists(), path


def test_commands_that_pages_name_are_there():
    pages = [path for folder in (".", "docs", "wild", "tests") for path in (ROOT / folder).glob("*.md")]
    named = {
        name for page in pages for name in re.findall(r"python -m ((?:wild|benchmarks)(?:\.\w+)*)", page.read_text())
    }
    assert len(named) > 20
    places = {name: ROOT / name.replace(".", "/") for name in named}
    assert not {name for name, at in places.items() if not (at.is_dir() or at.with_suffix(".py").is_file())}


MODULES = {"dp-accounting": "dp_accounting"}  # where they differ from the distribution


def test_what_is_required_is_imported():
    """Some file of the package imports each distribution that it requires."""
    texts = [path.read_text() for path in (ROOT / "audit").rglob("*.py")]
    imported = {name for text in texts for name in re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)}
    required = [re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]]
    assert not [name for name in required if MODULES.get(name, name) not in imported]
