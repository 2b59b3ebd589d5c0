"""The catalogs of the five papers: names, sources, expectations, the statements with their grades, and the pages.

Checks of rates and densities fail once the learner or the construction that they run is broken.
"""

import fnmatch
import importlib
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import pytest

import audit
import mechanisms
from audit import Verdict
from audit.checks.base import StatedCheck
from benchmarks import local_classification
from benchmarks.stability_learning.__main__ import TABLES
from mechanisms.papers.berrett2019 import lower_bound
from mechanisms.papers.berrett2019.lower_bound import FAMILIES, LeastFavorableFamily
from mechanisms.papers.chaudhuri2011 import accuracy, words
from mechanisms.papers.rows import Paper

ROOT = Path(__file__).parents[2]
SAYS_SO = re.compile(r"\bfalse\b|too few|refuted|is not$")  # of what is expected to FAIL


@dataclass(frozen=True)
class Catalog:
    """The checks of a paper, its page, and how many checks, statements and patterns on the page it has at least."""

    folder: str
    page: str
    checks: int
    statements: int
    patterns: int
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
        every = {*self.names, *(check.name for check in mechanisms.CHECKS)}
        return {name for pattern in patterns for name in every if fnmatchcase(name, pattern)}


CATALOGS = (
    Catalog("bassily2018", "stability-learning", 170, 37, 21, frozenset(TABLES)),
    Catalog("berrett2019", "local-classification", 150, 13, 24, frozenset(local_classification.TABLES)),
    Catalog("bousquet2022", "consistency", 210, 53, 8),
    Catalog("chaudhuri2011", "cover-learning", 120, 30, 15),
    Catalog("zhao2024", "label-privacy", 90, 19, 15),
)
of_each_paper = pytest.mark.parametrize("catalog", CATALOGS, ids=lambda catalog: catalog.folder)


@of_each_paper
def test_names_tell_the_paper_and_the_kind(catalog):
    assert len(catalog.names) >= catalog.checks
    assert [name for name, count in Counter(catalog.names).items() if count > 1] == []
    own = (f"{catalog.folder}/", f"decoy/{catalog.folder} ")
    assert [check.name for check in catalog.paper.CHECKS if not check.name.startswith(own)] == []
    assert {check.name for check in catalog.paper.CHECKS} <= {check.name for check in mechanisms.CHECKS}
    for check in catalog.faults.CHECKS:
        assert check.name.startswith(f"fault/{catalog.folder} ")
        assert check.expected is Verdict.FAIL


@of_each_paper
def test_a_check_names_its_source_and_says_what_is_false(catalog):
    for check in (*catalog.paper.CHECKS, *catalog.faults.CHECKS):
        is_stated = isinstance(check, StatedCheck)
        assert re.search(r" (19|20)\d\d\b", check.source if is_stated else check.claim.source), check.name
        assert not is_stated or check.statement.endswith("."), check.name
        if not check.name.startswith("fault/"):
            said = SAYS_SO.search(f"{check.name} {check.statement if is_stated else check.claim.source}")
            said = said or SAYS_SO.search(check.name)
            assert (check.expected is Verdict.FAIL) == bool(said), check.name
        assert check.expected is Verdict.PASS or not check.name.startswith("decoy/")


@of_each_paper
def test_the_statements_of_the_paper_have_checks_and_grades(catalog):
    assert len(catalog.rows) == len({row["number"] for row in catalog.rows}) == catalog.statements
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
    patterns = [pattern for pattern in quoted if not pattern.endswith(".toml")]
    assert len(patterns) >= catalog.patterns
    assert [pattern for pattern in patterns if not catalog.matches(pattern)] == []
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
