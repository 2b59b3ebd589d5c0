"""The runs of a library, and those that have a certificate, each with what is said about them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from audit.certificate.document import load_certificate
from audit.errors import InvalidCertificate
from wild.audits import Audits, audits_of
from wild.environments import CATALOGUE, Pin, libraries, pin_of
from wild.findings import DRAFTS, Finding, all_findings

AGAIN = 1e-6  # significance of each repetition
CERTIFICATES = Path("reports/wild")
WITHHELD = CATALOGUE / "withheld.json"  # numbers of findings that are not public, for a copy without their folder

Check = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A certificate, the repetition of what failed in it, and the finding that its checks show.

    Parameters
    ----------
    folder : Path
        Of the certificate; the repetition is in its folder `again`.
    certificate : mapping
        Of the run.
    again : mapping or None
        Of the repetition; None when nothing failed.
    finding : Finding or None
        None for the checks that no finding is about.
    """

    folder: Path
    certificate: Mapping[str, Any]
    again: Mapping[str, Any] | None = None
    finding: Finding | None = None

    @property
    def checks(self) -> list[Check]:
        """The records of the run."""
        return list(self.certificate["checks"])

    @property
    def repetitions(self) -> dict[str, Check]:
        """The records of the repetition, by name."""
        return {} if self.again is None else {check["name"]: check for check in self.again["checks"]}

    @property
    def refuted(self) -> list[Check]:
        """The records of the claims that both runs refuted."""
        return [check for check in self.checks if self.is_refuted(check)]

    def is_refuted(self, check: Check) -> bool:
        """Return whether a check FAILed, and FAILed again with another seed at significance `AGAIN`."""
        repetition = self.repetitions.get(check["name"])
        return check["verdict"] == "FAIL" and repetition is not None and repetition["verdict"] == "FAIL"

    @property
    def certificates(self) -> list[Mapping[str, Any]]:
        """The certificates: of the run and, where something failed, of the repetition."""
        return [part for part in (self.certificate, self.again) if part is not None]


@dataclass(frozen=True)
class Audited:
    """The results of one release of a library.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    pin : Pin
        Package and version.
    runs : tuple of Run
        Of its checks: those that no finding is about first, then one for each finding that is shown.
    about : Audits
        What no certificate says.
    withheld : int >= 0
        Number of its findings that are not public.
    """

    library: str
    pin: Pin
    runs: tuple[Run, ...]
    about: Audits = field(default_factory=lambda: Audits([]))
    withheld: int = 0

    @property
    def release(self) -> str:
        """Package and version."""
        return str(self.pin)

    @property
    def checks(self) -> list[Check]:
        """The records of all runs."""
        return [check for run in self.runs for check in run.checks]

    @property
    def findings(self) -> list[Run]:
        """The runs that show a finding in this release."""
        return [run for run in self.runs if run.finding is not None and run.refuted]

    @property
    def kept(self) -> list[Check]:
        """The records of the claims that were not refuted."""
        return [check for run in self.runs for check in run.checks if not run.is_refuted(check)]

    @property
    def unexplained(self) -> list[Check]:
        """The records of refuted claims that no finding is about."""
        return [check for run in self.runs if run.finding is None for check in run.refuted]

    def refuted_by_class(self) -> Counter[str]:
        """Return the number of refuted claims of each class."""
        return Counter(run.finding.letter for run in self.findings if run.finding for _ in run.refuted)


class Job(NamedTuple):
    """Hold the checks of one run: those of a finding, or those of a library that no finding is about."""

    library: str
    finding: Finding | None
    checks: list[Any]

    @property
    def folder(self) -> Path:
        """Where the certificate goes."""
        return folder_of(self.library, self.finding)


def jobs_of(library: str, select: str | None = None) -> list[Job]:
    """Return the runs of a library, with the checks whose name matches; without a check there is no run."""
    asked = [(None, audits_of(library).checks)]
    asked += [(each, each.checks(library)) for each in all_findings() if library in each.releases]
    jobs = [Job(library, finding, [one for one in checks if fnmatchcase(one.name, select or "*")])
            for finding, checks in asked]  # fmt: skip
    return [job for job in jobs if job.checks]


def folder_of(library: str, finding: Finding | None = None) -> Path:
    """Where the certificate of a release goes; the repetition has a folder `again` in it."""
    return CERTIFICATES / library if finding is None else finding.folder / library


def all_audited(*, drafts: bool = False) -> list[Audited]:
    """Return every release with something to show; with the findings that are not public only where that is asked."""
    findings = all_findings()
    numbers = withheld_findings(findings)["releases"]
    found = []
    for library in libraries():
        shown = [each for each in findings if library in each.releases and (drafts or each.is_public)]
        runs = tuple(run for finding in (None, *shown) if (run := _run(library, finding)) is not None)
        if runs or numbers.get(library):
            found.append(Audited(library, pin_of(library), runs, audits_of(library), numbers.get(library, 0)))
    return found


def withheld_findings(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return how many findings are not public: in `all`, and of each release in `releases`.

    A copy of the repository without the folder of drafts takes the numbers that were written beside the catalogue.
    """
    if not DRAFTS.is_dir() and WITHHELD.is_file():
        return dict(json.loads(WITHHELD.read_text()))
    hidden = [each for each in findings if not each.is_public]
    releases = Counter(release for each in hidden for release in each.releases if release not in each.kept)
    return {"all": len(hidden), "releases": dict(sorted(releases.items()))}


def _run(library: str, finding: Finding | None) -> Run | None:
    folder = folder_of(library, finding)
    certificate = _loaded(folder)
    if certificate is None:
        return None
    failed = any(check["verdict"] == "FAIL" for check in certificate["checks"])
    return Run(folder, certificate, _loaded(folder / "again") if failed else None, finding)


def _loaded(folder: Path) -> dict[str, Any] | None:
    try:
        return load_certificate(folder)
    except InvalidCertificate:
        return None
