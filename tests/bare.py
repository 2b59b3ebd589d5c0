"""An environment as `pip install` of this project makes it: its wheel, what that requires, and nothing else."""

import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


class Bare:
    """A new virtual environment in a folder, with the wheel of a project and links to the distributions it requires."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder)
        self.scripts = folder / "bin"
        install = ["-m", "pip", "--python", self.scripts / "python", "install", "--quiet", "--no-compile", "--no-deps"]
        installed = command(sys.executable, *install, wheel)
        assert installed.returncode == 0, installed.stderr
        (site,) = folder.glob("lib/python*/site-packages")
        (own,) = site.glob("dp_audit*.dist-info")
        self._required = needed(metadata.Distribution.at(own), {}).values()
        for distribution in self._required:
            link(distribution, site)
        (self.scripts / "pytest").write_text(f'#!/bin/sh\nexec {self.scripts / "python"} -m pytest "$@"\n')
        (self.scripts / "pytest").chmod(0o755)

    def megabytes(self) -> float:
        """Return the size of what the wheel requires, with the compiled modules."""
        files = {file.locate() for distribution in self._required for file in distribution.files or ()}
        return sum(Path(file).stat().st_size for file in files if Path(file).is_file()) / 1e6

    def run(self, line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a line of a shell in which the environment is activated."""
        return command("/bin/sh", "-c", line, cwd=cwd, PATH=f"{self.scripts}{os.pathsep}{os.environ['PATH']}")


def command(*arguments: object, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the variables that would let it find what this environment has."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    return subprocess.run(
        [*map(str, arguments)], cwd=cwd, env={**clean, **variables}, capture_output=True, text=True, timeout=600
    )


def built(project: str, folder: Path) -> Path:
    """Build the wheel of a project of this repository, and return its path."""
    done = command(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, project)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def needed(one: metadata.Distribution, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """Add to `found` the installed distributions that one requires, and those that they require."""
    for requirement in map(Requirement, one.requires or ()):
        key = canonicalize_name(requirement.name)
        if key not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found[key] = metadata.distribution(requirement.name)
            needed(found[key], found)
    return found


def link(distribution: metadata.Distribution, site: Path) -> None:
    """Make an installed distribution importable from another folder of packages."""
    for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
        if not (site / top).exists():
            (site / top).symlink_to(distribution.locate_file(top))
