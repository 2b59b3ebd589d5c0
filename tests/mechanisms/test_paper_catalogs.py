"""The catalogs of the five papers: the statements with their checks and grades, and the pages.

Checks of rates and densities fail once the learner or the construction that they run is broken.
"""

import fnmatch
import importlib
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import pytest

import audit
import mechanisms
from audit import Verdict
from benchmarks import local_classification
from benchmarks.stability_learning.__main__ import TABLES
from mechanisms.papers.berrett2019 import lower_bound
from mechanisms.papers.berrett2019.lower_bound import FAMILIES, LeastFavorableFamily
from mechanisms.papers.chaudhuri2011 import accuracy, words
from mechanisms.papers.rows import Paper

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Catalog:
    """The checks of a paper, its page, and the tables that the page may name."""

    folder: str
    page: str
    tables: frozenset[str] = frozenset()

    @cached_property
    def paper(self):
        return importlib.import_module(f"mechanisms.papers.{self.folder}")

    @cached_property
    def faults(self):
        return importlib.import_module(f"mechanisms.papers.{self.folder}.faults")

    @cached_property
    def names(self):
        return [check.name for check in (*self.paper.CHECKS, *self.faults.CHECKS)]

    @cached_property
    def data(self):
        return tomllib.loads((Path(self.paper.__file__).parent / "statements.toml").read_text())

    @property
    def rows(self):
        return self.data["statement"]

    @cached_property
    def text(self):
        return (ROOT / "docs" / f"{self.page}.md").read_text()

    def matches(self, *patterns):
        every = {check.name for check in (*mechanisms.CHECKS, *self.faults.CHECKS)}
        return {name for pattern in patterns for name in every if fnmatchcase(name, pattern)}


CATALOGS = (
    Catalog("bassily2018", "stability-learning", frozenset(TABLES)),
    Catalog("berrett2019", "local-classification", frozenset(local_classification.TABLES)),
    Catalog("bousquet2022", "consistency"),
    Catalog("chaudhuri2011", "cover-learning"),
    Catalog("zhao2024", "label-privacy"),
)
of_each_paper = pytest.mark.parametrize("catalog", CATALOGS, ids=lambda catalog: catalog.folder)


@of_each_paper
def test_the_statements_of_the_paper_have_checks_and_grades(catalog):
    assert len(catalog.rows) == len({row["number"] for row in catalog.rows})
    for row in catalog.rows:
        assert set(row) - {"reason"} == {"number", "claim", "checks", "grade"}
        assert row["grade"] in ("printed", "reconstructed", "weaker", "missing")
        assert ("reason" in row) == (row["grade"] != "printed")
        assert bool(row["checks"]) == (row["grade"] != "missing")
        assert all(catalog.matches(pattern) for pattern in row["checks"]), row
    paper = Paper(catalog.folder, "")
    for pattern in catalog.data.get("sentences", {}):
        assert catalog.matches(paper.full_name(pattern)), pattern


OF_OTHER_PAPERS = "zhao2024/response*"


@pytest.mark.parametrize("catalog", CATALOGS[1:], ids=lambda catalog: catalog.folder)
def test_every_check_belongs_to_a_statement(catalog):
    listed = catalog.matches(*(pattern for row in catalog.rows for pattern in row["checks"]), OF_OTHER_PAPERS)
    own = "" if catalog.folder == "bousquet2022" else f"{catalog.folder}/"  # there, faults and decoys are listed too
    assert {name for name in catalog.names if name.startswith(own)} - listed == set()


@of_each_paper
def test_the_page_names_checks_and_tables_that_exist_and_says_how_many(catalog):
    quoted = re.findall(rf"['`]((?:fault/|decoy/)?{catalog.folder}[/ ][^'`]+)['`]", catalog.text)
    assert quoted
    assert [name for name in quoted if not name.endswith(".toml") and not catalog.matches(name)] == []
    if catalog.tables:
        assert set(re.findall(r"table `([a-z-]+)`", catalog.text, re.IGNORECASE)) <= catalog.tables
    if catalog.folder != "bassily2018":
        assert f"{len(catalog.paper.CHECKS)} checks" in catalog.text
        assert f"{len(catalog.faults.CHECKS)} broken variants" in catalog.text


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
