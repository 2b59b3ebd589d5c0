"""Without a target, the command line finds the checks of the project it stands in, and runs nothing to find them."""

import pytest

from audit.discover import discover_targets
from audit.errors import UnknownTarget

FILES = {
    "mylib/__init__.py": "",
    "mylib/audits.py": "CHECKS = [1]",
    "mylib/more.py": "from typing import Any\nCHECKS: list[Any] = [2]",
    "mylib/uses.py": "from mylib.audits import CHECKS\nprint(CHECKS)",
    "mylib/declares.py": "CHECKS: list",
    "mylib/inside.py": "def f():\n    CHECKS = 1",
    "mylib/broken.py": "CHECKS = (",
    "mylib/fails.py": "raise SystemExit\nCHECKS = [3]",
    "whole/__init__.py": "from whole.part import CHECKS as part\nCHECKS = [*part]",
    "whole/part.py": "CHECKS = [4]",
    "no-package/audits.py": "CHECKS = [5]",
    ".hidden/audits.py": "CHECKS = [6]",
    "env/pyvenv.cfg": "",
    "env/lib/audits.py": "CHECKS = [7]",
    "tests/test_audits.py": "CHECKS = [8]",
    "audits.py": "CHECKS = [9]",
}


def test_modules_that_list_checks_are_found(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert discover_targets(tmp_path) == ("audits", "mylib.audits", "mylib.fails", "mylib.more", "whole")


def test_a_folder_without_checks_says_what_to_type(tmp_path):
    with pytest.raises(UnknownTarget, match=r"has a list CHECKS; .* dp-audit run mylib.audits"):
        discover_targets(tmp_path)
