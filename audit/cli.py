"""The command line: run, list, replay, report.

Exit status: 0 all as promised, 1 some FAIL, 2 none FAIL but some INCONCLUSIVE, 64 bad usage, 65 a certificate that
contradicts its own evidence, 70 internal error.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from audit import suite
from audit.checks import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.errors import AuditError, InvalidCertificate
from audit.report.certificate import load_certificate
from audit.report.replay import replay as replay_certificate
from audit.report.terminal import live_progress, output_console, print_certificate

USAGE, CONTRADICTION, INTERNAL = 64, 65, 70


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dp-audit")
def cli() -> None:
    """Audit differential privacy: does the code that runs keep the promise, with a stated error probability?"""


@cli.command("run")
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="Folder for the certificate.",
)
@click.option(
    "--budget",
    type=float,
    default=DEFAULT_BUDGET,
    show_default=True,
    help="Outputs a side, or losses in all, for each check that states no budget of its own.",
)
@click.option(
    "--significance",
    type=float,
    default=DEFAULT_SIGNIFICANCE,
    show_default=True,
    help="Probability that any true claim of the run is judged FAIL.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same evidence.")
@click.option(
    "--workers", type=int, default=os.cpu_count() or 1, show_default="number of cores", help="Worker processes."
)
@click.option(
    "--timeout",
    type=float,
    default=suite.DEFAULT_TIMEOUT,
    show_default=True,
    help="Seconds after which a check is stopped.",
)
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches, e.g. 'laplace/*'.")
def run_command(
    targets: Sequence[str],
    out: Path,
    budget: float,
    significance: float,
    seed: int,
    workers: int,
    timeout: float,
    select: str | None,
) -> int:
    """Audit all CHECKS of the TARGETs (importable packages or modules; default: mechanisms)."""
    checks = suite.collect(targets or ("mechanisms",), select)
    console = output_console()
    with live_progress(Console(stderr=True), len(checks)) as progress:
        report = suite.run(
            checks,
            significance=significance,
            budget=budget,  # type: ignore[arg-type]  # validated there: 1e5 is an integer
            seed=seed,
            workers=workers,
            timeout=timeout,
            progress=progress,
        )
    path = report.save(out)
    print_certificate(console, report.certificate)
    console.print(f"certificate: {path}", markup=False, highlight=False)
    return report.verdict.exit_status


@cli.command("list")
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches.")
def list_command(targets: Sequence[str], select: str | None) -> int:
    """List the checks of the TARGETs with their claims."""
    for check in suite.collect(targets or ("mechanisms",), select):
        expected = "" if check.expected.value == "PASS" else f"  expected {check.expected}"
        click.echo(f"{check.name}  {check.claim}{expected}  {check.claim.source}")
    return 0


@cli.command("replay")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
def replay_command(directory: Path) -> int:
    """Compute every verdict of the certificate in DIR anew, from its evidence alone."""
    outcome = replay_certificate(load_certificate(directory))
    for difference in outcome.differences:
        click.echo(difference)
    if outcome.differences:
        click.echo(f"the certificate contradicts its evidence in {len(outcome.differences)} places")
        return CONTRADICTION
    click.echo(f"{outcome.verdict}: {len(outcome.verdicts)} verdicts follow from the evidence")
    return outcome.verdict.exit_status


@cli.command("report")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
def report_command(directory: Path) -> int:
    """Show the certificate in DIR."""
    print_certificate(output_console(), load_certificate(directory))
    return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    sys.path.insert(0, os.getcwd())  # targets of the working folder, as `python -m` finds them
    try:
        status = cli.main(args=arguments, prog_name="dp-audit", standalone_mode=False)
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except click.ClickException as error:
        click.echo(f"dp-audit: {error.format_message()}; see dp-audit --help", err=True)
        status = USAGE
    except (click.Abort, KeyboardInterrupt):
        status = 130
    except InvalidCertificate as error:
        click.echo(f"dp-audit: {error}", err=True)
        status = CONTRADICTION
    except AuditError as error:
        click.echo(f"dp-audit: {error}", err=True)
        status = USAGE
    except Exception:
        traceback.print_exc()
        status = INTERNAL
    sys.exit(status or 0)
