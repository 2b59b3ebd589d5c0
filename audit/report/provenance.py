"""Where a certificate comes from: versions, commit, command line, platform, time."""

from __future__ import annotations

import datetime
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "dp-audit",
    "numpy",
    "scipy",
    "statsmodels",
    "dp-accounting",
    "joblib",
    "opendp",
    "diffprivlib",
    "python-dp",
)


def provenance(command: Sequence[str] = (), plan: str | None = None) -> dict[str, Any]:
    """Versions, git commit and dirty flag of the working folder, command line, platform, time and plan of the run."""
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": list(command) or _command_line(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": versions(),
        "git": _git_state(),
        "plan": plan,
    }


def versions() -> dict[str, str]:
    """The packages that evidence may depend on, those of them that are installed."""
    return {name: version for name in _PACKAGES if (version := _version(name)) is not None}


def _command_line() -> list[str]:
    """How the process was called; resuming leaves no trace, since it changes nothing."""
    given = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return [Path(sys.argv[0]).name, *given] if sys.argv else []


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git_state() -> dict[str, Any] | None:
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(_git("status", "--porcelain"))}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
