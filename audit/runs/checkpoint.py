"""Checkpoints: every finished check of a run is on disk at once, so that a run that was killed goes on where it was.

Each check is one file, written whole or not at all. A checkpoint belongs to a plan: the checks with their claims, the
settings, the code and the versions. Evidence depends on nothing else, so that a resumed run ends in the certificate
of an undisturbed one; under another plan nothing is resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.contract import Check, Result
from audit.report.chain import digest
from audit.report.files import write_whole
from audit.report.provenance import versions

FOLDER = "unfinished"
_PLAN = "plan.json"


@dataclass(frozen=True)
class Recorded:
    """The result of a check that an earlier process audited: its record, and what is read off it."""

    check: Any
    document: Mapping[str, Any]
    seconds: float

    @property
    def name(self) -> str:
        """Name of the check."""
        return str(self.document["name"])

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        return Verdict(self.document["verdict"])

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return str(self.document["reason"])

    @property
    def significance(self) -> float:
        """The check's share of the run's."""
        return float(self.document["settings"]["significance"])

    @property
    def samples(self) -> int:
        """Outputs, losses or values that were drawn."""
        return int(self.document["evidence"]["samples"])

    @property
    def met(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.check.expected

    def record(self) -> dict[str, Any]:
        """Plain data without durations."""
        return dict(self.document)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the duration."""
        return {**self.document, "seconds": self.seconds}


class Checkpoint:
    """The finished checks of one run in a folder.

    Parameters
    ----------
    directory : Path
        Where the certificate will be; the checkpoint is the folder `unfinished` in it.
    plan : str
        Digest of what is run, from `plan_of`.
    names : sequence of str
        Of the checks, in their order.
    """

    def __init__(self, directory: Path, plan: str, names: Sequence[str]) -> None:
        self.folder = directory / FOLDER
        self.plan = plan
        self._place = {name: self.folder / f"{index:05d}.json" for index, name in enumerate(names)}

    def begin(self, resume: bool) -> None:
        """Open the folder.

        Raises
        ------
        InvalidArgument
            When an unfinished run is there and is not to be resumed, or is one of another plan.
        """
        found = _read(self.folder / _PLAN)
        finished = len(list(self.folder.glob("[0-9]*.json")))
        if found is not None and finished and not resume:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run, {finished} of {found['checks']} checks done; add --resume "
                "to go on with it, or delete that folder"
            )
        if found is not None and finished and found["plan"] != self.plan:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run of other checks, settings, code or versions; delete that "
                "folder to start anew"
            )
        if found is None or found["plan"] != self.plan:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_whole(self.folder / _PLAN, json.dumps({"plan": self.plan, "checks": len(self._place)}))

    def recorded(self, check: Check) -> Recorded | None:
        """The result of a check that is finished; None when it is still to be audited."""
        found = _read(self._place[check.name])
        if found is None or found.get("plan") != self.plan or found["record"]["name"] != check.name:
            return None
        return Recorded(check, found["record"], found["seconds"])

    def keep(self, result: Result) -> None:
        """Write a finished check."""
        document = {"plan": self.plan, "record": result.record(), "seconds": result.seconds}
        write_whole(self._place[result.name], json.dumps(document, allow_nan=False))

    def end(self) -> None:
        """Remove the folder, once the certificate is written; it is gone at once, or still whole."""
        if self.folder.exists():
            gone = tempfile.mkdtemp(dir=self.folder.parent, prefix=f".{FOLDER}.")
            os.replace(self.folder, gone)
            shutil.rmtree(gone, ignore_errors=True)


def plan_of(checks: Iterable[Check], settings: Mapping[str, Any], targets: Iterable[str]) -> str:
    """Digest of all that evidence depends on: checks and claims, settings, the code that is loaded, versions."""
    listed = [
        [check.name, type(check).__qualname__, str(check.claim), check.expected.value, check.budget, check.timeout]
        for check in checks
    ]
    return digest(listed, dict(settings), _code(targets), versions(), sys.version.split()[0])


def _code(targets: Iterable[str]) -> dict[str, str]:
    """Digest of every loaded module that is neither Python's nor an installed package's, or belongs to a target."""
    tops = {target.partition(".")[0] for target in targets}
    paths = sysconfig.get_paths()
    installed = tuple(os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or name in ("__main__", "__mp_main__"):
            continue
        if name.partition(".")[0] in tops or not os.path.realpath(file).startswith(installed):
            found[name] = _file_digest(Path(file))
    return found


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read(path: Path) -> dict[str, Any] | None:
    """A file of the checkpoint; None when there is none that can be read."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data
