"""Objects of libraries that answer: their conversations are those that their stated laws allow, their quotations stand.

No randomized test: each transcript of a few conversations has to be possible by its law.
"""

import importlib
import math

import numpy as np
import pytest

from audit import InteractiveCheck
from benchmarks.interactive.accountants import admitted
from benchmarks.interactive.objects import NUMBERS, OWN
from benchmarks.interactive.real import LIBRARIES, requirements_of, unwritten
from tests.offenders import for_each

HERE = ["opendp", "diffprivlib", OWN]  # those of this environment


@for_each(HERE)
def test_conversations_are_possible_by_their_laws(library):
    importlib.import_module(library)
    objects = [each for each in LIBRARIES[library]() if each.law is not None]
    assert objects
    for each in objects:
        pairs = each.pairs or NUMBERS
        settings = {"law": each.law, "cost": each.cost, "charged": each.charged}
        check = InteractiveCheck(
            name=each.name, make=each.make, claim=each.claim, pairs=pairs, analyst=each.analyst, **settings
        )
        for data in pairs[0]:
            said = check.mechanism(data, 3, np.random.default_rng(0))
            assert np.isfinite(check.mechanism.log_likelihood(data, said)).all(), each.name


def test_an_object_that_answers_once_more_is_impossible():
    each = next(each for each in LIBRARIES["diffprivlib"]() if "twelve" in each.name)
    more = InteractiveCheck(
        name=each.name, make=each.make, claim=each.claim, pairs=NUMBERS, analyst=each.analyst, law=each.law
    ).mechanism
    assert more.log_likelihood(0.0, [(True,) * 12])[0] == -math.inf


def test_names_differ_and_every_library_has_an_environment():
    assert all(requirements_of(library).is_file() for library in set(LIBRARIES) - {OWN})
    names = [each.name for library in HERE for each in LIBRARIES[library]()]
    assert len(set(names)) == len(names)


def test_quotations_of_this_project_stand_in_its_text():
    assert unwritten(OWN) == []


@pytest.mark.parametrize(("limit", "number"), [(1.0, 12), (1.5, 24)])
def test_slack_admits_more_queries_than_their_sum(limit, number):
    """At 0.1 each and a slack of 0.01: 24 cost 0.12 + sqrt(0.48 log(e + 49)) = 1.496, and a 25th 1.533."""
    assert admitted(limit, 0.1, 0.01) == number
