"""The virtual environments of the audited libraries: `.wild/<library>/` in the working folder, one a library.

A library is a folder beside this file with three files in it: `requirements.txt` (exact pins, the audited library
first), `served.py` (runs in the environment) and `audits.py` (runs here). An environment is made once; it is made anew
when the requirements, or the Python that makes it, change.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CATALOGUE = Path(__file__).resolve().parent
HOME = Path(".wild")  # in the working folder, like the caches of other tools
FILES = ("requirements.txt", "served.py", "audits.py")
_STAMP = "installed.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([A-Za-z0-9._+!-]+)")


class EnvironmentFailed(Exception):
    """A library is not there, or its environment cannot be made; the text holds the end of what the installer said."""


class Pin(NamedTuple):
    """A released version of a package."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


def libraries(catalogue: Path = CATALOGUE) -> list[str]:
    """Names of the libraries of a catalogue: its folders that hold all of `FILES`."""
    folders = (path for path in sorted(catalogue.iterdir()) if path.is_dir())
    return [folder.name for folder in folders if all((folder / name).is_file() for name in FILES)]


def pin_of(library: str, catalogue: Path = CATALOGUE) -> Pin:
    """The audited package and version: the first requirement of a library.

    Raises
    ------
    EnvironmentFailed
        When that does not pin one exact version.
    """
    lines = (catalogue / library / "requirements.txt").read_text().splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(("#", "-"))), "")
    match = _PIN.match(first)
    if match is None:
        raise EnvironmentFailed(f"the first requirement of {library} must be an exact pin, got {first!r}")
    return Pin(*match.groups())


def python_of(library: str) -> Path:
    """The interpreter of a library's environment, whether it exists or not."""
    return HOME.resolve() / library / "bin" / "python"


def prepare(library: str, catalogue: Path = CATALOGUE) -> bool:
    """Make the environment of a library, unless it is there; say whether it was made now.

    Raises
    ------
    EnvironmentFailed
        When it cannot be made.
    """
    requirements = catalogue / library / "requirements.txt"
    python = python_of(library)
    stamp, wanted = python.parents[1] / _STAMP, _digest(requirements)
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    shutil.rmtree(python.parents[1], ignore_errors=True)
    HOME.mkdir(exist_ok=True)
    (HOME / ".gitignore").write_text("*\n")
    # without a pip of its own: to unpack one takes longer than most installations, and the one here can do it
    _run([sys.executable, "-m", "venv", "--without-pip", str(python.parents[1])])
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "--requirement", str(requirements)])
    stamp.write_text(wanted)
    return True


def _digest(requirements: Path) -> str:
    """Return a digest of what an environment was made from: the requirements and the Python."""
    return hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFailed(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-2000:]}")
