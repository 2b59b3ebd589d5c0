"""The renderings of a certificate: a page, a summary, JUnit XML and a badge; and fragments of the page for notebooks.

A renderer is a template beside this file, with its line in `RENDERERS`. It reads a certificate's plain data, runs
nothing, and escapes what it shows.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2

from audit.base.verdict import Verdict, standing
from audit.report.files import write_whole
from audit.report.pictures import pictures_of
from audit.report.templates import template_environment
from audit.report.wording import PRIVACY_KINDS, audited_of, by_paper, is_met, method, worst_first

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
_ROWS = 60  # of a table in a summary or in a notebook

Certificate = Mapping[str, Any]


def rendered(template: str, certificate: Certificate) -> str:
    """Return a certificate rendered by one of the templates beside this file."""
    checks = worst_first(certificate["checks"])
    words = {"certificate": certificate, "audited": audited_of(certificate), "checks": checks}
    return _environment().get_template(template).render(words)


def junit_of(certificate: Certificate) -> str:
    """Return a certificate as JUnit XML: one case per check, so that CI shows the audit beside the tests.

    A check with the expected verdict is a passed case, also for an expected FAIL. A refuted one is a failure. One that
    stays INCONCLUSIVE, or whose fault was not convicted, is an error.
    """
    return rendered("junit.xml.j2", _legal(certificate))


html_of = partial(rendered, "certificate.html.j2")
markdown_of = partial(rendered, "certificate.md.j2")
RENDERERS: dict[str, Callable[[Certificate], str]] = {
    "certificate.html": html_of,
    "certificate.md": markdown_of,
    "junit.xml": junit_of,
    "badge.svg": partial(rendered, "badge.svg.j2"),
}


def write_renderings(certificate: Certificate, folder: Path) -> list[Path]:
    """Write every rendering of a certificate into a folder, each whole or not at all."""
    for name, renderer in RENDERERS.items():
        write_whole(folder / name, renderer(certificate))
    return [folder / name for name in RENDERERS]


def check_fragment(record: Mapping[str, Any]) -> str:
    """Return one recorded check as the page shows it: HTML for a notebook, with a style that applies to it alone."""
    name = f"{zlib.crc32(json.dumps(record, sort_keys=True).encode()):08x}"  # two cells of a notebook share no ids
    return _environment().get_template("fragment.html.j2").render(check=record, index=name)


def report_fragment(certificate: Certificate) -> str:
    """Return verdict, counts and table of a certificate, the worst checks first: HTML for a notebook."""
    return rendered("fragment.html.j2", certificate)


@cache
def _environment() -> jinja2.Environment:
    environment = template_environment("audit.report")
    environment.filters.update(by_paper=by_paper, method=method, pictures=pictures_of, standing=_standing)
    environment.globals.update(privacy_kinds=PRIVACY_KINDS, rows=_ROWS)
    environment.tests.update(met=is_met)
    return environment


def _standing(check: Mapping[str, Any]) -> str:
    """Return how a check stands in CI: PASS when it came out as expected."""
    return "PASS" if is_met(check) else standing(Verdict(check["verdict"]), Verdict(check["expected"])).value


def _legal(part: Any) -> Any:
    """Return plain data without the characters that XML cannot hold."""
    if isinstance(part, str):
        return _FORBIDDEN.sub("\ufffd", part)
    if isinstance(part, Mapping):
        return {_legal(key): _legal(value) for key, value in part.items()}
    return [_legal(value) for value in part] if isinstance(part, list) else part
