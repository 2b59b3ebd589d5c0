"""Keep every finished check of a run on disk at once, so that a run that was killed can be resumed.

Each check is one file, written whole or not at all. A checkpoint belongs to a plan: the checks with their claims, the
settings, the code and the versions. Evidence depends on nothing else, so a resumed run ends in the certificate of an
undisturbed one. Under another plan nothing is resumed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from audit.base.errors import InvalidArgument, InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.base import Check, Evidence, Judgment, Result
from audit.report.certificate import digest, load_certificate, versions, write_whole
from audit.subjects.process import loaded_code, loaded_modules

FOLDER = "unfinished"


@dataclass(frozen=True, repr=False)
class Recorded(Result):
    """The result of a check that another process has run: its record stands for the evidence."""

    document: Mapping[str, Any]

    @classmethod
    def of_record(cls, document: Mapping[str, Any], seconds: float, check: Any = None) -> Recorded:
        """Return the result that a record tells; `check` is the check itself where it is at hand."""
        check = check or SimpleNamespace(name=document["name"], expected=Verdict(document["expected"]))
        settings, evidence = document["settings"], Evidence(int(document["evidence"]["samples"]))
        judgment = Judgment(Verdict(document["verdict"]), str(document.get("basis")), str(document["reason"]))
        budget, significance = settings.get("budget", 0), settings["significance"]
        return cls(check, budget, significance, evidence, judgment, seconds, dict(document))

    def record(self) -> dict[str, Any]:
        """Return plain data without durations."""
        return dict(self.document)


class Checkpoint:
    """The finished checks of one run, in the folder `unfinished` beside its certificate."""

    def __init__(
        self, directory: Path, checks: Sequence[Check], settings: Sequence[float], targets: Iterable[str]
    ) -> None:
        self.directory, self.folder = directory, directory / FOLDER
        self.is_finished = False
        self._checks = checks
        self._files = {check.name: self.folder / f"{index:05d}.json" for index, check in enumerate(checks)}
        self._plan_file = self.folder / "plan.json"
        stated = [
            [check.name, type(check).__qualname__, check.stated, check.expected.value, check.budget, check.timeout]
            for check in checks
        ]
        self.plan = digest(stated, list(settings), _code(targets), versions(), sys.version.split()[0])

    def begin(self, resume: bool) -> dict[str, Recorded]:
        """Return the results that an earlier process has left, by name of the check; raise if they cannot be used."""
        found, kept = _read(self._plan_file), finished_checks(self.directory)
        if found is not None and kept and not resume:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run, {kept} of {found['checks']} checks done; add --resume "
                "(in Python: resume=True) to go on with it, or delete that folder"
            )
        is_ours = found is not None and found["plan"] == self.plan
        if found is not None and kept and not is_ours:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run of other checks, settings, code or versions; delete that "
                "folder to start anew"
            )
        if resume and not self.folder.exists() and (results := self._certified()):
            self.is_finished = True
            return results
        if not is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_whole(self._plan_file, json.dumps({"plan": self.plan, "checks": len(self._checks)}))
        return {check.name: result for check in self._checks if (result := self.recorded(check)) is not None}

    def recorded(self, check: Check) -> Recorded | None:
        """Return the result of a finished check; None when it is still to be run."""
        found = _read(self._files[check.name])
        if found is None or found.get("plan") != self.plan or found["record"]["name"] != check.name:
            return None
        return Recorded.of_record(found["record"], found["seconds"], check)

    def keep(self, result: Result) -> None:
        """Write a finished check."""
        document = {"plan": self.plan, "record": result.record(), "seconds": result.seconds}
        write_whole(self._files[result.name], json.dumps(document, allow_nan=False))

    def end(self) -> None:
        """Remove the folder unless a check is missing in it; it is gone at once, or still whole."""
        if all(file.exists() for file in self._files.values()):
            gone = tempfile.mkdtemp(dir=self.directory, prefix=f".{FOLDER}.")
            os.replace(self.folder, gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _certified(self) -> dict[str, Recorded]:
        """Return the results in the certificate of this very run; none when there is no such certificate."""
        try:
            found = load_certificate(self.directory)
        except InvalidCertificate:
            return {}
        if found["provenance"].get("plan") != self.plan:
            return {}
        return {
            check.name: Recorded.of_record(record, found["timing"].get(check.name, 0.0), check)
            for check, record in zip(self._checks, found["checks"], strict=True)
        }


def finished_checks(directory: Path) -> int:
    """Return how many checks of an unfinished run are kept in a folder."""
    return len(list((directory / FOLDER).glob("[0-9]*.json")))


def is_unfinished(directory: Path) -> bool:
    """Return whether a folder holds an unfinished run."""
    return (directory / FOLDER).exists()


def _code(targets: Iterable[str]) -> dict[str, str]:
    """Return digests of the loaded modules that belong to a target, or to neither Python nor an installed package."""
    tops = {target.partition(".")[0] for target in targets}
    paths = sysconfig.get_paths()
    installed = tuple(os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    return loaded_code(
        loaded_modules(lambda top, file: top in tops or not os.path.realpath(file).startswith(installed))
    )


def _read(path: Path) -> dict[str, Any] | None:
    """Return a file of the checkpoint; None when there is none that can be read."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data
