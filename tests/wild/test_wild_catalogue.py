"""The catalogue of real libraries is well-formed, and what it serves is what it audits; nothing is installed or run."""

from __future__ import annotations

import ast
import tomllib

import pytest

from audit import AddRemove, Group, Labeled, PrivacyClaim
from tests.offenders import for_each
from wild.__main__ import checks_in
from wild.audits import audits_of, checks_of
from wild.environments import CATALOGUE, environment_of, libraries
from wild.findings import findings_of

LIBRARIES = libraries()


def everything(library):
    """The checks of a library, those of its findings among them."""
    return checks_in(environment_of(library))


def claim_of(check):
    """The claim of a check; of one that searches parameters, at the simplest ones."""
    return check.claim if isinstance(check.claim, PrivacyClaim) else check.example.claim


@for_each(LIBRARIES)
def test_a_library_is_well_formed(library):
    checks = everything(library)
    assert checks
    for check in checks:
        assert check.mechanism.library == library
        assert claim_of(check).source, f"{check.name} must say where its claim is made"


@for_each(LIBRARIES)
def test_only_checks_of_findings_that_show_are_expected_to_fail(library):
    pin = environment_of(library).pin
    assert all(check.expected.value == "PASS" for check in audits_of(library).checks)
    for each in findings_of(library):
        assert {check.expected.value for check in each.checks_in(pin)} <= {"FAIL" if each.shows_in(pin) else "PASS"}


@for_each(LIBRARIES)
def test_what_is_served_is_audited(library):
    """A mechanism that no check calls would be one that nobody may know of yet."""
    called = {check.mechanism.name for check in everything(library)}
    assert called >= set(constant_keys(library))


def constant_keys(library):
    """The keys of the tables of mechanisms that are written as texts."""
    for path in (CATALOGUE / library).glob("served*.py"):
        for node in ast.parse(path.read_text()).body:
            named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("MECHANISMS", "RELEASES")
            if named and isinstance(node.value, ast.Dict):
                yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant))


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
pairs = ["{'X': [[0.5]], 'y': [1]}, {'X': [[0.5], [0.25]], 'y': [1, 0]}"]
"""


def test_a_table_of_checks_is_read_as_it_is_written():
    first, second = checks_of(tomllib.loads(TABLE), "mine")
    assert (first.name, first.mechanism.name, first.budget) == ("mine/sum, twice eps=2", "sum, twice", 20)
    assert (first.claim.epsilon, first.claim.relation, first.claim.source) == (2.0, Group(2, AddRemove()), "README")
    assert first.pairs == (([], [1.0]),)
    assert (first.floats, second.floats) == ("real", "audit")
    assert (second.mechanism.name, second.mechanism.library) == ("fit", "mine")
    assert isinstance(second.pairs[0][1], Labeled)
    with pytest.raises(KeyError, match="source"):
        checks_of({"check": [{"name": "mine/sum eps=1", "pairs": []}]}, "mine")


@for_each(sorted(CATALOGUE.rglob("serve*.py")))
def test_what_runs_in_the_environments_does_not_import_the_auditor(path):
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not {name.split(".")[0] for name in names} & {"audit", "wild", "mechanisms"}
