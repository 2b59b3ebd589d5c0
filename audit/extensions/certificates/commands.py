"""The commands `dp-audit attest` and `dp-audit diff`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from audit import load_certificate
from audit.api import cli, document, text, verify
from audit.extensions.certificates.changes import list_changes
from audit.extensions.certificates.statement import make_statement


@click.command("attest", epilog="Example: dp-audit attest certificate > statement.json")
@cli.DIRECTORY
@cli.reads_certificates
def attest_command(directory: Path) -> int:
    """Print an in-toto statement for signing tools.

    Its subject is the code that was audited, with the digest of its distribution; its predicate is the result. A
    certificate that contradicts itself is refused.
    """
    certificate = load_certificate(directory)
    if problems := verify.list_problems(certificate):
        return cli.print_contradictions(problems, "the certificate is not whole: {} problems")
    if status := cli.print_unverified_checks(certificate):
        return status
    click.echo(json.dumps(make_statement(certificate, document.find_certificate(directory)), indent=1))
    return 0


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@cli.reads_certificates
def diff_command(old: Path, new: Path) -> int:
    """Compare two certificates, regressions first.

    Worse are: verdicts, claims that changed, larger tolerances, an expectation other than PASS, lost checks.
    """
    before, after = load_certificate(old), load_certificate(new)
    verify.require_form(before)
    verify.require_form(after)
    found = list_changes(before, after)
    worse = sum(change.is_regression for change in found)
    summary = (
        f"{worse} got worse, {len(found) - worse} other changes, in {text.count_of(len(after['checks']), 'check')}"
    )
    click.echo("\n".join([*map(text.printable, found), summary]))
    return 1 if worse else cli.print_unverified_checks(before, after)
