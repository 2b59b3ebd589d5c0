"""The documentation of every exported name describes its parameters, and its examples run."""

import doctest
import enum
import inspect
from operator import attrgetter

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString

import audit
from tests.offenders import for_each

FLAT = [name for name in audit.__all__ if not inspect.ismodule(getattr(audit, name))]
MODULES = sorted(set(audit.__all__) - set(FLAT))  # their names are public as well: `training.Recorder`
NAMES = sorted([*FLAT, *(f"{module}.{name}" for module in MODULES for name in getattr(audit, module).__all__)])
named = {name: attrgetter(name)(audit) for name in NAMES}
MADE = (audit.AuditError, audit.Result, audit.Refusal, audit.EpsilonInterval, enum.Enum)  # a caller makes none of them


def parameters_in(value: object) -> set[str]:
    """Return the parameters that the docstring of a class or a function describes."""
    page = NumpyDocString(inspect.getdoc(value) or "")
    return {part.strip(" *") for entry in page["Parameters"] for part in entry.name.split(",")}


@for_each([name for name in NAMES if not (inspect.isclass(named[name]) and issubclass(named[name], MADE))])
def test_parameters_are_described(name):
    value = named[name]
    taken = set(inspect.signature(value).parameters) - {"self"}
    ours = [base for base in getattr(value, "__mro__", ())[1:] if base.__module__.startswith("audit.")]
    inherited = {part for base in ours for part in parameters_in(base)}
    assert taken - inherited <= parameters_in(value) <= taken


@pytest.mark.parametrize("name", NAMES)
def test_examples(name):
    found = doctest.DocTestFinder(recurse=False).find(named[name], name, globs={"audit": audit, "np": np})
    printed = []
    failed = sum(doctest.DocTestRunner().run(example, out=printed.append).failed for example in found)
    assert sum(len(example.examples) for example in found) > 0
    assert not failed, "".join(printed)
