"""The certificate as Markdown, short enough for the summary of a CI job: worst first, what it shows escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from audit.base.verdict import Verdict
from audit.report.templates import template_environment
from audit.report.wording import audited_of, is_met, paper, worst_first

_MOST = 60  # rows of a table: the summary of a job may not grow with the number of checks; more that PASS are counted


def markdown_of(certificate: Mapping[str, Any]) -> str:
    """Render a certificate's plain data."""
    environment = template_environment("audit.report")
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

