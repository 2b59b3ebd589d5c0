"""`python -m wild.newer`: audit releases that came out after the audited ones, and write what changed.

The newest audited release of each package is compared with the newest one in the package registry. Where that is
newer, its environment takes the place of the old one, the checks of the library run in it, and the certificate is
compared with the committed one as `dp-audit diff` does it. What it finds is for the maintainers of this project alone
until the library's were told (SECURITY.md): the register does not change, and no issue is opened.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from packaging.version import Version

from audit.certificate.document import load_certificate
from audit.certificate.verify import changes
from wild.__main__ import SIGNIFICANCE, run_checks
from wild.audited import Audited, all_audited, jobs_of
from wild.environments import EnvironmentFailed, is_javascript, prepare
from wild.markdown import escaped

OUT = Path("reports/newer")
PAGE = "newer.md"


def newest_audited(libraries: Iterable[Audited]) -> list[Audited]:
    """Return the newest audited release of each package; what pip does not install is left out."""
    latest: dict[str, Audited] = {}
    for each in libraries:
        if is_javascript(each.library):
            continue
        held = latest.get(each.pin.package)
        if held is None or Version(each.pin.version) > Version(held.pin.version):
            latest[each.pin.package] = each
    return list(latest.values())


def released(package: str) -> str | None:
    """Return the newest release of a package that pip finds; None when it finds none."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.match(r"\S+ \(([^)]+)\)", done.stdout)
    return found[1] if found else None


def requirements(package: str, version: str) -> str:
    """Return the requirements of a newer release: its pin, and what it asks for itself."""
    return f"{package}=={version}\nnumpy\n"


def audited_newer(each: Audited, version: str, out: Path) -> list[str]:
    """Audit a newer release with the checks of an audited one; return what changed."""
    with tempfile.TemporaryDirectory() as folder:
        catalogue = Path(folder)
        (catalogue / each.library).mkdir()
        (catalogue / each.library / "requirements.txt").write_text(requirements(each.pin.package, version))
        prepare(each.library, catalogue)
    found = []
    for job in jobs_of(each.library):
        report = run_checks(job.checks, each.library, SIGNIFICANCE, seed=0, workers=1)
        report.save(out / each.library / (job.finding.folder.name if job.finding else ""))
        before = load_certificate(job.folder) if job.folder.is_dir() else {"checks": []}
        found += [str(change) for change in changes(before, report.certificate)]
    return found


def section(each: Audited, version: str, found: Sequence[str]) -> str:
    """Return the part of the page about one package."""
    title = f"## {each.pin.package} {version}, after {each.pin.version}"
    lines = [f"* {escaped(line)}" for line in found] or ["* no change"]
    return "\n".join([escaped(title).replace("\\#", "#"), "", *lines, ""])


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(out: Path) -> None:
    """Audit releases that are newer than the audited ones."""
    parts = ["# Releases newer than the audited ones\n"]
    for each in newest_audited(all_audited()):
        version = released(each.pin.package)
        if version is None or Version(version) <= Version(each.pin.version):
            continue
        try:
            found = audited_newer(each, version, out)
        except EnvironmentFailed as error:
            found = [f"cannot be installed: {error}"]
        parts.append(section(each, version, found))
    out.mkdir(parents=True, exist_ok=True)
    (out / PAGE).write_text("\n".join(parts if len(parts) > 1 else [*parts, "None.\n"]))
    click.echo(out / PAGE)


if __name__ == "__main__":
    main()
