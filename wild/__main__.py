"""`python -m wild`: make the environments, audit every library, repeat every FAIL, and write ledger and register.

Exit status: that of `dp-audit run`; a FAIL that is expected, and repeats, counts as met.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from audit import Report, Verdict, run
from audit.base.errors import AuditError
from audit.base.verdict import standing, worst
from audit.faces.runs.suite import collect
from audit.report.terminal import LiveProgress, output_console, print_certificate
from wild.audited import AGAIN, all_audited, folder_of
from wild.environments import EnvironmentFailed, libraries, pin_of, prepare
from wild.register import write_pages

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
        chosen = [library for library in _chosen(chosen) if _selected(library, select)]
        if not chosen:
            raise EnvironmentFailed(f"no check matches {select!r}")
        done = finished() if resume else frozenset()
        verdicts = [audited(library, select, seed, workers) for library in chosen if library not in done]
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


def finished() -> frozenset[str]:
    """Return the libraries whose certificates hold all of their checks, and a repetition of every FAIL."""
    done = {each.library: each for each in all_audited()}
    return frozenset(
        library
        for library, each in done.items()
        if {check["name"] for check in each.checks} == {check.name for check in _selected(library, None)}
        and set(each.repetitions) == {check["name"] for check in each.checks if check["verdict"] == "FAIL"}
    )


def audited(library: str, select: str | None, seed: int, workers: int) -> Verdict:
    """Audit one library, repeat what failed, and keep both certificates; the standing of the worst check."""
    checks = _selected(library, select)
    if prepare(library):
        click.echo(f"{library}: made the environment of {pin_of(library)}")
    first = run_checks(checks, library, SIGNIFICANCE, seed, workers)
    refuted = [result.check for result in first.results if result.verdict is Verdict.FAIL]
    again = run_checks(refuted, library, AGAIN * len(refuted), seed + 1, workers) if refuted else None
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
            targets=[f"wild.{library}.audits"],
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
