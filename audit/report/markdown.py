"""The certificate as Markdown, short enough for the summary of a CI job: worst first, what it shows escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from audit.base.verdict import Verdict
from audit.report.wording import audited_of, claimed, count, found, is_met, number, paper, worst_first

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_MOST = 60  # rows of a table: the summary of a job may not grow with the number of checks; more that PASS are counted
_LONGEST = 300  # characters of a cell


def markdown_of(certificate: Mapping[str, Any]) -> str:
    """Render a certificate's plain data."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("audit.report", "."),
        autoescape=False,  # Markdown: `escape_markdown` does it
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(claimed=claimed, found=found, md=escape_markdown, number=number, count=count)
    ordered = worst_first(certificate["checks"])
    return environment.get_template("certificate.md.j2").render(
        certificate=certificate,
        audited=audited_of(certificate),
        surprises=[check for check in ordered if not is_met(check)],
        findings=[check for check in ordered if is_met(check) and check["verdict"] != "PASS"],
        kept=[check for check in ordered if is_met(check) and check["verdict"] == "PASS"],
        papers=by_paper(ordered),
        most=_MOST,
    )


def by_paper(checks: Sequence[Mapping[str, Any]]) -> list[tuple[str, Counter[str]]]:
    """How the checks of each paper came out, by verdict and "as expected"; papers by name."""
    papers: dict[str, Counter[str]] = {}
    for check in checks:
        counts = papers.setdefault(paper(check), Counter({verdict.value: 0 for verdict in Verdict}))
        counts[check["verdict"]] += 1
        counts["as expected"] += is_met(check)
    return sorted(papers.items())


def escape_markdown(text: object) -> str:
    """Text that Markdown shows as it is, in one line; a very long one is cut."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
