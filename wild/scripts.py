"""The script of a finding: a few lines that call the library alone, for a maintainer who has nothing of this project.

It is run in the library's environment. It prints what it counted, and ends with an error where the finding does not
show: `make wild` runs it, and the page of the finding prints it. `python -m wild.scripts [PACKAGE[==VERSION] ...]`
runs it in the releases of the package, those of `older.toml` among them, and writes to `releases.json` beside it what
came of each: so the register says since and until when a finding holds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from audit.certificate.document import write_whole
from wild import environments
from wild.environments import HOME, EnvironmentFailed, is_javascript, node_of, pin_of, python_of
from wild.findings import ROOT, Finding, all_findings

NAMES = {"script.py": "python", "script.js": "javascript"}
LONGEST = 15  # lines that are not empty
SECONDS = 1_200.0  # by the clock: the machine may be busy
_LATE, _KILLED = "did not end within", "was killed by signal"
RELEASES = "releases.json"  # what came of the script by release
SHOWS, SILENT = "shows", "does not show"


class Shown(NamedTuple):
    """Hold what became of a script: whether the finding showed, and what was printed."""

    holds: bool
    printed: str

    @property
    def status(self) -> str:
        """The answer in a few words; an exception that the script did not mean says nothing of the finding."""
        last = "".join(self.printed.splitlines()[-1:])
        if self.holds:
            return SHOWS
        stopped = "Traceback" in self.printed or last.startswith((_LATE, _KILLED))
        answers = last.startswith("AssertionError") or not stopped
        return SILENT if answers else f"does not run: {last.partition(':')[0]}"


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
        return Shown(False, f"{_LATE} {SECONDS:g} seconds")
    if done.returncode < 0:
        return Shown(False, f"{_KILLED} {-done.returncode}")
    return Shown(done.returncode == 0, (done.stdout + done.stderr).strip())


def releases_of(finding: Finding) -> dict[str, str]:
    """Return what the script of a finding said of each release that it was run in, the oldest first."""
    path = ROOT / finding.folder / RELEASES
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def main(*chosen: str) -> None:
    """Run scripts in releases, and record what came of them."""
    for finding in all_findings():
        path, package = script_of(finding), pin_of(finding.library).package
        if path is None or is_javascript(finding.library):
            continue
        for version in environments.versions_of(package):
            if chosen and not {package, f"{package}=={version}"} & {*chosen}:
                continue
            try:
                status = run_script(path, environments.environment_of(package, version)).status
            except EnvironmentFailed as error:
                print(f"{package} {version}: {error}", file=sys.stderr)
                continue
            print(f"{finding.name} {version}: {status}", flush=True)
            if _LATE in status or _KILLED in status:  # of which this machine may be the cause
                continue
            told = {**releases_of(finding), version: status}
            ordered = {each: told[each] for each in sorted(told, key=Version)}
            write_whole(ROOT / finding.folder / RELEASES, json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
