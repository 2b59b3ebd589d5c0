"""Record where a certificate comes from: versions, commit, command line, time, and how this package was calibrated."""

from __future__ import annotations

import contextlib
import datetime
import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

_LIBRARIES = ("numpy", "scipy", "statsmodels", "dp-accounting", "joblib", "opendp", "diffprivlib", "python-dp")
_WORST = ("method", "kind", "mechanism", "audits", "alarms", "rate_lower_bound", "rate_upper_bound")


def provenance(command: Sequence[str] = (), plan: str | None = None) -> dict[str, Any]:
    """Return versions, git state of the working folder, command line, platform, time and plan of the run."""
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
    """Return the versions of the installed packages that evidence may depend on."""
    found = {}
    for name in ("dp-audit", *_LIBRARIES):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def calibration_summary() -> dict[str, Any] | None:
    """Return the worst rate of false alarms that was measured and its exact interval; None if nothing was measured.

    The rate is that of audits of tight claims that hold, over the randomness of the audits. Rows of the method "exact"
    are left out: their alarms are samplers wrongly said to misfit, not claims wrongly refuted.
    """
    file = resources.files("audit.report").joinpath("calibration.json")
    data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"rows": []}
    rows = [row for row in data["rows"] if row["method"] != "exact"]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row["alarms"] / row["audits"])
    catalogue = data.get("catalogue")
    return {
        "version": data["version"],
        "significance": data["significance"],
        "confidence": data["confidence"],
        "rows": len(rows),
        "audits": sum(row["audits"] for row in rows),
        "above": sum(row["rate_lower_bound"] > data["significance"] for row in rows),
        "worst": {name: worst[name] for name in _WORST},
        "catalogue": catalogue and {key: catalogue[key] for key in ("checks", "audits", "fails", "significance")},
    }


def _command_line() -> list[str]:
    """Return how the process was called; resuming leaves no trace, since it changes nothing."""
    given = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return [Path(sys.argv[0]).name, *given] if sys.argv else []


def _git_state() -> dict[str, Any] | None:
    """Return the commit of the working folder, and whether there are other changes; None outside a repository."""
    try:
        commit, status = (
            subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=10, check=True).stdout.strip()
            for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(status)}
