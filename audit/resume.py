"""Keep the finished checks of a run on disk, so that a run that was killed can be resumed.

Each check is one file, written whole or not at all. A checkpoint belongs to a plan: the checks with their claims, the
settings, the code and the versions. Evidence depends on nothing else, so a resumed run ends in the certificate of an
undisturbed one. Under another plan nothing is resumed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from audit.certificate.document import digest, list_versions, load_certificate, write_whole
from audit.certificate.verify import read_evidence
from audit.checks.base import Check, Result
from audit.errors import InvalidArgument, InvalidCertificate
from audit.evidence.base import Evidence, Judgment
from audit.execution.workers import describe_code
from audit.verdict import Verdict

FOLDER = "unfinished"


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
            evidence = read_evidence(document)
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
        self.directory, self.folder, self.is_finished = directory, directory / FOLDER, False
        self._checks = {f"{index:05d}.json": check for index, check in enumerate(checks)}
        self._plan_file = self.folder / "plan.json"
        stated = [
            [check.name, type(check).__qualname__, check.stated, check.expected.value, check.budget, check.timeout]
            for check in checks
        ]
        self.plan = digest(stated, list(settings), describe_code(list_code(checks, targets)))

    def begin(self, resume: bool) -> dict[str, Recorded]:
        """Return the results that an earlier process has left, by name of the check; raise if they cannot be used."""
        found, kept = _read(self._plan_file), count_finished(self.directory)
        if found and kept and not resume:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run, {kept} of {found['checks']} checks done; add --resume "
                "(in Python: resume=True) to go on with it, or delete that folder"
            )
        is_ours = found.get("plan") == self.plan
        if kept and not is_ours:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run of other checks, settings, code or versions; delete that "
                "folder to start anew"
            )
        if resume and not self.folder.exists() and (results := self._read_certificate()):
            self.is_finished = True
            return results
        if not is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)
        write_whole(self._plan_file, json.dumps({"plan": self.plan, "checks": len(self._checks)}))
        files = ((check, _read(self.folder / name)) for name, check in self._checks.items())
        return {check.name: Recorded.of_record(check=check, **file) for check, file in files if file}

    def keep(self, result: Result) -> None:
        """Write the file of a finished check."""
        name = next(name for name, check in self._checks.items() if check.name == result.name)
        parts = {"isolation": result.isolation, "printed": result.printed, "source": result.audited_source}
        document = {"document": result.record(), "seconds": result.seconds, **parts}
        write_whole(self.folder / name, json.dumps(document, allow_nan=False))

    def end(self) -> None:
        """Remove the folder unless a check is missing in it."""
        if all((self.folder / name).exists() for name in self._checks):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _read_certificate(self) -> dict[str, Recorded]:
        """Return the results in the certificate of this very run; none when there is no such certificate."""
        try:
            found = load_certificate(self.directory)
        except InvalidCertificate:
            return {}
        if found["provenance"].get("plan") != self.plan:
            return {}
        parts = {"isolation": "isolation", "printed": "printed", "source": "sources"}
        return {
            check.name: Recorded.of_record(
                record,
                found["timing"][check.name],
                check,
                **{name: found[part][check.name] for name, part in parts.items() if check.name in found.get(part, {})},
            )
            for check, record in zip(self._checks.values(), found["checks"], strict=True)
        }


def list_code(checks: Iterable[Check], targets: Iterable[str]) -> list[str]:
    """Return the names of the code that evidence depends on: Python, packages, this one, and where checks are from."""
    homes = [getattr(getattr(check, "mechanism", check), "__module__", None) or __name__ for check in checks]
    tops = dict.fromkeys(name.partition(".")[0] for name in (__name__, *targets, *homes))
    return ["Python", *(f"package {name}" for name in list_versions()), *(f"code {top}" for top in tops)]


def count_finished(directory: Path) -> int:
    """Return how many checks of an unfinished run are kept in a folder."""
    return len(list((directory / FOLDER).glob("[0-9]*.json")))


def read_unfinished(directory: Path) -> tuple[list[dict[str, Any]], int] | None:
    """Return the records of an unfinished run in a folder, and how many checks were planned; None if there is none."""
    plan = _read(directory / FOLDER / "plan.json")
    if not plan:
        return None
    files = map(_read, sorted((directory / FOLDER).glob("[0-9]*.json")))
    return [file["document"] for file in files if file], int(plan["checks"])


def _read(path: Path) -> dict[str, Any]:
    """Return a file of the checkpoint; nothing when there is none that can be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
