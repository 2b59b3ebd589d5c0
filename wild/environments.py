"""The virtual environments of the audited libraries: `.wild/<library>/` in the working folder, one a library.

A library is a folder beside this file with three files in it: `requirements.txt` (exact pins, the audited library
first), `served.py` (runs in the environment) and `audits.toml` (read here). A library in JavaScript has `served.js` and
a `package.json` whose first dependency is the audited one; Node.js comes as a package of its requirements. An
environment is made once; it is made anew when the requirements, or the Python that makes it, change. `older.toml` names
the older releases that are asked, with the Python and the packages that they need.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import Version

CATALOGUE = Path(__file__).resolve().parent
HOME = Path(".wild")  # in the working folder, like the caches of other tools
AUDITS = "audits.toml"
FILES = ("requirements.txt", AUDITS)
SERVED = ("served.py", "served.js")  # of a Python library, and of one in JavaScript
NPM = "package.json"
OLDER: dict[str, dict[str, dict[str, Any]]] = tomllib.loads((CATALOGUE / "older.toml").read_text(encoding="utf-8"))
_STAMP, _PYTHON = "installed.txt", "python.txt"
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
    """Names of the libraries of a catalogue: its folders that hold all of `FILES`, and what serves the library."""
    folders = (path for path in sorted(catalogue.iterdir()) if path.is_dir())
    complete = (folder for folder in folders if all((folder / name).is_file() for name in FILES))
    return [folder.name for folder in complete if served_of(folder.name, catalogue).is_file()]


def pin_of(library: str, catalogue: Path = CATALOGUE) -> Pin:
    """The audited package and version: the first requirement of a library, or the first dependency of `package.json`.

    Raises
    ------
    EnvironmentFailed
        When that does not pin one exact version.
    """
    if is_javascript(library, catalogue):
        package, version = next(iter(json.loads((catalogue / library / NPM).read_text())["dependencies"].items()))
        return Pin(package, version)
    lines = (catalogue / library / "requirements.txt").read_text().splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(("#", "-"))), "")
    match = _PIN.match(first)
    if match is None:
        raise EnvironmentFailed(f"the first requirement of {library} must be an exact pin, got {first!r}")
    return Pin(*match.groups())


def is_javascript(library: str, catalogue: Path = CATALOGUE) -> bool:
    """Return whether a library is in JavaScript, so that it runs in Node.js."""
    return (catalogue / library / NPM).is_file()


def served_of(library: str, catalogue: Path = CATALOGUE) -> Path:
    """The file that calls a library; another release may have that of its sibling."""
    own = catalogue / library / SERVED[is_javascript(library, catalogue)]
    audits = catalogue / library / AUDITS
    if own.is_file() or not audits.is_file():
        return own
    sibling = tomllib.loads(audits.read_text(encoding="utf-8")).get("sibling")
    return own if sibling is None else served_of(sibling["of"], catalogue)


def pins_of(library: str, catalogue: Path = CATALOGUE) -> Path:
    """The file that pins the audited release."""
    return catalogue / library / (NPM if is_javascript(library, catalogue) else "requirements.txt")


def node_of(library: str) -> Path:
    """Node.js of a library's environment, whether it exists or not."""
    found = sorted((HOME.resolve() / library).glob("lib/python*/site-packages/nodejs*/bin/node"))
    return found[0] if found else HOME.resolve() / library / "bin" / "node"


def python_of(library: str) -> Path:
    """The interpreter of a library's environment, whether it exists or not."""
    return HOME.resolve() / library / "bin" / "python"


def behind(library: str, code: str) -> list[str]:
    """Return the command that runs code in a library's environment, whose packages come before those of the auditor."""
    start = (
        f"import sys; sys.path[:0] = [{str(CATALOGUE.parent)!r}]; sys.path.append({sysconfig.get_path('purelib')!r})"
    )
    return [str(python_of(library).absolute()), "-W", "ignore", "-c", f"{start}; {code}"]


def prepare(library: str, catalogue: Path = CATALOGUE) -> bool:
    """Make the environment of a library, unless it is there; say whether it was made now.

    Raises
    ------
    EnvironmentFailed
        When it cannot be made.
    """
    requirements = catalogue / library / "requirements.txt"
    python = python_of(library)
    stamp, wanted = python.parents[1] / _STAMP, _digest(requirements.parent)
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    shutil.rmtree(python.parents[1], ignore_errors=True)
    HOME.mkdir(exist_ok=True)
    (HOME / ".gitignore").write_text("*\n")
    named = requirements.parent / _PYTHON
    if named.is_file():
        _run([interpreter(named.read_text()), "-m", "venv", str(python.parents[1])])
        pip = [str(python), "-m", "pip"]  # the one here may not know so old a Python
    else:  # without a pip of its own: to unpack one takes longer than most installations, and the one here can do it
        _run([sys.executable, "-m", "venv", "--without-pip", str(python.parents[1])])
        pip = [sys.executable, "-m", "pip", "--python", str(python)]
    _run(
        [*pip, "--disable-pip-version-check", "install", "--quiet", "--no-compile", "--requirement", str(requirements)]
    )
    if is_javascript(library, catalogue):
        shutil.copy(requirements.parent / NPM, python.parents[1])
        npm = node_of(library).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error")
        _run([str(node_of(library)), str(npm), "install", "--prefix", str(python.parents[1]), *quiet])
    stamp.write_text(wanted)
    return True


def newest(package: str) -> str:
    """Return the folder of the newest audited release of a package."""
    folders = [each for each in libraries() if pin_of(each).package == package]
    return max(folders, key=lambda each: Version(pin_of(each).version))


def versions_of(package: str) -> list[str]:
    """Return the releases of a package that have a folder or stand in `older.toml`, the oldest first."""
    pinned = {pin_of(each).version for each in libraries() if pin_of(each).package == package}
    return sorted({*pinned, *OLDER.get(package, ())}, key=Version)


def environment_of(package: str, version: str) -> str:
    """Return the name of the environment of a release, which is made: as `older.toml` has it, or a folder of `wild`."""
    folders = [] if version in OLDER.get(package, {}) else libraries()
    known = next((each for each in folders if pin_of(each) == Pin(package, version)), None)
    if known is not None:
        prepare(known)
        return known
    catalogue, name = HOME / "releases", f"{package}=={version}"
    (catalogue / name).mkdir(parents=True, exist_ok=True)
    asked = OLDER.get(package, {}).get(version, {})
    needed = [line.partition("==")[0] for line in pins_of(newest(package)).read_text().splitlines()[1:]]
    lines = [f"{package}=={version}", *asked.get("packages", needed), ""]
    (catalogue / name / "requirements.txt").write_text("\n".join(lines))
    if "python" in asked:
        (catalogue / name / _PYTHON).write_text(asked["python"])
    prepare(name, catalogue)
    return name


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


def _digest(folder: Path) -> str:
    """Return a digest of what an environment was made from: the requirements of both kinds and the Python."""
    asked = (folder / name for name in ("requirements.txt", NPM, _PYTHON))
    texts = [path.read_bytes() for path in asked if path.is_file()]
    return hashlib.sha256(b"".join([*texts, sys.version.encode()])).hexdigest()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFailed(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-2000:]}")
