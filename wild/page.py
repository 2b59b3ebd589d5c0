"""`python -m wild.page`: write what is public, as the page `docs/found.md` and as records in `docs/osv/`.

The page has a row and a section for each finding, the audited releases, and the packages that are left out. The
records have the Open Source Vulnerability format, for each finding of the classes A to D, with the releases in which
its script shows it. Every count and version is that of the data, `wild/*/findings.toml` and `wild/*/audits.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wild.audits import audits_of
from wild.environments import CATALOGUE, libraries, pin_of
from wild.findings import CLASSES, DOCUMENTED, SHOWS, Finding, all_findings

DOCS = CATALOGUE.parent / "docs"
PAGE, RECORDS = DOCS / "found.md", DOCS / "osv"
RECORDED = "ABCD"
FORMAT = "1.6.0"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|$&~!])")

_HEAD = """# Faults in released libraries

Released versions of libraries, each in a virtual environment of its own, audited against the claims of
their documentation: `python -m wild LIBRARY` does it again (`wild/README.md` in the repository).

{headline} A cause counts once, for any number of functions and
releases that it is in. Documented behavior does not count. Whether anybody is harmed is another question.
`docs/osv/` in the repository has records for machines.

## Classes

{classes}
## Findings

{findings}
"""


def escaped(text: Any) -> str:
    """Return a text as Markdown that shows it as it is, on one line.

    Examples
    --------
    >>> print(escaped("a|b <c>"))
    a\\\\|b \\\\<c\\\\>
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table; its cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def page(findings: Sequence[Finding]) -> str:
    """Return the page, in Markdown."""
    counted = [each for each in findings if each.letter != DOCUMENTED]
    packages = {package for each in counted for package in each.affected}
    severe = sum(each.letter in "AB" for each in counted)
    numbers = Counter(each.letter for each in findings)
    head = _HEAD.format(
        headline=f"So far {len(counted)} causes in {len(packages)} packages are public, {severe} of class A or B.",
        classes=table(["class", "kind", "causes"], [[key, kind, numbers[key]] for key, kind in CLASSES.items()]),
        findings=table(
            ["class", "finding", "affected releases", "script"],
            [[each.letter, _link(each), releases_of(each), f"`{_script(each)}`"] for each in findings],
        ),
    )
    return "\n".join([head, *map(section, findings), _audited(), _absent()])


def _link(finding: Finding) -> str:
    heading = f"{finding.letter}: {finding.title}".lower()
    return f"[{escaped(finding.title)}](#{re.sub(r'[^a-z0-9_ -]', '', heading).replace(' ', '-')})"


def _script(finding: Finding) -> str:
    return finding.script.relative_to(CATALOGUE.parent).as_posix()


def releases_of(finding: Finding) -> str:
    """Return the affected releases in words."""
    return "; ".join(f"{escaped(package)} {', '.join(versions)}" for package, versions in finding.affected.items())


def section(finding: Finding) -> str:
    """Return what is known of one finding."""
    others = [
        f"{escaped(package)} {status} in {', '.join(versions)}"
        for package, said in finding.releases.items()
        for status, versions in said.items()
        if status != SHOWS and versions
    ]
    known = ", ".join(f"{value:g} ({escaped(name)})" for name, value in finding.true_epsilon.items())
    lines = {
        "Public": f"<{finding.address}>" if finding.address.startswith("https://") else escaped(finding.address),
        "Affected": releases_of(finding),
        "Script elsewhere": "; ".join(others),
        "An adversary sees": escaped(finding.access),
        "True epsilon": known,
        "Documented": finding.caveat and f'"{escaped(finding.caveat.quote)}", {escaped(finding.caveat.place)}',
        "Looked up": "; ".join(map(_search, finding.searches)) or "nobody looked for other reports",
    }
    told = "\n".join(f"* {name}: {said}" for name, said in lines.items() if said)
    return f"### {finding.letter}: {escaped(finding.title)}\n\n{finding.cause.strip()}\n\n{told}\n"


def _search(search: Any) -> str:
    addresses = ", ".join(f"<{each}>" for each in search.relevant) or "none"
    return f'"{escaped(search.query)}", {search.date}: {search.hits} hits, about this cause {addresses}'


def _audited() -> str:
    rows = []
    for library in libraries():
        audits = audits_of(library)
        said = "; ".join(f'"{escaped(each.quote)}"' for each in audits.caveats) or "–"
        left = " ".join(audits.not_audited)
        rows.append([escaped(pin_of(library)), f"`{library}`", len(audits.checks), said, left])
    head = ["release", "folder", "claims", "its documentation warns", "not audited"]
    return "\n".join(["## Audited releases\n", table(head, rows)])


def _absent() -> str:
    absent: Mapping[str, str] = tomllib.loads((CATALOGUE / "absent.toml").read_text(encoding="utf-8"))
    rows = [[escaped(name), reason] for name, reason in sorted(absent.items(), key=lambda item: item[0].lower())]
    return "\n".join(["## Left out\n", table(["package", "reason"], rows)])


def records(findings: Sequence[Finding]) -> dict[str, dict[str, Any]]:
    """Return the records by identifier."""
    found = [record(each) for each in findings if each.letter in RECORDED]
    return {each["id"]: each for each in found}


def record_id(finding: Finding) -> str:
    """Return the identifier of the record of a finding; its prefix is registered nowhere."""
    return f"DPAUDIT-{finding.library}-{finding.name}".replace("_", "-")


def record(finding: Finding) -> dict[str, Any]:
    """Return the record of a finding; its versions are those in which the script shows it."""
    dates = [search.date for search in finding.searches]
    return {
        "schema_version": FORMAT,
        "id": record_id(finding),
        "modified": f"{max(dates).isoformat()}T00:00:00Z",
        "summary": f"{next(iter(finding.affected))}: {finding.title}",
        "details": " ".join(finding.cause.split()),
        "affected": [
            {"package": {"ecosystem": "PyPI", "name": package}, "versions": list(versions)}
            for package, versions in finding.affected.items()
        ],
        "references": [{"type": "REPORT", "url": finding.address}],
        "database_specific": {"classes": [finding.letter]},
    }


def written() -> Iterator[tuple[Path, str]]:
    """Yield every file with its text."""
    findings = all_findings()
    yield PAGE, page(findings)
    for name, said in records(findings).items():
        yield RECORDS / f"{name}.json", json.dumps(said, indent=1) + "\n"


def main() -> None:
    """Write the page and the records, and remove records of findings that are gone."""
    found = dict(written())
    for stale in set(RECORDS.glob("*.json")) - set(found):
        stale.unlink()
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
