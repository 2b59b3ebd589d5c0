"""Collect these tests only in a process of their own, which `test_enumerated_laws.py` starts.

Other tests change objects that the subjects reach, and states are merged only while nothing changes there.
"""

import os
from pathlib import Path

import pytest

if "DP_AUDIT_ENUMERATION" not in os.environ:
    collect_ignore = [
        path.name for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_enumerated_laws.py"
    ]


@pytest.fixture(autouse=True)
def in_this_process_under_coverage(monkeypatch):
    """Enumerate in this process where coverage is measured: a forked process would take its measurement with it."""
    if "COVERAGE_FILE" in os.environ:
        monkeypatch.setattr("audit.execution.sandbox.FORKS", False)
