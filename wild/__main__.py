"""`python -m wild`: make the environments, audit every library, repeat every FAIL, and write the ledger.

Exit status: that of `dp-audit run`; a FAIL that is expected, and repeats, counts as met.
"""

from __future__ import annotations

import fnmatch
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from audit import Report, Verdict, run
from audit.base.errors import AuditError, InvalidCertificate
from audit.base.verdict import standing, worst
from audit.report.certificate import load_certificate, write_whole
from audit.report.terminal import LiveProgress, output_console, print_certificate
from audit.runs.suite import collect
from wild.environments import EnvironmentFailed, libraries, pin_of, prepare
from wild.ledger import AGAIN, Audited, ledger

CERTIFICATES, LEDGER = Path("reports/wild"), Path("docs/found.md")
SIGNIFICANCE = 0.01  # of the first run of each library, shared out over its checks
USAGE = 64


@click.command()
@click.option("--library", "chosen", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches; nothing is written then.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first run; repetitions take the next one.")
@click.option("--workers", type=int, default=os.cpu_count() or 1, show_default="number of cores")
def main(chosen: Sequence[str], select: str | None, seed: int, workers: int) -> None:
    """Audit released versions of libraries against their documented claims."""
    try:
        chosen = [library for library in _chosen(chosen) if _selected(library, select)]
        if not chosen:
            raise EnvironmentFailed(f"no check matches {select!r}")
        verdicts = [audited(library, select, seed, workers) for library in chosen]
    except (AuditError, EnvironmentFailed) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(USAGE)
    if select is None:
        write_whole(LEDGER, ledger(all_audited()))
        click.echo(f"ledger: {LEDGER}")
    sys.exit(worst(verdicts).exit_status)


def _chosen(names: Sequence[str]) -> Sequence[str]:
    known = libraries()
    if unknown := sorted(set(names) - set(known)):
        raise EnvironmentFailed(f"no library {unknown[0]!r}; there are {', '.join(known)}")
    return names or known


def audited(library: str, select: str | None, seed: int, workers: int) -> Verdict:
    """Audit one library, repeat what failed, and keep both certificates; the standing of the worst check."""
    checks = _selected(library, select)
    if prepare(library):
        click.echo(f"{library}: made the environment of {pin_of(library)}")
    first = _run(checks, library, SIGNIFICANCE, seed, workers)
    refuted = [result.check for result in first.results if result.verdict is Verdict.FAIL]
    again = _run(refuted, library, AGAIN * len(refuted), seed + 1, workers) if refuted else None
    if select is None:
        first.save(folder_of(library))
        if again is not None:
            again.save(folder_of(library) / "again")
    for report in filter(None, (first, again)):
        print_certificate(output_console(), report.certificate)
    return worst(_standings(first, again))


def _selected(library: str, select: str | None) -> list[Any]:
    """Return the checks of a library that match; an empty list when the pattern is for another library."""
    checks = collect([f"wild.{library}.audits"])
    return [check for check in checks if select is None or fnmatch.fnmatchcase(check.name, select)]


def _run(checks: Sequence[Any], library: str, significance: float, seed: int, workers: int) -> Report:
    with LiveProgress(len(checks), console=output_console()) as progress:
        return run(
            checks,
            significance=significance,
            seed=seed,
            workers=workers,
            progress=progress.finished,
            announce=progress.started,
            targets=[f"wild.{library}.audits"],
        )


def _standings(first: Report, again: Report | None) -> list[Verdict]:
    """Return the verdict of every check; a FAIL that did not repeat is INCONCLUSIVE."""
    unsettled = set() if again is None else {each.name for each in again.results if each.verdict is not Verdict.FAIL}
    return [
        Verdict.INCONCLUSIVE if result.name in unsettled else standing(result.verdict, result.check.expected)
        for result in first.results
    ]


def folder_of(library: str) -> Path:
    """Where the certificate of a library goes; the repetition has a folder `again` in it."""
    return CERTIFICATES / library


def all_audited() -> list[Audited]:
    """Every library that has a certificate, whichever run it is from."""
    found = []
    for library in libraries():
        certificate = _loaded(folder_of(library))
        if certificate is not None:
            failed = any(check["verdict"] == "FAIL" for check in certificate["checks"])
            again = _loaded(folder_of(library) / "again") if failed else None
            notes = getattr(importlib.import_module(f"wild.{library}.audits"), "NOTES", {})
            found.append(Audited(library, str(pin_of(library)), certificate, again, notes))
    return found


def _loaded(folder: Path) -> dict[str, Any] | None:
    try:
        return load_certificate(folder)
    except InvalidCertificate:
        return None


if __name__ == "__main__":
    main()
