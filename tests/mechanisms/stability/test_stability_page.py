"""The findings page names checks and tables that exist."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.stability_learning.__main__ import TABLES
from mechanisms import stability
from mechanisms.faults import stability as faults

PAGE = (Path(__file__).parents[3] / "docs" / "stability-learning.md").read_text()
NAMES = [check.name for check in (*stability.CHECKS, *faults.CHECKS)]


def test_every_pattern_on_the_page_finds_checks():
    patterns = re.findall(r"`((?:stability|fault/stability|decoy/stability)[/ ][^`]+)`", PAGE)
    assert len(patterns) > 20
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in NAMES), pattern


def test_every_table_on_the_page_exists():
    named = re.findall(r"table `([a-z]+)`", PAGE, re.IGNORECASE)
    assert len(named) >= 5
    assert set(named) <= set(TABLES)
