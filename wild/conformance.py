"""`python -m wild.conformance --library NAME`: a library's table of answers, in the library's own environment.

`wild/<library>/conformance.py` holds an `audit.conformance.Library`. The environment's own packages come first; the
auditor and what it needs come after them. The tables accuse, so they are kept in `drafts/conformance`, with the drafts.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import click

from wild.environments import CATALOGUE, libraries, prepare, python_of

TABLES = Path("drafts/conformance")
_START = (
    "import sys; sys.path[:0] = [{root!r}]; sys.path.append({packages!r}); from audit.faces.command_line import main"
)


def answering(catalogue: Path = CATALOGUE) -> list[str]:
    """Return the libraries that have a table of answers."""
    return [name for name in libraries(catalogue) if (catalogue / name / "conformance.py").is_file()]


def command_of(library: str, options: list[str]) -> list[str]:
    """Return the command that asks a library in its environment."""
    start = _START.format(root=str(CATALOGUE.parent), packages=sysconfig.get_path("purelib"))
    asked = ["conformance", f"wild.{library}.conformance", *options]
    return [str(python_of(library).absolute()), "-W", "ignore", "-c", f"{start}; main({asked!r})"]


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--library", "chosen", multiple=True, help="Only this one; may be repeated.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(chosen: tuple[str, ...], options: tuple[str, ...]) -> None:
    """Ask the libraries that have a table of answers; further OPTIONS are those of `dp-audit conformance`."""
    status = 0
    for library in chosen or answering():
        prepare(library)
        command = command_of(library, ["--out", str(TABLES), *options])
        status = max(status, subprocess.run(command, check=False).returncode)
    sys.exit(status)


if __name__ == "__main__":
    main()
