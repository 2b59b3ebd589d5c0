"""The virtual environments of the audited libraries: `.wild/<library>/` in the working folder, one a release.

A library is a folder beside this file with three files in it: `requirements.txt` (exact pins, the audited library
first), `served.py` (runs in the environment) and `audits.toml`. An environment is made once; it is made anew when the
requirements, or the Python that makes it, change. The table `older` of `audits.toml` names the Python and the packages
that other releases need.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

CATALOGUE = Path(__file__).resolve().parent
HOME = Path(".wild")  # in the working folder, like the caches of other tools
AUDITS, REQUIREMENTS, SERVED = FILES = ("audits.toml", "requirements.txt", "served.py")
_STAMP = "installed.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([A-Za-z0-9._+!-]+)")


class EnvironmentFailed(Exception):
    """A library is not there, or its environment cannot be made; the text holds the end of the installer's output."""


class Pin(NamedTuple):
    """A released version of a package."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


def libraries(catalogue: Path = CATALOGUE) -> list[str]:
    """Return the names of the libraries of a catalogue: its folders that hold all of `FILES`."""
    folders = (path for path in sorted(catalogue.iterdir()) if path.is_dir())
    return [folder.name for folder in folders if all((folder / name).is_file() for name in FILES)]


def pin_in(requirement: str, place: str) -> Pin:
    """Return the package and the version of a requirement.

    Raises
    ------
    EnvironmentFailed
        When it does not pin one exact version.
    """
    match = _PIN.match(requirement)
    if match is None:
        raise EnvironmentFailed(f"{place} must be an exact pin, such as opendp==0.15.1, got {requirement!r}")
    return Pin(*match.groups())


def pin_of(library: str, catalogue: Path = CATALOGUE) -> Pin:
    """Return the audited package and version: the first requirement of a library."""
    return pin_in(_requirements(library, catalogue)[0], f"the first requirement of {library}")


def _requirements(library: str, catalogue: Path) -> list[str]:
    lines = (catalogue / library / REQUIREMENTS).read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith(("#", "-"))] or [""]


class Environment(NamedTuple):
    """The environment of a release of a library.

    Parameters
    ----------
    library : str
        A folder of the catalogue.
    pin : Pin
        The release.
    catalogue : Path
        Where the folder is.
    """

    library: str
    pin: Pin
    catalogue: Path = CATALOGUE

    @property
    def is_pinned(self) -> bool:
        """Return whether it is the release of `requirements.txt`."""
        return self.pin == pin_of(self.library, self.catalogue)

    @property
    def home(self) -> Path:
        """Where it is, whether it exists or not."""
        return HOME.resolve() / (self.library if self.is_pinned else f"{self.pin.package}=={self.pin.version}")

    @property
    def python(self) -> Path:
        """Its interpreter, whether it exists or not."""
        return self.home / "bin" / "python"

    @property
    def requirements(self) -> Path:
        """The file with its requirements; that of another release is written when the environment is made."""
        folder = self.catalogue / self.library if self.is_pinned else self.home
        return folder / REQUIREMENTS

    @property
    def site(self) -> Path:
        """Its folder of packages."""
        return next(iter(self.home.glob("lib/python*/site-packages")), self.home)

    def behind(self, code: str) -> list[str]:
        """Return the command that runs code in it, whose packages come before those of the auditor."""
        packages = [path for path in sys.path if Path(path).name == "site-packages"]
        start = f"import sys; sys.path[:0] = [{str(self.catalogue.parent)!r}]; sys.path += {packages!r}"
        return [str(self.python), "-W", "ignore", "-c", f"{start}; {code}"]

    def prepare(self) -> bool:
        """Make it, unless it is there; return whether it was made now.

        Raises
        ------
        EnvironmentFailed
            When it cannot be made.
        """
        named, lines = self._asked()
        stamp, wanted = self.home / _STAMP, hashlib.sha256("\n".join([named, *lines, sys.version]).encode()).hexdigest()
        if stamp.is_file() and stamp.read_text() == wanted:
            return False
        shutil.rmtree(self.home, ignore_errors=True)
        HOME.mkdir(exist_ok=True)
        (HOME / ".gitignore").write_text("*\n")
        if named:
            _run([interpreter(named), "-m", "venv", str(self.home)])
            pip = [str(self.python), "-m", "pip"]  # the one here may not know so old a Python
        else:  # without a pip of its own: to unpack one takes longer than most installations
            _run([sys.executable, "-m", "venv", "--without-pip", str(self.home)])
            pip = [sys.executable, "-m", "pip", "--python", str(self.python)]
        if not self.is_pinned:
            self.home.mkdir(parents=True, exist_ok=True)
            self.requirements.write_text("\n".join([*lines, ""]))
        options = ("--disable-pip-version-check", "install", "--quiet", "--no-compile", "--requirement")
        _run([*pip, *options, str(self.requirements)])
        stamp.write_text(wanted)
        return True

    def _asked(self) -> tuple[str, list[str]]:
        """Return the Python, if the release needs another one than this, and the requirements."""
        own = (self.catalogue / self.library / REQUIREMENTS).read_text().splitlines()
        if self.is_pinned:
            return "", own
        data = tomllib.loads((self.catalogue / self.library / AUDITS).read_text(encoding="utf-8"))
        older = data.get("older", {}).get(self.pin.version, {})
        needed = [line.partition("==")[0] for line in _requirements(self.library, self.catalogue)[1:]]
        options = [line for line in own if line.startswith("-")]
        asked = [f"{self.pin.package}=={self.pin.version}", *older.get("packages", needed), *options]
        return older.get("python", ""), asked


def environment_of(library: str, release: str | None = None, catalogue: Path = CATALOGUE) -> Environment:
    """Return the environment of a library, or of another release, such as `opendp==0.15.1`."""
    known = libraries(catalogue)
    if library not in known:
        raise EnvironmentFailed(f"no library {library!r}; there are {', '.join(known)}")
    pin = pin_of(library, catalogue) if release is None else pin_in(release, "a release")
    return Environment(library, pin, catalogue)


def interpreter(version: str) -> str:
    """Return the Python of a version, such as `3.9`: on the path, or made by pyenv.

    Raises
    ------
    EnvironmentFailed
        When there is none.
    """
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    made = sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    found = str(made[-1]) if made else shutil.which(f"python{version}")
    if found is None:
        raise EnvironmentFailed(f"python{version} is not installed: put it on the path, or install it with pyenv")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFailed(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-2000:]}")
