"""`python -m wild`: make the environments, audit every library, repeat every FAIL, and write ledger and register.

A library has one run for the claims that no finding is about, and one for each finding, whose certificates stay with
its data. A run that refutes a claim that no finding is about goes to `drafts/` as a whole, and shows on no page.

Exit status: that of `dp-audit run`; a FAIL that is expected, and repeats, counts as met.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from audit import Report, Verdict, run
from audit.certificate.document import JSON_NAME, load_certificate, write_whole
from audit.certificate.terminal import LiveProgress, output_console, print_certificate
from audit.errors import AuditError
from audit.verdict import standing, worst
from wild.audited import AGAIN, Job, jobs_of
from wild.environments import EnvironmentFailed, libraries, pin_of, prepare
from wild.findings import DRAFTS
from wild.register import write_pages
from wild.scripts import run_script, script_of

SIGNIFICANCE = 0.01  # of the first run of each library, shared out over its checks
USAGE = 64


@click.command()
@click.option("--library", "chosen", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches; nothing is written then.")
@click.option("--resume", is_flag=True, help="Leave out libraries whose certificate holds all of their checks.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first run; repetitions take the next one.")
@click.option("--workers", type=int, default=os.cpu_count() or 1, show_default="number of cores")
def main(chosen: Sequence[str], select: str | None, resume: bool, seed: int, workers: int) -> None:
    """Audit released versions of libraries against their documented claims."""
    try:
        jobs = [job for library in _chosen(chosen) for job in jobs_of(library, select)]
        if not jobs:
            raise EnvironmentFailed(f"no check matches {select!r}")
        verdicts = [audited(job, select, seed, workers) for job in jobs if not (resume and finished(job))]
    except (AuditError, EnvironmentFailed) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(USAGE)
    if select is None:
        for path in write_pages():
            click.echo(f"wrote {path}")
    sys.exit(worst(verdicts).exit_status if verdicts else 0)


def _chosen(names: Sequence[str]) -> Sequence[str]:
    known = libraries()
    if unknown := sorted(set(names) - set(known)):
        raise EnvironmentFailed(f"no library {unknown[0]!r}; there are {', '.join(known)}")
    return names or known


def finished(job: Job) -> bool:
    """Return whether the certificate of a run holds all of its checks, and a repetition of every FAIL."""
    first, again = (_records(folder) for folder in (job.folder, job.folder / "again"))
    failed = {name for name, verdict in first.items() if verdict == "FAIL"}
    return set(first) == {check.name for check in job.checks} and set(again) == failed


def _records(folder: Path) -> dict[str, str]:
    if not (folder / JSON_NAME).is_file():
        return {}
    return {record["name"]: record["verdict"] for record in load_certificate(folder)["checks"]}


def audited(job: Job, select: str | None, seed: int, workers: int) -> Verdict:
    """Audit the checks of one run, repeat what failed, and keep both certificates; the standing of the worst check."""
    if prepare(job.library):
        click.echo(f"{job.library}: made the environment of {pin_of(job.library)}")
    first = run_checks(job.checks, job.library, SIGNIFICANCE, seed, workers)
    failed = [result.check for result in first.results if result.verdict is Verdict.FAIL]
    again = run_checks(failed, job.library, AGAIN * len(failed), seed + 1, workers) if failed else None
    if select is None:
        keep(job, first, again)
    for report in filter(None, (first, again)):
        print_certificate(output_console(), report.certificate)
    return worst([*_standings(first, again), *([] if select else [shown(job)])])


def shown(job: Job) -> Verdict:
    """Run the script of a finding in the environment of the release; INCONCLUSIVE where it does not show there."""
    path = script_of(job.finding) if job.finding is not None and job.library not in job.finding.kept else None
    if path is None:
        return Verdict.PASS
    done = run_script(path, job.library)
    click.echo(f"{path.parent.name}/{path.name}: {done.printed}")
    return Verdict.PASS if done.holds else Verdict.INCONCLUSIVE


def keep(job: Job, first: Report, again: Report | None) -> None:
    """Write the certificates of a run: to the drafts, the whole run, if it refutes what no finding is about."""
    refuted = [result.name for result in again.results if result.verdict is Verdict.FAIL] if again else []
    folder = job.folder
    if refuted and job.finding is None:
        folder = DRAFTS / job.library / "unexplained" / job.library
        click.echo(f"{job.library}: refuted, and no finding is about it: {', '.join(sorted(refuted))}; see {folder}")
    for report, place in ((first, folder), (again, folder / "again")):
        if report is not None:
            write_whole(place / JSON_NAME, json.dumps(report.certificate, indent=1, allow_nan=False) + "\n")


def run_checks(checks: Sequence[Any], library: str, significance: float, seed: int, workers: int) -> Report:
    """Run checks of a library, and show how far they are."""
    with LiveProgress(len(checks), console=output_console()) as progress:
        return run(
            checks,
            significance=significance,
            seed=seed,
            workers=workers,
            progress=progress.finished,
            announce=progress.started,
            targets=[f"wild.{library}"],
        )


def _standings(first: Report, again: Report | None) -> list[Verdict]:
    """Return the verdict of every check; a FAIL that did not repeat is INCONCLUSIVE."""
    unsettled = set() if again is None else {each.name for each in again.results if each.verdict is not Verdict.FAIL}
    return [
        Verdict.INCONCLUSIVE if result.name in unsettled else standing(result.verdict, result.check.expected)
        for result in first.results
    ]


if __name__ == "__main__":
    main()
