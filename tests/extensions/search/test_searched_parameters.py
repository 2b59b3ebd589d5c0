"""A search over the parameters of a mechanism finds the setting that breaks its claim, and certifies it."""

import time
from functools import partial

import numpy as np
import pytest
from hypothesis import strategies as st

import audit
from audit import AddRemove, PrivacyCheck, PrivacyClaim, Verdict, plugins
from audit.certificate.document import load_certificate
from audit.certificate.render import html_of
from audit.certificate.verify import list_problems
from audit.checks.result import ways_of
from audit.evidence.base import Allowance
from audit.extensions.search import search
from tests.offenders import refused

SCALES = {"epsilon": st.sampled_from([0.25, 0.5, 1.0, 2.0])}


def pairs(**_):
    return [(np.zeros(3), np.r_[1.0, 0, 0])]


def claim(epsilon, **_):
    return PrivacyClaim(epsilon)


def honest(data, size, rng, *, epsilon):
    return data.sum() + rng.laplace(scale=1 / epsilon, size=size)


def wrong_at_two(data, size, rng, *, epsilon):
    return data.sum() + rng.laplace(scale=0.1 if epsilon == 2.0 else 1 / epsilon, size=size)


def check(mechanism, **more):
    settings = {"claim": claim, "pairs": pairs, "parameters": SCALES, "name": "mine", **more}
    return PrivacyCheck(mechanism=mechanism, **settings)


def run(made, **more):
    return audit.run([made], **{"workers": 0, "seed": 1, **more})[made.name]


@pytest.fixture(autouse=True)
def short_search(monkeypatch):
    """Try fewer settings than by default: the catalog runs every fault with all of them."""
    monkeypatch.setattr(search, "_EXAMPLES", 40)
    monkeypatch.setattr(search, "_SHRINKING", 60)


@pytest.mark.false_alarm(1e-8)
def test_a_mechanism_that_keeps_its_claims_passes():
    """The claim of the certified setting is judged at the usual level; the search costs no significance."""
    result = run(check(honest), budget="quick", significance=1e-8)
    assert result.verdict is Verdict.PASS, result.reason
    searched = result.evidence.searched
    assert searched.settings == 4
    assert searched.setting == {"epsilon": result.check.claim.epsilon}
    assert searched.tolerance == pytest.approx(0.5 * max(searched.setting["epsilon"], 0.2))
    assert result.budget == searched.budget


def test_the_certificate_names_the_setting(tmp_path):
    report = audit.run([check(wrong_at_two)], workers=0, budget="quick")
    report.save(tmp_path)
    document = load_certificate(tmp_path)
    (record,) = document["checks"]
    assert record["claim"]["epsilon"] == 2.0
    search = ways_of(record["evidence"])["search"]
    assert search["setting"] == {"epsilon": 2.0}
    assert record["settings"]["budget"] == search["budget"]
    assert list_problems(document) == []
    assert "epsilon = 2.0: the worst of 4 that were tried" in html_of(document)
    assert "the worst of 4 settings: epsilon=2.0" in str(report["mine"])


def test_the_evidence_is_the_same_in_a_process_of_its_own():
    here, apart = (run(check(wrong_at_two), budget="quick", workers=workers) for workers in (0, 1))
    assert apart.isolation == "process"
    assert here.record() == apart.record()


def test_pairs_and_parameters_are_searched_together():
    """Only lists of more than one record break the claim, and only with a flag."""

    def mechanism(data, size, rng, *, flag):
        return np.zeros(size) + len(data) + rng.laplace(scale=0.1 if flag and len(data) > 1 else 1.0, size=size)

    made = PrivacyCheck(
        name="both",
        mechanism=mechanism,
        claim=PrivacyClaim(1.0, relation=AddRemove()),
        datasets=st.lists(st.integers(0, 1), max_size=4),
        parameters={"flag": st.booleans()},
    )
    result = run(made, budget="quick")
    assert result.verdict is Verdict.FAIL
    assert result.evidence.searched.setting == {"flag": True}
    assert max(map(len, result.witness.pair)) > 1


def test_a_setting_exceeds_its_claim_by_its_worst_pair():
    """One of two pairs shows epsilon 10 in place of 2, be it the first or the second."""

    def mechanism(data, size, rng, *, epsilon):
        return data.sum() + rng.laplace(scale=0.1 if epsilon == 2.0 and len(data) == 4 else 1 / epsilon, size=size)

    two = [*pairs(), (np.zeros(4), np.r_[1.0, 0, 0, 0])]
    for ordered in (two, two[::-1]):
        found = search.Search(check(mechanism, pairs=ordered), Allowance.of(1000, 0.05, 0))
        assert found.excess(search.Case({"epsilon": 2.0}, None)) > 1


class OwnRandomness:
    """A library that draws from a generator of its own, so that no seed repeats a run."""

    own_randomness = True

    def __init__(self, wrong_at=None):
        self.rng, self.wrong_at = np.random.default_rng(1), wrong_at

    def __call__(self, data, size, rng, *, epsilon):
        scale = 0.1 if epsilon == self.wrong_at else 1 / epsilon
        return data.sum() + self.rng.laplace(scale=scale, size=size)


@pytest.mark.false_alarm(1e-8)
def test_randomness_of_its_own_stays_declared_where_parameters_are_searched():
    """A search that shrinks asks for the same case again, and must hear the same."""
    epsilons = {"epsilon": st.floats(0.25, 2.0)}
    kept = run(check(OwnRandomness(), parameters=epsilons, tolerance=2.5), budget=60_000, significance=1e-8)
    assert kept.verdict is Verdict.PASS, kept.reason
    caught = run(check(OwnRandomness(wrong_at=2.0)), budget="quick")
    assert caught.verdict is Verdict.FAIL, caught.reason
    assert caught.evidence.searched.setting == {"epsilon": 2.0}


test_what_does_not_fit_together_is_refused_at_once = refused([
    ({"parameters": 3}, "`parameters` must be a mapping of names to Hypothesis strategies"),
    ({"parameters": {"epsilon": 1.0}}, "`parameters` must be a mapping of names to Hypothesis strategies"),
    ({"parameters": {"epsilon": st.just(object())}}, "`parameters` must draw plain data for 'epsilon'"),
    ({"pairs": lambda **_: []}, "`pairs` must hold at least one pair"),
    ({"parameters": {"other": st.just(1.0)}}, "`mechanism` must take the parameters other, got honest"),
    (
        {"parameters": {"size": st.just(3)}},
        "`parameters` must have other names than dataset, size, rng, got 'size'",
    ),
], partial(check, honest), claim=PrivacyClaim(1.0))  # fmt: skip


class SlowSum:
    """A sum with little noise, which takes a while for each output."""

    def __call__(self, data, rng):
        time.sleep(0.0005)
        return float(data.sum()) + 0.01 * rng.laplace()


def test_a_limit_ends_a_search_and_what_it_found_is_certified(monkeypatch):
    """Nothing clips the sum, so that nearly every case breaks the claim: the search has time for a dozen."""
    monkeypatch.setattr(plugins, "list_first", lambda: ())  # which would follow the noise in each case
    found = audit.check_privacy(
        audit.per_call(SlowSum()),
        PrivacyClaim(1.0),
        datasets=st.lists(st.integers(-3, 3), min_size=1, max_size=4).map(np.array),
        timeout=6.0,
        name="searched",
    )
    assert found.verdict is Verdict.FAIL, found.reason
    assert "cases were tried" in str(found)
