"""`python -m wild LIBRARY`: make the environment of a released library, and audit it against its documentation.

The claims of its documentation are checked, those that a public finding is about with the verdict that is expected in
the release, and the scripts of the findings are run. Quotations are looked up in the installed distribution. With
`--table` the library is asked what every library is asked (docs/conformance.md).

Exit status: that of `dp-audit run`; a script that does not do what is recorded counts as INCONCLUSIVE.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import click

from audit import AuditError, Verdict, run
from wild.audits import audits_of, in_environment
from wild.environments import CATALOGUE, Environment, EnvironmentFailed, environment_of
from wild.findings import BROKEN, SHOWS, findings_of, run_script
from wild.quotations import missing_from, quoted_by

USAGE = 64


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("library")
@click.option("--release", metavar="NAME==VERSION", help="Another release, which is installed beside it.")
@click.option("--select", metavar="GLOB", default="*", help="Only the checks and the findings whose name matches.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the certificate goes; reports/wild/LIBRARY.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, help="By default the number of cores.")
@click.option("--table", is_flag=True, help="Ask what every library is asked, with OPTIONS of dp-audit conformance.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(
    library: str, release: str | None, select: str, out: Path | None, seed: int, workers: int | None,
    table: bool, options: tuple[str, ...],
) -> None:  # fmt: skip
    """Audit a released LIBRARY, a folder of wild/, against its documentation."""
    try:
        environment = environment_of(library, release)
        if options and not table:
            raise EnvironmentFailed(f"{' '.join(options)} goes to dp-audit conformance: add --table")
        if environment.prepare():
            click.echo(f"made the environment of {environment.pin}")
        if table:
            sys.exit(subprocess.run(command_of(environment, options), check=False).returncode)
        verdict = audit_claims(environment, select, out or Path("reports/wild") / library, seed, workers)
        agree = all([*shown_as_recorded(environment, select)])
    except (AuditError, EnvironmentFailed) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(USAGE)
    sys.exit((Verdict.INCONCLUSIVE if verdict is Verdict.PASS and not agree else verdict).exit_status)


def command_of(environment: Environment, options: tuple[str, ...]) -> list[str]:
    """Return the command that asks a library, in its environment, what every library is asked."""
    if not (CATALOGUE / environment.library / "conformance.py").is_file():
        raise EnvironmentFailed(f"wild/{environment.library}/conformance.py is not there: docs/conformance.md says how")
    asked = ["conformance", f"wild.{environment.library}.conformance", *options]
    command = "next(iter(entry_points(group='console_scripts', name='dp-audit'))).load()"
    return environment.behind(f"from importlib.metadata import entry_points; {command}({asked!r})")


def checks_in(environment: Environment, select: str = "*") -> list[object]:
    """Return the checks of a library and of its findings, for a release."""
    library, pin = environment.library, environment.pin
    found = [*audits_of(library).checks, *(check for each in findings_of(library) for check in each.checks_in(pin))]
    return [in_environment(check, environment) for check in found if fnmatchcase(check.name, select)]


def audit_claims(environment: Environment, select: str, out: Path, seed: int, workers: int | None) -> Verdict:
    """Audit the claims of a release, save the certificate, and print it; PASS where nothing matches."""
    library, checks = environment.library, checks_in(environment, select)
    if not checks:
        return Verdict.PASS
    documented = [each.caveat for each in findings_of(library) if each.caveat is not None]
    said = [each.quote for each in (*audits_of(library).caveats, *documented)]
    for quotation in missing_from(environment.pin.package, environment.site, [*quoted_by(checks), *said]):
        click.echo(f"note: {environment.pin} does not hold the words {quotation!r}", err=True)
    report = run(checks, seed=seed, workers=workers, targets=[f"wild.{library}"])
    report.save(out)
    click.echo(str(report))
    return report.verdict


def shown_as_recorded(environment: Environment, select: str) -> Iterator[bool]:
    """Run the scripts of the findings, and yield whether each shows where `findings.toml` records that it does."""
    for finding in findings_of(environment.library):
        if fnmatchcase(f"{finding.library}/{finding.name}", select):
            status, printed = run_script(finding.script, environment)
            click.echo(f"{finding.library}/{finding.name} {status}: {printed}")
            yield status == BROKEN or (status == SHOWS) == finding.shows_in(environment.pin)


if __name__ == "__main__":
    main()
