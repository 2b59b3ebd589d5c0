"""The certificate as Markdown: worst first, what it shows escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from audit.claim_kinds import claim_label

PRIVACY_KINDS = frozenset({"privacy", "precision"})
_ORDER = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


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
    environment.filters["claim"] = claim_label
    environment.filters["bounds"] = bounds
    environment.filters["md"] = escape_markdown
    environment.filters["number"] = number
    environment.filters["tally"] = tally
    checks = sorted(certificate["checks"], key=lambda c: (c["verdict"] == c["expected"], _ORDER[c["verdict"]]))
    template = environment.get_template("certificate.md.j2")
    return template.render(certificate=certificate, **by_table(checks))


def by_table(checks: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The checks of each table: privacy (of bits too), randomness, utility."""
    tables: dict[str, list[Mapping[str, Any]]] = {"privacy": [], "randomness": [], "utility": []}
    for check in checks:
        kind = check["kind"]
        tables["privacy" if kind in PRIVACY_KINDS else kind if kind in tables else "utility"].append(check)
    return tables


def tally(evidence: Mapping[str, Any]) -> str:
    """The comparison that was won most clearly, in deviations: its kind, and how often it was won and lost."""

    def clearly(part: Mapping[str, Any]) -> float:
        return float((part["won"] - part["lost"]) / math.sqrt(max(1, part["won"] + part["lost"])))

    most = max(evidence["comparisons"], key=clearly, default=None)
    return f"{most['kind']}: {most['won']} won, {most['lost']} lost" if most else "–"


def escape_markdown(text: object) -> str:
    """Text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def number(value: float | str | None, digits: int = 4) -> str:
    """A number with few digits; a dash for none."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def bounds(found: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """The bounds that a utility verdict rests on; the last ones, which are at the largest sizes."""
    shown = []
    for part in found[-most:]:
        low, high = (number(part[side]) for side in ("lower", "upper"))
        shown.append(f"{part['quantity']} = {low}" if low == high else f"{part['quantity']} in [{low}, {high}]")
    return "; ".join(shown) or "–"
