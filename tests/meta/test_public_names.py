"""Every exported name is documented in numpydoc form, and its examples run."""

import doctest
import enum
import inspect
from collections.abc import Iterable
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
TOOLS = {  # these carry or hold; no theorem is behind them
    "AuditError", "CanaryResult", "Comparison", "EpsilonInterval", "EstimatorResult", "Implementation",
    "InteractiveResult", "Labeled", "PrivacyResult", "Refusal", "Report",
    "Result", "SubjectFailed", "Verdict",
    "load_certificate", "per_call", "run", "verify",
    "training.Recorder",
}  # fmt: skip
NOT_CALLED = {  # returned or caught, not called
    "AuditError", "CanaryResult", "EpsilonInterval", "EstimatorResult", "InteractiveResult",
    "PrivacyResult",
    "Refusal", "Result", "SubjectFailed", "Verdict",
}  # fmt: skip
CHECKS_NOTHING = {"Implementation", "Report"}  # `Comparison` and `run` have checked what these are given


def takes(value: object) -> set[str]:
    """Return the names of the parameters that a caller gives."""
    if inspect.isclass(value) and issubclass(value, (enum.Enum, Exception)):
        return set()
    return set(inspect.signature(value).parameters) - {"self"}


def required(name: str, value: object) -> Iterable[str]:
    """Yield the sections that the documentation of a name needs."""
    yield "Examples"
    if name not in TOOLS:
        yield "References"
    if name not in NOT_CALLED and takes(value):
        yield "Parameters"
    if name not in NOT_CALLED | CHECKS_NOTHING and takes(value):
        yield "Raises"
    if inspect.isfunction(value):
        yield "Returns"


@for_each(NAMES)
def test_sections(name):
    value = named[name]
    page = NumpyDocString(inspect.getdoc(value))
    assert not [section for section in required(name, value) if not page[section]]
    described = {part.strip(" *") for entry in page["Parameters"] for part in entry.name.split(",")}
    inherited = {part for base in getattr(value, "__mro__", ())[1:] for part in inherited_parameters(base)}
    if name not in NOT_CALLED:
        assert takes(value) - inherited <= described <= takes(value)


def inherited_parameters(base: type) -> set[str]:
    """Return the parameters that a base class documents for its subclasses."""
    if not base.__module__.startswith("audit."):
        return set()
    page = NumpyDocString(inspect.getdoc(base) or "")
    return {part.strip() for entry in page["Parameters"] for part in entry.name.split(",")}


@pytest.mark.parametrize("name", NAMES)
def test_examples(name):
    value = named[name]
    found = doctest.DocTestFinder(recurse=False).find(value, name, globs={"audit": audit, "np": np})
    printed = []
    failed = sum(doctest.DocTestRunner().run(example, out=printed.append).failed for example in found)
    assert sum(len(example.examples) for example in found) > 0
    assert not failed, "".join(printed)


@for_each(NAMES)
def test_public_members_are_documented(name):
    value = named[name]
    if inspect.isclass(value):
        own = {key: member for key, member in vars(value).items() if not key.startswith("_")}
        silent = [
            key
            for key, member in own.items()
            if (inspect.isfunction(member) or isinstance(member, property)) and not inspect.getdoc(member)
        ]
        assert not silent
