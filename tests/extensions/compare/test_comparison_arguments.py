"""What a comparison admits and refuses, and how targets are found."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from audit import Comparison, GaussianClaim, Implementation, PrivacyClaim, Verdict
from audit.errors import InvalidArgument, NotNeighboring, UnknownTarget
from audit.extensions.compare.comparison import collect, require_comparisons
from tests.offenders import refused

PAIR = (np.zeros(3), np.array([1.0, 0, 0]))


def noisy_sum(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def made(**changes):
    settings = {
        "name": "sum",
        "claim": PrivacyClaim(1.0),
        "pairs": [PAIR],
        "truth": np.sum,
        "implementations": [Implementation(name=name, mechanism=noisy_sum) for name in ("one", "other")],
    }
    return Comparison(**{**settings, **changes})


def test_a_comparison_makes_one_check_for_each_implementation():
    first, second = made().implementations
    second = replace(second, expected=Verdict.FAIL, budget=1000, method="fixed", tolerance=0.5)
    checks = made(implementations=[first, second]).checks
    assert [check.name for check in checks] == ["sum/one", "sum/other"]
    assert {check.claim for check in checks} == {PrivacyClaim(1.0)}
    assert checks[1].expected is Verdict.FAIL
    assert (checks[1].budget, checks[1].method, checks[1].tolerance) == (1000, "fixed", 0.5)


test_refusals = refused([
    ({"claim": PrivacyClaim(0.0)}, "`claim` must be a PrivacyClaim with epsilon > 0"),
    ({"claim": GaussianClaim(1.0)}, "`claim` must be a PrivacyClaim"),
    ({"truth": 3}, "`truth` must be a function"),
    ({"truth": str}, "`truth` must answer with a number or a vector"),
    ({"sample": 199}, "`sample` must be an integer >= 200"),
    ({"implementations": []}, "`implementations` must hold at least two"),
    ({"implementations": made().implementations[:1]}, "`implementations` must hold at least two"),
    ({"implementations": made().implementations[:1] * 2}, "`implementations` must have names, each different"),
    (
        {"implementations": [Implementation(name="", mechanism=noisy_sum), made().implementations[0]]},
        "`implementations` must have names",
    ),
    (
        {"implementations": [Implementation(name="a", mechanism=3), made().implementations[0]]},
        "`mechanism` must be callable",
    ),
    ({"name": ""}, "`name` must be text, not empty"),
    ({"pairs": []}, "`pairs` must hold at least one pair"),
], made)  # fmt: skip


def test_pairs_must_be_neighboring():
    with pytest.raises(NotNeighboring):
        made(pairs=[(np.zeros(3), np.ones(3))])


def test_a_run_needs_comparisons_of_different_names():
    assert [comparison.name for comparison in require_comparisons(iter([made()]))] == ["sum"]
    twice = [made(), made()]
    for wrong, message in (([], "at least one"), ([3], "instances of Comparison"), (twice, "each different")):
        with pytest.raises(InvalidArgument, match=message):
            require_comparisons(wrong)


def test_targets(monkeypatch):
    module = types.ModuleType("some_comparisons")
    monkeypatch.setitem(sys.modules, "some_comparisons", module)
    with pytest.raises(UnknownTarget, match="lists no COMPARISONS"):
        collect(["some_comparisons"])
    module.COMPARISONS = [made()]
    assert [comparison.name for comparison in collect(["some_comparisons"])] == ["sum"]
    with pytest.raises(UnknownTarget, match="cannot be imported: ModuleNotFoundError"):
        collect(["no_such_module_anywhere"])
