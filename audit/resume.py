"""Keep the finished checks of a run on disk, so that a run that was killed can be resumed.

Each check is one file, written whole or not at all, with a digest. A checkpoint belongs to a plan: the checks with
their claims, the settings, the code and the versions. Evidence depends on nothing else, so a resumed run ends in the
certificate of an undisturbed one. Under another plan nothing is resumed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from audit.certificate.document import digest, load_certificate, versions, write_whole
from audit.certificate.verify import evidence_of, judged_part, problems_of
from audit.checks.base import Check, Evidence, Judgment, Result
from audit.errors import InvalidArgument, InvalidCertificate, Unwritable
from audit.execution.sandbox import not_inherited
from audit.mechanism.provenance import describe_code, hash_package, list_modules
from audit.verdict import Verdict

try:
    import fcntl
except ImportError:  # Windows: two runs in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

FOLDER = "unfinished"
_PARTS = "record", "seconds", "isolation", "printed", "sources"  # of the file of a check


@dataclass(frozen=True, repr=False, eq=False)
class Recorded(Result):
    """The result of a check that another process has run: its record stands for the evidence."""

    document: Mapping[str, Any]

    @classmethod
    def of_record(cls, document: Mapping[str, Any], seconds: float, check: Any = None, **apart: Any) -> Recorded:
        """Return the result that a record tells; `check` is the check itself where it is at hand."""
        check = check or SimpleNamespace(name=document["name"], expected=Verdict(document["expected"]))
        settings = document["settings"]
        try:
            evidence = evidence_of(document)
        except (LookupError, InvalidCertificate):  # of no kind that is known here, which no certificate can hold
            evidence = Evidence(int(document["evidence"]["samples"]))
        judgment = Judgment(Verdict(document["verdict"]), str(document.get("basis")), str(document["reason"]))
        budget, significance = settings.get("budget", 0), settings["significance"]
        return cls(check, budget, significance, evidence, judgment, seconds, dict(document), **apart)

    def record(self) -> dict[str, Any]:
        return dict(self.document)


class Checkpoint:
    """The finished checks of one run, in the folder `unfinished` beside its certificate."""

    def __init__(
        self, directory: Path, checks: Sequence[Check], settings: Sequence[Any], targets: Iterable[str]
    ) -> None:
        self.directory, self.folder = directory, directory / FOLDER
        self._lock: int | None = None
        self.is_finished = False
        self._checks = checks
        self._files = {check.name: self.folder / f"{index:05d}.json" for index, check in enumerate(checks)}
        self._plan_file = self.folder / "plan.json"
        stated = [
            [check.name, type(check).__qualname__, check.stated, check.expected.value, check.budget, check.timeout]
            for check in checks
        ]
        tops, paths = {target.partition(".")[0] for target in targets}, sysconfig.get_paths()
        folders = (paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
        installed = tuple(os.path.realpath(folder) + os.sep for folder in folders)

        def is_theirs(top: str, file: str) -> bool:
            return top != "audit" and (top in tops or not os.path.realpath(file).startswith(installed))

        code = {**describe_code(list_modules(is_theirs)), "audit": hash_package("audit")}
        self.plan = digest(stated, list(settings), code, versions(), sys.version.split()[0])

    def __enter__(self) -> Self:
        """Hold the lock of the output folder until the run is over; raise when another run has it."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.directory, os.O_RDONLY)
        except OSError as error:
            raise Unwritable.of(self.directory, error) from error
        not_inherited.add(self._lock)
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.__exit__()
            holder = (_read(self._plan_file) or {}).get("process", "unknown")
            raise InvalidArgument(
                f"{self.directory} is in use by another run, process {holder}; wait for it, or choose another folder"
            ) from None
        except OSError:  # a file system without locks
            pass
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            not_inherited.discard(self._lock)
            os.close(self._lock)
            self._lock = None

    def begin(self, resume: bool) -> dict[str, Recorded]:
        """Return the results that an earlier process has left, by name of the check; raise if they cannot be used."""
        found, kept = _read(self._plan_file), finished_checks(self.directory)
        if found is None and self._plan_file.exists():
            raise InvalidArgument(
                f"{self._plan_file} cannot be read as the plan of a run; delete {self.folder} to start anew"
            )
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
        plan = {"plan": self.plan, "checks": len(self._checks), "process": os.getpid()}
        write_whole(self._plan_file, json.dumps(plan))
        files = zip(self._checks, map(_read, self._files.values()), strict=True)
        return {
            check.name: _recorded(check, file, file["record"], file["seconds"])
            for check, file in files
            if file is not None and self._is_finished(check, file)
        }

    def _is_finished(self, check: Check, file: Mapping[str, Any]) -> bool:
        """Test whether a file is of this plan and this check, and its verdict that of its evidence."""
        with suppress(InvalidCertificate, LookupError, TypeError, AttributeError):
            record = file["record"]
            judged = json.loads(json.dumps(judged_part(record)))
            is_judged = all(record[key] == value for key, value in judged.items())
            is_whole = file["link"] == self._link(file)
            return bool(is_whole and file["plan"] == self.plan and record["name"] == check.name and is_judged)
        return False

    def _link(self, file: Mapping[str, Any]) -> str:
        """Return the digest of a file, which reveals edits as that of a certificate does."""
        return digest(self.plan, *map(file.__getitem__, _PARTS))

    def keep(self, result: Result) -> None:
        apart = ({result.name: value} for value in (result.isolation, result.printed, result.audited_source))
        document = dict(zip(_PARTS, (result.record(), result.seconds, *apart), strict=True), plan=self.plan)
        document["link"] = self._link(document)
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
        if problems_of(found) or found["provenance"].get("plan") != self.plan:
            return {}
        records, seconds = zip(self._checks, found["checks"], strict=True), found["timing"]
        return {check.name: _recorded(check, found, record, seconds.get(check.name, 0.0)) for check, record in records}


def finished_checks(directory: Path) -> int:
    """Return how many checks of an unfinished run are kept in a folder."""
    return len(list((directory / FOLDER).glob("[0-9]*.json")))


def read_unfinished(directory: Path) -> tuple[list[dict[str, Any]], int] | None:
    """Return the records of an unfinished run in a folder, and how many checks were planned; None if there is none."""
    plan = _read(directory / FOLDER / "plan.json")
    if plan is None:
        return None
    files = map(_read, sorted((directory / FOLDER).glob("[0-9]*.json")))
    return [file["record"] for file in files if file is not None], int(plan["checks"])


def _recorded(check: Check, document: Mapping[str, Any], record: Mapping[str, Any], seconds: float) -> Recorded:
    """Return the result in a record, with what the document around it says of its process and of the code that ran."""
    parts = {part: document.get(part, {}).get(check.name) for part in ("isolation", "printed")}
    apart: dict[str, Any] = {part: str(said) for part, said in parts.items() if said is not None}
    source = dict(document.get("sources", {}).get(check.name) or {})
    return Recorded.of_record(record, seconds, check, **apart, source=source)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a file of the checkpoint; None when there is none that can be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_known = isinstance(data, dict) and "plan" in data and ("checks" in data or "record" in data)
    return data if is_known else None
