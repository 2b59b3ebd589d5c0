"""Collect these tests only in a process of their own, which `tests/enumeration/test_enumerated_laws.py` starts.

Other tests change objects that the subjects reach, and states are merged only while nothing changes there.
"""

import os
from pathlib import Path

if "DP_AUDIT_ENUMERATION" not in os.environ:
    collect_ignore = [
        path.name for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_enumerated_laws.py"
    ]
