"""The findings page names checks that exist, and leaves none out."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from benchmarks import cover_learning
from mechanisms import cover
from mechanisms.cover.learners import ReferenceCoverLearner
from mechanisms.faults import cover as faults

PAGE = (Path(__file__).parents[3] / "docs" / "cover-learning.md").read_text()
NAMES = [check.name for check in (*cover.CHECKS, *faults.CHECKS)]
CLAIMS = {
    match[1]: re.findall(r"`((?:cover|fault|decoy)/[^`]+)`", match[2])
    for match in re.finditer(r"^\| (CH-\d+) \|[^|]*\|(.*)\|$", PAGE, re.MULTILINE)
}


def names_like(pattern):
    return [name for name in NAMES if fnmatchcase(name, pattern)]


def test_every_claim_has_checks_and_every_pattern_finds_some():
    assert list(CLAIMS) == [f"CH-{k:02d}" for k in range(1, 34)]
    selected = re.findall(r"--select '([^']+)'", PAGE)
    assert len(selected) >= 8
    for pattern in [*(pattern for patterns in CLAIMS.values() for pattern in patterns), *selected]:
        assert names_like(pattern), pattern


def test_every_check_of_a_theorem_belongs_to_a_claim():
    listed = {name for patterns in CLAIMS.values() for pattern in patterns for name in names_like(pattern)}
    assert {name for name in NAMES if name.startswith("cover/")} <= listed


def test_counts_and_tables_on_the_page():
    assert f"{len(cover.CHECKS)} checks: theorems" in PAGE
    assert f"{len(faults.CHECKS)} broken variants" in PAGE
    tables = re.findall(r"table `([a-z-]+)`", PAGE)
    assert set(tables) <= set(cover_learning.TABLES)


def test_the_example_on_the_page():
    """Fixed seed; the nearest wrong threshold makes 100 mistakes more than the best: weight e^-50."""
    X = np.random.default_rng(0).random(2_000)
    learner = ReferenceCoverLearner(epsilon=1.0, accuracy=0.1, random_state=0).fit(X, np.where(X >= 0.4, 1, -1))
    assert learner.predict([0.1, 0.3, 0.5, 0.9]).tolist() == [-1, -1, 1, 1]
    assert not learner.utility_guarantee_
