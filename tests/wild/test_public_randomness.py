"""Clients of local protocols are made once: what a client draws when it is made is public, and the same for all users.

A client that was made in each call drew its public permutation anew, and its reports looked dependent within a call.
The libraries are not installed here: stubs stand in for them, which note of which objects a method is called.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import sys
from contextlib import suppress
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from audit.extensions.conformance import Parameters
from wild.environments import CATALOGUE, SERVED

LOCAL = ("ldp_toolbox", "multi_freq_ldpy", "pure_ldp")
STUBBED = ("ldp_toolbox", "multi_freq_ldpy", "pure_ldp", "xxhash")


class Stub:
    """An object of a library: its methods answer with two numbers, and note that it was asked."""

    asked: ClassVar[list[Stub]] = []
    is_noted = True

    def __init__(self, *_, **__):
        """Return an object with a privacy budget."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def method(*_, **__):
            Stub.asked.extend([self] * self.is_noted)
            return [1.0, 0.0]

        return method

    def __iter__(self):
        return iter((1.0, 0.0))


class StubModule(ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        said = {"__doc__": "Return a report with a privacy budget.", "is_noted": self.__name__ != "xxhash"}
        self.__dict__[name] = type(name, (Stub,), said)
        return self.__dict__[name]


class StubFinder:
    """Finds every module of the stubbed libraries."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        known = name.split(".")[0] in STUBBED
        return importlib.util.spec_from_loader(name, StubFinder, is_package=True) if known else None

    @staticmethod
    def create_module(spec):
        return StubModule(spec.name)

    @staticmethod
    def exec_module(module):
        pass


@pytest.fixture
def stubbed(monkeypatch):
    """Imports of the libraries give stubs; those that are installed are put back afterwards."""
    for name in [name for name in sys.modules if name.split(".")[0] in STUBBED]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [StubFinder, *sys.meta_path])
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in STUBBED]:
        del sys.modules[name]


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked_by(call):
    """Return the objects that a call asks; what the stubs' answers make fail afterwards does not matter."""
    Stub.asked = []
    with suppress(Exception):
        call()
    return Stub.asked


def draws_of(mechanism):
    """Return calls of a mechanism with a value, twice each."""
    rng = np.random.default_rng(0)
    return lambda: mechanism(1, 2, rng)


def makes_anew(call):
    """Return whether a second call asks an object that the first did not, and whether any object is asked."""
    first, second = asked_by(call), asked_by(call)
    return any(all(each is not other for other in first) for each in second), bool(second)


@pytest.mark.parametrize("library", LOCAL)
def test_a_served_client_is_made_once(stubbed, library):
    mechanisms = loaded(CATALOGUE / library / SERVED).MECHANISMS
    found = {name: makes_anew(draws_of(mechanism)) for name, mechanism in mechanisms.items()}
    assert not [name for name, (anew, _) in found.items() if anew]
    if library != "multi_freq_ldpy":  # whose clients are functions
        assert all(asked for _, asked in found.values()), found


@pytest.mark.parametrize("library", LOCAL)
def test_a_client_of_the_table_is_made_when_the_answer_is_built(stubbed, library):
    answers = loaded(CATALOGUE / library / "conformance.py").library.answers
    for answer, epsilon in itertools.product(answers.values(), (0.5, 1.0)):
        release = answer.build(Parameters(epsilon=epsilon))
        assert not makes_anew(functools.partial(release, "a"))[0]


def test_a_client_that_is_made_in_each_call_is_seen(stubbed):
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient as Client

    kept = Client(1.0, 4)
    assert makes_anew(draws_of(lambda value, size, rng: [Client(1.0, 4).privatise(value) for _ in range(size)]))[0]
    assert not makes_anew(draws_of(lambda value, size, rng: [kept.privatise(value) for _ in range(size)]))[0]
