"""Checks of rates and densities fail once the learner or the construction that they run is broken."""

from __future__ import annotations

import fnmatch

import audit
from audit import Verdict
from mechanisms.papers.berrett2019 import lower_bound
from mechanisms.papers.berrett2019.lower_bound import FAMILIES, LeastFavorableFamily
from mechanisms.papers.chaudhuri2011 import accuracy, words


def verdict_of(checks, pattern):
    chosen = [check for check in checks if fnmatch.fnmatchcase(check.name, pattern)]
    assert len(chosen) == 1
    return audit.run(chosen, workers=0, seed=0).verdict


def test_a_cover_learner_that_spends_twice_its_epsilon_needs_half_the_examples(monkeypatch):
    weights = accuracy.interval_weights
    monkeypatch.setattr(accuracy, "interval_weights", lambda data, size, epsilon: weights(data, size, 2 * epsilon))
    assert verdict_of(accuracy.CHECKS, "chaudhuri2011/sample size on the hard family") is Verdict.FAIL


def test_words_that_are_drawn_too_rarely_do_not_make_the_metrics_agree(monkeypatch):
    """The sample holds a ten-thousandth of the points that the lemma asks for."""
    counts = words.WordClass.counts
    monkeypatch.setattr(words.WordClass, "counts", lambda self, m, size, rng: counts(self, m // 10_000, size, rng))
    pattern = "chaudhuri2011/words, metrics agree b=16*"
    assert verdict_of(words.CHECKS, pattern) is Verdict.FAIL


def test_words_of_four_letters_do_not_meet_the_hypothesis_of_theorem_10():
    """Four balls of half the radius suffice: d' = 2, and more than 2 is asked for. The least slack is 0."""
    four = words.doubling_cases(words.WordClass(4, 2))
    assert min(found - asked for _, asked, found in four) == 0
    three = words.doubling_cases(words.WordClass(3, 2))
    assert all(found < asked for _, asked, found in three[:1])


def test_a_packing_of_nearer_words_is_seen(monkeypatch):
    monkeypatch.setattr(words, "LEMMAS", [each._replace(radius=each.words.weights[-1] / 5) for each in words.LEMMAS])
    assert verdict_of(words.CHECKS, "chaudhuri2011/words, packing") is Verdict.FAIL


def test_balls_of_a_fixed_size_break_the_density(monkeypatch):
    monkeypatch.setattr(LeastFavorableFamily, "radius", property(lambda family: 0.01))
    for family in FAMILIES:
        assert verdict_of(lower_bound.CHECKS, f"berrett2019/family {family} density") is Verdict.FAIL
