"""One interface: over all exported signatures a word has one meaning, one default, and is required where it must be."""

import dataclasses
import inspect
import math
import re
import typing
from enum import Enum
from pathlib import Path

import pytest
from hypothesis.strategies import SearchStrategy
from numpydoc.docscrape import NumpyDocString

import audit
from audit import api, plugins
from tests.offenders import for_each

PUBLIC = {name: getattr(audit, name) for name in audit.__all__ if not inspect.ismodule(getattr(audit, name))}
CALLABLES = {name: thing for name, thing in PUBLIC.items() if not issubclass(type(thing), type(Enum))}
CALLABLES = {name: thing for name, thing in CALLABLES.items() if thing is not audit.AuditError}
CHECKS = {kind.replace("-", "_"): plugins.find_check(kind) for kind in plugins.list_keys("kinds")}
UNITS = re.compile(r"outputs|losses|trials", re.IGNORECASE)
PER_PAIR = "Outputs per dataset of a pair, training and certifying together"
AFTER_LOSSES = {"losses", "sizes", "exponent", "bound"}  # they have defaults, since losses may be left out


def parameters(name):
    return inspect.signature(CALLABLES[name]).parameters


def documented(name):
    """The parameters that a docstring describes, each with its text."""
    listed = NumpyDocString(inspect.getdoc(CALLABLES[name]))["Parameters"]
    return {word.strip(): " ".join(part.desc) for part in listed for word in part.name.split(",")}


def admits_none(annotation):
    return annotation is None or re.search(r"\b(?:None|Optional)\b", str(annotation)) is not None


@for_each(CALLABLES)
def test_every_parameter_is_named(name):
    kinds = {parameter.kind for parameter in parameters(name).values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


@pytest.mark.parametrize("kind", CHECKS)
def test_a_wrong_word_names_the_function_that_was_called(kind):
    """What a function takes stands in its own text: no signature is written afterwards, and no class answers for it."""
    function = CALLABLES[f"check_{kind}"]
    assert not hasattr(function, "__signature__")
    with pytest.raises(TypeError, match=rf"^check_{kind}\(\) got an unexpected keyword argument 'samples'"):
        function(samples=100)


@for_each(CALLABLES)
def test_what_is_required_has_no_default(name):
    """No NaN, no None and no leftover of a class stands for an argument that must be given."""
    for word, parameter in parameters(name).items():
        default = parameter.default
        if default is inspect.Parameter.empty:
            assert not admits_none(parameter.annotation), word
        elif default is None:
            assert admits_none(parameter.annotation), word
        elif type(default).__name__ != "_HAS_DEFAULT_FACTORY_CLASS":
            assert isinstance(default, (bool, int, float, str, tuple, Enum)), word
            assert not (isinstance(default, float) and math.isnan(default)), word


@pytest.mark.parametrize("word", ["workers", "significance", "seed", "expected", "name", "source", "statement"])
def test_a_word_has_one_default(word):
    """A check that is part of a run may leave a setting to the run; where a function has a default, it is the same."""
    functions = [name for name in CALLABLES if inspect.isfunction(CALLABLES[name]) and word in parameters(name)]
    defaults = {name: parameters(name)[word].default for name in functions}
    given = {name: default for name, default in defaults.items() if default is not inspect.Parameter.empty}
    assert given or word in ("source", "statement")  # which only functions of extensions take
    assert len(set(given.values())) <= 1, given


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


@pytest.mark.parametrize("kind", CHECKS)
def test_every_check_says_its_claim_by_the_same_word(kind):
    hints = typing.get_type_hints(CHECKS[kind], localns={"SearchStrategy": SearchStrategy})
    claims = {word for word, hint in hints.items() if getattr(hint, "__name__", "").endswith("Claim")}
    assert claims <= {"claim"}
    assert "claim" in hints or hasattr(CHECKS[kind], "claim")


BUDGETED = [name for name in CALLABLES if "budget" in parameters(name) and not name.endswith("Result")]


def unit_of(name):
    """The description of a budget, where it stands: a docstring may name the check that describes it."""
    text = documented(name).get("budget", "")
    other = re.match(r"(?:See|As for) `(?:audit\.)?(\w+)`", text)
    return unit_of(other[1]) if other else text


@for_each(BUDGETED)
def test_a_budget_states_its_unit(name):
    text = unit_of(name)
    assert UNITS.search(text)
    if name in ("check_privacy", "check_precision", "PrivacyCheck"):
        assert text.startswith(PER_PAIR)


def test_a_name_for_extensions_does_not_become_a_name_of_the_package():
    """Two packages of lazy names, one below the other: what is asked of the api is kept in the api."""
    assert api.RatioTable is not None
    assert "RatioTable" in vars(api)
    assert "RatioTable" not in vars(audit)


def test_no_public_name_is_that_of_a_file_beside_it():
    """Whoever imports the file first gives its name to the package, where the public one would be."""
    stubs = {stub.parent: stub.read_text() for stub in Path(audit.__file__).parent.rglob("__init__.pyi")}
    names = [(folder, name) for folder, text in stubs.items() for name in re.findall(r" as (\w+)\n", text)]
    assert len(names) > 50
    assert not [(folder, name) for folder, name in names if (folder / f"{name}.py").exists()]
