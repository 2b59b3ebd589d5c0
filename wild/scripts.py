"""The script of a finding: a few lines that call the library alone, for a maintainer who has nothing of this project.

It is run in the library's environment. It prints what it counted, and ends with an error where the finding does not
show: `make wild` runs it, and the page of the finding prints it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from wild.environments import HOME, is_javascript, node_of, python_of
from wild.findings import ROOT, Finding

NAMES = {"script.py": "python", "script.js": "javascript"}
LONGEST = 15  # lines that are not empty
SECONDS = 300.0


class Shown(NamedTuple):
    """Hold what became of a script: whether the finding showed, and what was printed."""

    holds: bool
    printed: str


def script_of(finding: Finding) -> Path | None:
    """Return the path of a finding's script; None where it has none."""
    found = [ROOT / finding.folder / name for name in NAMES]
    return next((path for path in found if path.is_file()), None)


def lines_of(path: Path) -> list[str]:
    """Return the lines of a script that are not empty."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def run_script(path: Path, library: str) -> Shown:
    """Run a script in the environment of a library."""
    command = [str(python_of(library)), "-I", "-W", "ignore", str(path)]
    if is_javascript(library):
        command = [str(node_of(library)), str(path)]
    environment = {**os.environ, "NODE_PATH": str(HOME.resolve() / library / "node_modules")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return Shown(False, f"did not end within {SECONDS:g} seconds")
    return Shown(done.returncode == 0, (done.stdout + done.stderr).strip())
