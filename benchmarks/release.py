"""Check that a checkout can be released, and print the commands that release it: `make release`.

The version is that of `pyproject.toml`. All places that state one agree with it, the newest entry of the changelog has
it with a date, nothing is uncommitted but what the release generates, both distributions were built, and the reference
certificate is whole. `.ci/large-files.txt` is written anew: tracked files over 100 kB, which change at releases only.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / ".ci" / "large-files.txt"
LARGE = 100_000  # bytes
_GENERATED = ("reports/", "docs/", ".ci/large-files.txt")  # what a release may have written
_STATED = {  # where else the version stands, each with what surrounds it
    "mechanisms/pyproject.toml": r'^version = "([^"]+)"',
    "CITATION.cff": r"^version: (\S+)",
    "CHANGELOG.md": r"^## ([\d.]+)",
    "action.yml": r"^# dp-audit ([\d.]+)",
    "docs/ci.md": r"uses: URL-OF-THE-DP-AUDIT-REPOSITORY@v([\d.]+)`",
}
_DATED = re.compile(r"^## [\d.]+, (\d{4}-\d{2}-\d{2})$", re.MULTILINE)


def version() -> str:
    """Return the version of the project."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def stated_versions() -> dict[str, str | None]:
    """Return the version that each other file states, the first one; None where a file states none."""
    found = {name: re.search(rule, (ROOT / name).read_text(), re.MULTILINE) for name, rule in _STATED.items()}
    return {name: match and match[1] for name, match in found.items()}


def large_files() -> dict[str, str]:
    """Return the digests of the tracked files over 100 kB."""
    names = filter(None, _git("ls-files", "-z").split("\0"))
    paths = (ROOT / name for name in names if (ROOT / name).is_file() and (ROOT / name).stat().st_size > LARGE)
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def write_list(of_version: str) -> None:
    """Write the list of large files anew."""
    lines = [f"{digest}  {name}" for name, digest in sorted(large_files().items())]
    head = "# Tracked files over 100 kB. They change at releases only: `make release` writes this list."
    LIST.write_text("\n".join([head, f"version {of_version}", *lines]) + "\n")


def problems(of_version: str) -> Iterator[str]:
    """Yield what keeps the checkout from being released, each with what to do."""
    for name, stated in stated_versions().items():
        if stated != of_version:
            yield f"{name} states version {stated}: write {of_version}"
    changelog = (ROOT / "CHANGELOG.md").read_text()
    date = _DATED.search(changelog)
    if date is None or not changelog[date.start() :].startswith(f"## {of_version}, "):
        yield f"CHANGELOG.md has no dated entry of {of_version}: write '## {of_version}, YYYY-MM-DD' above its changes"
    elif f"date-released: {date[1]}" not in (ROOT / "CITATION.cff").read_text():
        yield f"CITATION.cff has another date: write 'date-released: {date[1]}'"
    for line in _git("status", "--porcelain").splitlines():
        if not line[3:].startswith(_GENERATED):
            yield f"{line[3:]} is not committed: commit it, or remove it"
    if f"v{of_version}" in _git("tag").split():
        yield f"v{of_version} is released: choose the next version"
    for name in ("dp_audit", "dp_audit_mechanisms"):
        if not {path.suffix for path in (ROOT / "dist").glob(f"{name}-{of_version}*")} >= {".whl", ".gz"}:
            yield f"dist/ lacks wheel or sdist of {name} {of_version}: type make dist"


def compare_with_last() -> None:
    """Print what got worse since the certificate of the last release."""
    tags = _git("tag", "--sort=-creatordate", "--list", "v*").split()
    if not tags:
        print("no earlier release to compare the certificate with")
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "certificate.json").write_text(_git("show", f"{tags[0]}:reports/certificate.json"))
        subprocess.run([_program("dp-audit"), "diff", folder, ROOT / "reports"], cwd=ROOT)


def main() -> None:
    of_version = version()
    found = list(problems(of_version))
    if subprocess.run([_program("dp-audit"), "verify", ROOT / "reports"], cwd=ROOT).returncode:
        found.append("reports/certificate.json is not whole: type make audit")
    compare_with_last()
    if found:
        sys.exit("\n".join(["not ready for a release:", *found]))
    write_list(of_version)
    print("ready; review the changes of the certificate above, then type:\n  git add --all reports docs .ci")
    print(f"  git commit -m 'release: {of_version}'")
    print(f"  git tag -a v{of_version} -m 'dp-audit {of_version}'")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


if __name__ == "__main__":
    main()
