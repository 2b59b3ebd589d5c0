"""The renderings of a certificate: a page, a summary, JUnit XML, SARIF and a badge; and fragments of it for notebooks.

A renderer is a template beside this file, with its line in `RENDERERS`. It reads a certificate's plain data, runs
nothing, and escapes its text; the text of a certificate is printable when a template sees it.
"""

import base64
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import chain
from typing import Any

import jinja2

from audit.certificate import summary
from audit.certificate.summary import write_abstract
from audit.text import count, number, printable_data
from audit.verdict import BASES

_MARKED_UP = (".html.j2", ".xml.j2", ".svg.j2")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LONGEST = 300  # characters of a cell in Markdown
_ROWS = 60  # of a table in a summary or in a notebook
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_INLINE = 60  # checks whose sections a page holds as they are; of more, each is unpacked when it is opened

Certificate = Mapping[str, Any]


def render(template: str, certificate: Certificate) -> str:
    """Return a certificate rendered by one of the templates beside this file."""
    certificate = printable_data(certificate)
    groups = summary.group_checks([_with_process(check, certificate) for check in certificate["checks"]])
    checks = list(chain.from_iterable(groups.values()))
    words = {
        "certificate": certificate,
        "audited": certificate["audited"],
        "checks": checks,
        "abstract": write_abstract(certificate),
    }
    return environment("audit.certificate").get_template(template).render(words)


def _with_process(check: Mapping[str, Any], certificate: Certificate) -> dict[str, Any]:
    """Return the record of a check with the process that it ran in."""
    apart = {part: certificate.get(part, {}).get(check["name"]) for part in ("isolation", "printed", "sources")}
    return {**check, **{part: said for part, said in apart.items() if said}}


html_of = partial(render, "certificate.html.j2")
markdown_of = partial(render, "certificate.md.j2")
junit_of = partial(render, "junit.xml.j2")  # one case per check, which passes if the verdict is the expected one
report_fragment = partial(render, "fragment.html.j2")  # verdict, counts and table, for a notebook


def write_sarif(certificate: Mapping[str, Any]) -> str:
    """Return the checks that are not as expected in SARIF 2.1.0, which code hosts show beside the code."""
    certificate = printable_data(certificate)
    sources, checks = certificate.get("sources", {}), certificate["checks"]
    unmet = [check for check in checks if check["verdict"] != check["expected"]]
    kinds = sorted({check["kind"] for check in unmet})
    rules = [{"id": kind, "shortDescription": {"text": f"{kind} check"}} for kind in kinds]
    driver = {"name": "dp-audit", "rules": rules}
    results = [_finding(check, sources.get(check["name"], {})) for check in unmet]
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=1) + "\n"


def _finding(check: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": check["mechanism"]}]}
    if source.get("file"):
        place = {"artifactLocation": {"uri": source["file"]}}
        location["physicalLocation"] = place | ({"region": {"startLine": source["line"]}} if source.get("line") else {})
    return {
        "ruleId": check["kind"],
        "level": "error" if check["verdict"] == "FAIL" else "warning",
        "message": {"text": f"{check['name']}: {check['verdict']}, expected {check['expected']}: {check['reason']}"},
        "locations": [location],
    }


RENDERERS: dict[str, Callable[[Certificate], str]] = {
    "certificate.html": html_of,
    "certificate.md": markdown_of,
    "junit.xml": junit_of,
    "badge.svg": partial(render, "badge.svg.j2"),
    "findings.sarif": write_sarif,
}


def check_fragment(record: Mapping[str, Any]) -> str:
    """Return one recorded check as the page shows it: HTML for a notebook, with a style that applies to it alone."""
    name = f"{zlib.crc32(json.dumps(record, sort_keys=True).encode()):08x}"  # two cells of a notebook share no ids
    return (
        environment("audit.certificate")
        .get_template("fragment.html.j2")
        .render(check=printable_data(record), index=name)
    )


@cache
def environment(package: str) -> jinja2.Environment:
    """Return the templates of a package, and those of the certificate; Markdown is escaped by the filter `md`."""
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader(*place) for place in ((package, "."), ("audit.certificate", "templates"))]
    )
    made = jinja2.Environment(
        loader=loader,
        autoescape=lambda name: name is not None and name.endswith(_MARKED_UP),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters.update(
        grouped=summary.group_checks,
        tally=summary.tally,
        tally_text=summary.tally_text,
        outcome_of=summary.outcome_of,
        standing_of=summary.standing_of,
        tone_of=summary.find_tone,
        paper=summary.find_paper,
        by_paper=summary.count_by_paper,
        code=summary.describe_sources,
        view=summary.find_view,
        md=escape_markdown,
        md_long=partial(escape_markdown, longest=None),
        number=number,
        count=count,
        source_digest=_source_digest,
        packed=_pack,
    )
    made.globals.update(
        bases=BASES,
        rows=_ROWS,
        most_inline=_MOST_INLINE,
        asset=lambda name: loader.get_source(made, name)[0],
    )
    made.tests.update(met=summary.is_met)
    return made


def escape_markdown(text: object, longest: int | None = _LONGEST) -> str:
    """Return text that Markdown shows as it is, on one line, cut when it is very long."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", line if longest is None or len(line) <= longest else line[: longest - 1] + "…")


def _pack(sections: Iterable[str]) -> str:
    """Return a list of texts as JSON, compressed, in letters that need no escape."""
    data = json.dumps([str(section) for section in sections], ensure_ascii=False).encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _source_digest(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
