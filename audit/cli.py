"""The command line: run, list, report, replay, verify, and the commands of extensions.

Exit status: 0 if every check came out as expected, 1 if some check FAILs (of `diff`: if something got worse), 2 if some
are INCONCLUSIVE, 64 for bad usage, 65 for a certificate that contradicts itself, 66 for one that is not there, 69 for
one with checks that need an extension which is not installed, 70 for an internal error, 74 for a file that cannot be
written, 130 and 143 for a run that was ended by Ctrl-C or SIGTERM.

Every command does its imports when it is called: `dp-audit --help` does not load NumPy or the rest of the package.
"""

import difflib
import functools
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from audit import plugins
from audit.defaults import DEFAULT_BUDGET, DEFAULT_CONFIRMATION, DEFAULT_EXECUTOR, DEFAULT_SIGNIFICANCE, DEFAULT_TIMEOUT
from audit.errors import AuditError, InvalidCertificate, MissingCertificate, Unwritable
from audit.text import count_of, printable, printable_data
from audit.verdict import Verdict

USAGE, CONTRADICTION, NOT_FOUND, UNVERIFIED, INTERNAL, NOT_WRITTEN = 64, 65, 66, 69, 70, 74
INTERRUPTED, TERMINATED = 130, 143

T = TypeVar("T")
_EXAMPLES = """\b
First steps:
  dp-audit check mylib:count --epsilon 1 --left '[0, 0]' --right '[0, 1]'   audit one function
  dp-audit list mylib.audits                     names and claims of the checks in mylib/audits.py
  dp-audit run mylib.audits --out DIR            audit them; DIR holds the certificate
  dp-audit run mylib.audits --out DIR --resume   go on after an interruption

\b
With a certificate:
  dp-audit report DIR       the table again, and DIR's HTML, Markdown, JUnit and badge anew
  dp-audit verify DIR       is it whole: schema, sums, plan, digests, every verdict from its evidence
  dp-audit attest DIR       the audited code and the result, as a statement that tools sign
  dp-audit diff OLD NEW     changes from one to the other, the bad ones first

\b
Exit status:
  0  all as expected        64  wrong usage
  1  some FAIL              65  a certificate that contradicts itself
  2  some INCONCLUSIVE      66  a certificate that is not there
                            69  checks that need an extension which is not installed
                            70  internal error
                            74  a file or a folder that cannot be written
  130, 143  ended by Ctrl-C or SIGTERM; `run --resume` goes on
"""


def _module_names(context: click.Context, parameter: click.Parameter, targets: Sequence[str]) -> tuple[str, ...]:
    from audit.discover import find_module_name

    return tuple(map(find_module_name, targets))


TARGETS = click.argument("targets", nargs=-1, metavar="TARGET...", callback=_module_names)
FOLDER = click.Path(file_okay=False, path_type=Path)


def setting(name: str, default: Any, text: str, **more: Any) -> Callable[..., Any]:
    return click.option(name, **{"default": default, "show_default": True, "help": text, **more})


_SETTINGS = (
    setting(
        "--budget",
        DEFAULT_BUDGET,
        "For each check that states no budget of its own: auto, as many outputs as resolve its claim; quick, at twice "
        "the tolerance; deep, at 0.4 of it; or a number of outputs per dataset (losses in all).",
        metavar="auto|quick|deep|N",
    ),
    setting(
        "--significance",
        DEFAULT_SIGNIFICANCE,
        "Probability that any true claim of the run is suspected, and tested again (compare: or two equal laws called "
        "different).",
    ),
    setting(
        "--confirmation", DEFAULT_CONFIRMATION, "Probability that any true claim of the run is judged FAIL.", type=float
    ),
    setting("--seed", 0, "The same seed gives the same evidence."),
    setting(
        "--executor",
        DEFAULT_EXECUTOR,
        "'processes' on this machine, 'serial' for this process, or dask://scheduler:port. The evidence is the same.",
        metavar="WHERE",
    ),
    setting(
        "--workers", None, "Worker processes; a cluster has its own number.", type=int, show_default="available cores"
    ),
    setting("--timeout", DEFAULT_TIMEOUT, "Seconds after which a check is stopped."),
)


def with_settings(command: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


_OUTPUT = (
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="Print the verdict alone."),
)


def with_output(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of printing."""
    for option in reversed(_OUTPUT):
        command = option(command)
    return command


def digest(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return a digest in lower case, or refuse another text."""
    if value is not None and not re.fullmatch("[0-9a-f]{64}", value := value.strip().lower()):
        raise click.BadParameter("a digest is 64 hexadecimal digits")
    return value


class _Extended(click.Group):
    """A group with the commands of extensions, whose error for an unknown command names the nearest one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *plugins.list_keys("commands")])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command; that of an extension has its line of help alone, so that `--help` imports none."""
        if own := super().get_command(ctx, name):
            return own
        found = plugins.find_command(name)
        return None if found is None else click.Command(name, short_help=found.help)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            near = difflib.get_close_matches(args[0], known, n=1)
            meant = f"; did you mean: dp-audit {near[0]}" if near else f"; it is one of {', '.join(known)}"
            raise click.UsageError(f"No such command {args[0]!r}{meant}")
        name, command, rest = super().resolve_command(ctx, args)
        found = plugins.find_command(name) if name else None
        return name, plugins.load(found.command) if found else command, rest


@click.group(
    cls=_Extended, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False
)
@click.version_option(package_name="dp-audit")
def cli() -> None:
    """Audit differential privacy: does the code that runs keep its claim, with a stated error probability?"""


_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Print the reason and the scope of every verdict.")
DIRECTORY = click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")


def reads_certificates(command: Callable[..., T]) -> Callable[..., T]:
    """Refuse a certificate that no judge or renderer can read, for any error: others may have written it."""

    @functools.wraps(command)
    def wrapper(**options: Any) -> T:
        collects = gc.isenabled()
        gc.disable()  # a certificate is a large tree, in which Python would look for cycles again and again
        try:
            return command(**options)
        except (InvalidCertificate, OSError, click.ClickException):
            raise
        except Exception as error:
            raise InvalidCertificate(f"the certificate cannot be read: {type(error).__name__}: {error}") from error
        finally:
            if collects:
                gc.enable()

    return wrapper


@cli.command("run", epilog="Example: dp-audit run mylib.audits --out certificate --budget 2e5")
@TARGETS
@setting("--out", Path("reports"), "Folder for the certificate.", type=FOLDER)
@with_settings
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches, e.g. 'laplace/*'.")
@click.option("--resume", is_flag=True, help="Go on with a run that was interrupted; no finished check runs twice.")
@click.option("--open", "opens", is_flag=True, help="Open the page of the certificate in a browser.")
@_VERBOSE
@with_output
def run_command(
    targets: Sequence[str],
    out: Path,
    select: str | None,
    resume: bool,
    opens: bool,
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Audit the CHECKS of TARGETs, write a certificate.

    A TARGET is a package or module that Python can import from here, with a list CHECKS: mylib.audits, or its file
    mylib/audits.py. Without one, all modules below this folder that have such a list are audited.
    """
    from audit import runner as suite
    from audit.certificate.document import find_certificate
    from audit.certificate.terminal import LiveProgress, output_console, print_certificate

    targets = targets or _discover_targets()
    checks = suite.collect(targets, select)
    with LiveProgress(len(checks), suite.count_finished_checks(out) if resume else 0, quiet=quiet) as progress:
        settings |= {"progress": progress.show_result, "announce": progress.show_start, "targets": targets}
        report = suite.run(checks, directory=out, resume=resume, **settings)
    if (out / suite.FOLDER).exists():
        click.echo("dp-audit: workers were lost; the same command with --resume goes on from here", err=True)
    if quiet:
        click.echo(str(report.verdict))
    elif as_json:
        click.echo(find_certificate(out).read_text(encoding="utf-8"))
    else:
        print_certificate(output_console(), report.certificate, verbose)
        click.echo(f"certificate: {find_certificate(out)}")
    if opens:
        click.launch((out / "certificate.html").resolve().as_uri())
    return report.verdict.exit_status


def _discover_targets() -> tuple[str, ...]:
    """Return the modules below the current folder that list checks, and print which they are."""
    from audit.discover import discover_targets

    targets = discover_targets(Path.cwd())
    click.echo(f"found CHECKS in {', '.join(targets)}", err=True)
    return targets


@cli.command("list")
@TARGETS
@click.option("--select", metavar="GLOB", help="Only the checks whose name matches.")
def list_command(targets: Sequence[str], select: str | None) -> int:
    """List the checks of the TARGETs with their claims; without one, those below this folder."""
    from audit import runner as suite

    for check in suite.collect(targets or _discover_targets(), select):
        expected = "" if check.expected.value == "PASS" else f"  expected {check.expected}"
        click.echo(printable(f"{check.name}  {check.stated}{expected}  {check.recorded_claim()['source']}"))
    return 0


@cli.command("report")
@DIRECTORY
@_VERBOSE
@reads_certificates
def report_command(directory: Path, verbose: bool) -> int:
    """Show a certificate, and write its HTML anew.

    Its Markdown, JUnit XML and badge are written anew too, beside certificate.json in DIR. Of an unfinished run, the
    finished checks are shown. A certificate that contradicts its evidence is not shown.
    """
    from audit.certificate.document import find_certificate, load_certificate, write_renderings
    from audit.certificate.terminal import output_console, print_certificate, print_records
    from audit.certificate.verify import list_problems
    from audit.runner import read_unfinished_run

    if not find_certificate(directory).exists() and (unfinished := read_unfinished_run(directory)):
        records, planned = unfinished
        print_records(output_console(), printable_data(records), verbose, {})
        click.echo(f"unfinished: {len(records)} of {planned} checks; the same dp-audit run with --resume goes on")
        return Verdict.INCONCLUSIVE.exit_status
    certificate = load_certificate(directory)
    if problems := list_problems(certificate):
        return print_contradictions(problems, "the certificate contradicts its evidence in {} places")
    written = write_renderings(certificate, find_certificate(directory).parent)
    print_certificate(output_console(), certificate, verbose)
    click.echo(f"written: {', '.join(map(str, written))}")
    return print_unverified_checks(certificate)


@cli.command("replay", epilog="Example: dp-audit replay certificate")
@DIRECTORY
@reads_certificates
def replay_command(directory: Path) -> int:
    """Compute every verdict anew, from its evidence.

    DIR holds a certificate; nothing in it is imported or run.
    """
    from audit.certificate.document import load_certificate
    from audit.certificate.verify import list_problems, list_unverified_checks

    certificate = load_certificate(directory)
    if problems := list_problems(certificate):
        return print_contradictions(problems, "the certificate contradicts its evidence in {} places")
    judged = len(certificate["checks"]) - len(list_unverified_checks(certificate))
    click.echo(f"{certificate['verdict']}: {count_of(judged, 'verdict')} computed anew from the evidence")
    return print_unverified_checks(certificate) or Verdict(certificate["verdict"]).exit_status


@cli.command("verify", epilog="Example: dp-audit verify certificate --seal $(cat certificate.seal)")
@DIRECTORY
@click.option("--seal", metavar="HEX", callback=digest, help="The seal that the certificate must have.")
@click.option("--plan", metavar="HEX", callback=digest, help="The plan that the run must have had; see its checks.")
@reads_certificates
def verify_command(directory: Path, seal: str | None, plan: str | None) -> int:
    """Say whether a certificate is whole.

    Checks its schema, its sums, its plan, its digests, and every verdict against its evidence.

    Exit status 0 says that the certificate is whole, with any verdict. Digests reveal accidents and edits, not a
    forger who computes them again: compare seal and plan with those kept in another place, or sign the file.
    """
    from audit.certificate.document import load_certificate
    from audit.certificate.verify import list_notes, list_problems

    certificate = load_certificate(directory)
    problems = list_problems(certificate)
    if not problems:
        both = {"seal": (certificate["seal"], seal), "plan": (certificate["chain"]["start"], plan)}
        problems = [f"{at}: is {own}, not {kept}" for at, (own, kept) in both.items() if kept not in (None, own)]
    if problems:
        return print_contradictions(problems, "the certificate is not whole: {} problems")
    if not (status := print_unverified_checks(certificate)):
        click.echo(f"whole: {count_of(len(certificate['checks']), 'check')}, verdict {certificate['verdict']}")
    click.echo(f"seal: {certificate['seal']}\nplan: {certificate['chain']['start']}")
    click.echo("".join(f"{printable(note)}\n" for note in list_notes(certificate)), nl=False)
    return status


def print_unverified_checks(*certificates: Any) -> int:
    """Print which checks nobody can judge here, if there are any; return the exit status."""
    from audit.certificate.verify import list_unverified_checks

    lines = [line for certificate in certificates for line in list_unverified_checks(certificate)]
    click.echo("".join(f"{printable(line)}\n" for line in dict.fromkeys(lines)), nl=False)
    return (
        _print_error(f"{count_of(len(lines), 'check')} not verified: install the extension", UNVERIFIED) if lines else 0
    )


def print_contradictions(lines: Sequence[str], summary: str) -> int:
    """Print the problems of a certificate, and one line to standard error; return the exit status."""
    click.echo("\n".join(map(printable, lines)))
    return _print_error(summary.format(len(lines)), CONTRADICTION)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    sys.path.insert(0, os.getcwd())  # targets of the working folder, as `python -m` finds them
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        status = cli.main(args=arguments, prog_name="dp-audit", standalone_mode=False)
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except click.UsageError as error:
        status = _print_error(f"{error.format_message().rstrip('.')}; type: {_usage(error.ctx)}", USAGE)
    except click.ClickException as error:
        status = _print_error(f"{error.format_message()}; see dp-audit --help", USAGE)
    except (click.Abort, KeyboardInterrupt) as error:
        is_terminated = isinstance(error.__cause__ or error, _Terminated)  # click raises an exception of its own
        word, status = ("terminated", TERMINATED) if is_terminated else ("interrupted", INTERRUPTED)
        _print_error(f"{word}; the same command with --resume goes on from here", status)
    except AuditError as error:
        kinds: dict[type[AuditError], int] = {
            MissingCertificate: NOT_FOUND,
            InvalidCertificate: CONTRADICTION,
            Unwritable: NOT_WRITTEN,
        }
        status = _print_error(str(error), next((kinds[kind] for kind in kinds if isinstance(error, kind)), USAGE))
    except OSError as error:
        status = _print_error(f"{error}; mend it, then repeat the command", NOT_WRITTEN)
    except Exception:
        import traceback

        click.echo("\n".join(map(printable, traceback.format_exc().split("\n"))), err=True)
        status = INTERNAL
    finally:
        signal.signal(signal.SIGTERM, before)
    sys.exit(status or 0)


class _Terminated(KeyboardInterrupt):
    """SIGTERM ended the run."""


def _terminate(number: int, frame: object) -> None:
    raise _Terminated


def _print_error(message: str, status: int) -> int:
    """Print one line to standard error; return the exit status."""
    click.echo(f"dp-audit: {printable(message)}", err=True)
    return status


def _usage(context: click.Context | None) -> str:
    """Return the usage, in one line."""
    if context is None or context.parent is None:
        return "dp-audit --help"
    return " ".join(context.get_usage().removeprefix("Usage:").split())
