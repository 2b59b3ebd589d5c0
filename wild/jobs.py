"""The runs of a library: the checks that no finding is about, and those of each finding."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from wild.audited import folder_of
from wild.audits import audits_of
from wild.findings import Finding, findings_of


class Job(NamedTuple):
    """Hold the checks of one run: those of a finding, or those of a library that no finding is about."""

    library: str
    finding: Finding | None
    checks: list[Any]

    @property
    def folder(self) -> Path:
        """Where the certificate goes."""
        return folder_of(self.library, self.finding)


def jobs_of(library: str, select: str | None) -> list[Job]:
    """Return the runs of a library, with the checks whose name matches; without a check there is no run."""
    own = Job(library, None, audits_of(library).checks)
    jobs = [own, *(Job(library, finding, finding.checks(library)) for finding in findings_of(library))]
    chosen = [job._replace(checks=[check for check in job.checks if _matches(check, select)]) for job in jobs]
    return [job for job in chosen if job.checks]


def _matches(check: Any, select: str | None) -> bool:
    return select is None or fnmatch.fnmatchcase(check.name, select)
