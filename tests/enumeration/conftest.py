"""Collect these tests only in a process of their own, which `tests/enumeration/test_enumerated_laws.py` starts.

Other tests change objects that the subjects reach, and states are merged only while nothing changes there.
"""

import os
import sys

if "DP_AUDIT_ENUMERATION" not in os.environ and not any("enumeration" in argument for argument in sys.argv):
    collect_ignore_glob = ["test_*.py"]
