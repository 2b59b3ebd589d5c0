"""What code draws or reads behind the back of the source is named, and no law is known then."""

import datetime
import gc
import os
import random
import time
import uuid
from os import urandom
from random import random as imported_random

import numpy as np
import pytest
from numpy.random import default_rng

import audit
from audit.extensions.enumeration.watching import Watch

OWN, OWN_PYTHON, CALLS = np.random.default_rng(1), random.Random(1), []


def coin(rng):
    return bool(rng.random() < 0.5)


def remembers(data, rng):
    CALLS.append(1)
    return len(CALLS)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda data, rng: coin(rng) ^ (os.urandom(1)[0] & 1), "os.urandom"),
        (lambda data, rng: coin(rng) ^ (urandom(1)[0] & 1), "os.urandom"),
        (lambda data, rng: coin(rng) and time.time() > 0, "time.time"),
        (lambda data, rng: coin(rng) or time.time() > 0, "time.time"),
        (lambda data, rng: coin(rng) and time.perf_counter() > 0, "time.perf_counter"),
        (lambda data, rng: coin(rng) and datetime.datetime.now().year > 2000, "datetime.now"),
        (lambda data, rng: coin(rng) ^ (id(data) % 32 == 0), "id"),
        (lambda data, rng: coin(rng) ^ (hash("a") & 1), "hash"),
        (lambda data, rng: coin(rng) ^ (uuid.uuid4().int & 1), "os.urandom"),
        (lambda data, rng: coin(rng) ^ (os.getpid() & 1), "os.getpid"),
        (lambda data, rng: coin(rng) ^ (OWN.random() < 0.5), "the same choices did not lead to the same output"),
        (lambda data, rng: coin(rng) ^ (OWN_PYTHON.random() < 0.5), "another generator (Random)"),
        (lambda data, rng: coin(rng) ^ (random.Random().random() < 0.5), "another generator (Random)"),
        (lambda data, rng: coin(rng) ^ (imported_random() < 0.5), "another generator (Random)"),
        (lambda data, rng: coin(rng) ^ (default_rng().random() < 0.5), "os.urandom"),
        (remembers, "a call changes the state of later calls"),
    ],
)
def test_other_entropy_is_named(function, name):
    law = audit.enumerate_law(function, 0)
    assert name in law.behind
    assert law.behind


def test_a_draw_that_depends_on_something_else_is_seen():
    """The clock is asked for by C code, where no profile function looks: the same choices lead elsewhere."""
    ticks = iter(range(1000))
    clock = np.frompyfunc(lambda _: next(ticks), 1, 1)

    def moody(data, rng):
        low = 0.25 if clock(0) % 2 else 0.75
        return [rng.random() < low for _ in range(3)]

    assert audit.enumerate_law(moody, 0).behind


def test_nothing_is_named_where_only_the_source_is_used():
    assert audit.enumerate_law(lambda data, rng: coin(rng), 0).behind == ()


def test_global_sources_are_as_before():
    before = random.random, random.SystemRandom.random, np.random.default_rng, np.random.rand
    audit.enumerate_law(lambda data, rng: coin(rng), 0)
    assert before == (random.random, random.SystemRandom.random, np.random.default_rng, np.random.rand)
    assert "randbytes" not in vars(random.SystemRandom) or random.SystemRandom.randbytes is not None


class Lingering:
    """Reads the clock when it is collected, in a circle so that only the collector ends it."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        time.time()


def leaves_garbage(data, rng):
    found = [[] for _ in range(50)]  # enough for a collection, at the threshold below
    return coin(rng) and len(found) > 0


def test_finalizers_of_other_objects_are_not_blamed_on_the_code(monkeypatch):
    start, before = Watch.start, gc.get_threshold()
    monkeypatch.setattr(Watch, "start", lambda self: start(self) or (Lingering() and None))
    gc.set_threshold(20, 1, 1)
    try:
        assert audit.enumerate_law(leaves_garbage, 0).behind == ()
    finally:
        gc.set_threshold(*before)
