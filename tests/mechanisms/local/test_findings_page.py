"""The findings page names checks that exist, and leaves none out."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from benchmarks import local_classification
from mechanisms import local
from mechanisms.faults import local as faults
from mechanisms.local.classifier import LocalHistogramClassifier

PAGE = (Path(__file__).parents[3] / "docs" / "local-classification.md").read_text()
NAMES = [check.name for check in (*local.CHECKS, *faults.CHECKS)]
CLAIMS = {
    match[1]: re.findall(r"`((?:local|fault|decoy)/[^`]+)`", match[2])
    for match in re.finditer(r"^\| (BB-\d+) \|[^|]*\|(.*)\|$", PAGE, re.MULTILINE)
}


def names_like(pattern):
    return [name for name in NAMES if fnmatchcase(name, pattern)]


def test_every_claim_has_checks_and_every_pattern_finds_some():
    assert list(CLAIMS) == [f"BB-{k:02d}" for k in range(1, 21)]
    selected = re.findall(r"'((?:local|fault|decoy)/[^']+)'", PAGE)
    assert len(selected) >= 10
    for pattern in [*(pattern for patterns in CLAIMS.values() for pattern in patterns), *selected]:
        assert names_like(pattern), pattern


def test_every_theorem_check_belongs_to_a_claim():
    listed = {name for patterns in CLAIMS.values() for pattern in patterns for name in names_like(pattern)}
    own = {name for name in NAMES if name.startswith("local/")}
    bridges = {name for name in own if "evaluator" in name}  # they tie the evaluator to the classifier
    assert own - listed <= bridges


def test_counts_and_tables_on_the_page():
    assert f"{len(local.CHECKS)} checks: theorems" in PAGE
    assert f"{len(faults.CHECKS)} broken variants" in PAGE
    for name in re.findall(r"table `([a-z-]+)`", PAGE, re.IGNORECASE):
        assert name in local_classification.TABLES, name


def test_the_example_on_the_page():
    """Fixed seed; at eps = 2 and 20,000 users each of the four votes is 5 deviations from 0."""
    rng = np.random.default_rng(0)
    X = rng.random(20_000)
    y = (X > 0.5).astype(int)
    learner = LocalHistogramClassifier(epsilon=2.0, bandwidth=0.125, random_state=0).fit(X, y)
    assert learner.predict([0.1, 0.3, 0.7, 0.9]).tolist() == [0, 0, 1, 1]
