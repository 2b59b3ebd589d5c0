"""One interface: over all exported signatures a word has one meaning, one default, and is required where it must be."""

import dataclasses
import inspect
import re
from enum import Enum
from pathlib import Path

import pytest

import audit
from audit import api, plugins

PUBLIC = {name: getattr(audit, name) for name in audit.__all__ if not inspect.ismodule(getattr(audit, name))}
CALLABLES = {name: thing for name, thing in PUBLIC.items() if not issubclass(type(thing), type(Enum))}
CALLABLES = {name: thing for name, thing in CALLABLES.items() if thing is not audit.AuditError}
CHECKS = {kind.replace("-", "_"): plugins.find_check(kind) for kind in plugins.list_keys("kinds")}
AFTER_LOSSES = {"losses", "sizes", "exponent", "bound"}  # they have defaults, since losses may be left out


def parameters(name):
    return inspect.signature(CALLABLES[name]).parameters


@pytest.mark.parametrize("kind", CHECKS)
def test_a_check_and_its_function_agree(kind):
    """The fields of a check are the parameters of its function, with the same defaults."""
    fields = {field.name: field for field in dataclasses.fields(CHECKS[kind])}
    function = dict(parameters(f"check_{kind}"))
    own = {"name", "budget", "timeout"}  # a run gives what a check leaves out
    own |= AFTER_LOSSES if "evaluator" in function else set()
    assert set(function) - set(fields) <= {"significance", "confirmation", "seed", "workers"}
    for word in set(function) & set(fields) - own:
        default = function[word].default
        if default is not inspect.Parameter.empty:
            assert default == fields[word].default, word


@pytest.mark.parametrize("name", sorted(CALLABLES.keys() - {"Refusal", "SubjectFailed"}))
def test_a_wrong_keyword_is_named_with_those_that_there_are(name):
    with pytest.raises(TypeError, match=f"`{name}` has no argument `epsilonn`.* it takes "):
        CALLABLES[name](epsilonn=1.0)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda: audit.PrivacyClaim(eps=1), "epsilon"),
        (lambda: audit.RenyiClaim(ordr=8, epsilon=4), "order"),
        (lambda: audit.check_privacy(None, clam=1), "claim"),
        (lambda: audit.PrivacyCheck(name="sum", mecanism=None), "mechanism"),
    ],
)
def test_the_near_right_keyword_is_named(call, near):
    with pytest.raises(audit.AuditError, match=f": write {near}=...;"):
        call()


def test_the_fixture_names_a_wrong_keyword_with_its_method(dp_audit):
    """Whoever else asked for the function before, under a name of its own."""
    assert audit.check_privacy is not None
    with pytest.raises(audit.AuditError, match=r"`dp_audit\.privacy` has no argument `clam`: write claim=...;"):
        dp_audit.privacy(None, clam=1)


def test_a_name_for_extensions_does_not_become_a_name_of_the_package():
    """Two packages of lazy names, one below the other: what is asked of the api is kept in the api."""
    assert api.StatedLaw is not None
    assert "StatedLaw" in vars(api)
    assert "StatedLaw" not in vars(audit)


def test_no_public_name_is_that_of_a_file_beside_it():
    """Whoever imports the file first gives its name to the package, where the public one would be."""
    stubs = {stub.parent: stub.read_text() for stub in Path(audit.__file__).parent.rglob("__init__.pyi")}
    names = [(folder, name) for folder, text in stubs.items() for name in re.findall(r" as (\w+)\n", text)]
    assert len(names) > 50
    assert not [(folder, name) for folder, name in names if (folder / f"{name}.py").exists()]
