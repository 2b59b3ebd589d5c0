"""The catalogue of real libraries: well-formed, every expected FAIL explained; nothing is installed or run."""

from __future__ import annotations

import ast
import json
import re
import tomllib

import pytest

from audit import AddRemove, Group, Labeled, PrecisionCheck
from tests.offenders import for_each
from wild.audited import jobs_of, withheld_findings
from wild.audits import audits_of, checks_of
from wild.environments import CATALOGUE, libraries, pin_of
from wild.findings import all_findings
from wild.mechanism import Served

LIBRARIES = libraries()


def claim_of(check):
    """The claim of a check; of one that searches parameters, at the simplest ones."""
    return check.claim if check.parameters is None else check.example.claim


def test_at_least_40_mechanisms_are_audited():
    mechanisms = {
        (each.mechanism.library, each.mechanism.name) for library in LIBRARIES for each in audits_of(library).checks
    }
    assert len(mechanisms) >= 40


def test_names_are_unique_over_all_libraries():
    names = [check.name for library in LIBRARIES for job in jobs_of(library) for check in job.checks]
    assert len(names) == len(set(names))


@for_each(LIBRARIES)
def test_a_library_is_well_formed(library):
    checks = [check for job in jobs_of(library) for check in job.checks]
    assert checks or withheld_findings(all_findings())["releases"][library]  # where the drafts are not there
    assert pin_of(library)
    for check in checks:
        mechanism = check.mechanism
        assert isinstance(mechanism, Served) or issubclass(mechanism, Served)  # a class, where parameters are searched
        assert mechanism.library == library
        assert claim_of(check).source, f"{check.name} must say where its claim is made"


@for_each(LIBRARIES)
def test_only_checks_of_findings_are_expected_to_fail(library):
    assert all(check.expected.value == "PASS" for check in audits_of(library).checks)


TABLE = """
[default]
budget = 20
relation = "add/remove of 2"

[[check]]
name = "mine/sum, twice eps=2"
epsilon = 2.0
source = "README"
pairs = ["[], [1.0]"]

[[check]]
name = "mine/fit bits eps=1"
served = "fit"
source = "README"
bits = true
query = "sum"
pairs = ["{'X': [[0.5]], 'y': [1]}, {'X': [[0.5], [0.25]], 'y': [1, 0]}"]
"""


def test_a_table_of_checks_is_read_as_it_is_written():
    first, second = checks_of(tomllib.loads(TABLE), "mine")
    assert (first.name, first.mechanism.name, first.budget) == ("mine/sum, twice eps=2", "sum, twice", 20)
    assert (first.claim.epsilon, first.claim.relation, first.claim.source) == (2.0, Group(2, AddRemove()), "README")
    assert first.pairs == (([], [1.0]),)
    assert isinstance(second, PrecisionCheck)
    assert (second.query, second.mechanism.name, second.mechanism.library) == (sum, "fit", "mine")
    assert isinstance(second.pairs[0][1], Labeled)
    with pytest.raises(KeyError, match="source"):
        checks_of({"check": [{"name": "mine/sum eps=1", "pairs": []}]}, "mine")


def test_another_release_takes_the_checks_that_it_names():
    checks, _, gaps, sibling = audits_of("opendp_0_15")
    assert sibling.of == "opendp"
    assert {check.name.partition("/")[0] for check in checks} == {"opendp 0.15"}
    assert {check.mechanism.library for check in checks} == {"opendp_0_15"}
    assert all("OpenDP 0.15.1" in check.claim.source for check in checks)
    assert gaps[0].startswith(f"All but {len(checks)} of the checks")


@for_each(LIBRARIES)
def test_requirements_are_exact_pins(library):
    lines = (CATALOGUE / library / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line.strip() and not line.startswith(("#", "-"))]
    assert wanted
    assert all("==" in line for line in wanted)


def test_dependencies_in_javascript_are_exact_pins():
    paths = sorted(CATALOGUE.glob("*/package.json"))
    assert paths
    for path in paths:
        asked = json.loads(path.read_text())["dependencies"]
        assert all(re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version) for version in asked.values())


@for_each(sorted(CATALOGUE.rglob("serve*.py")))
def test_what_runs_in_the_environments_does_not_import_the_auditor(path):
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not {name.split(".")[0] for name in names} & {"audit", "wild", "mechanisms"}


@for_each(sorted(CATALOGUE.rglob("*.py")))
def test_files_are_one_topic_long(path):
    assert len(path.read_text().splitlines()) <= 400
