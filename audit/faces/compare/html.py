"""A comparison as one HTML file: no network, no script, everything that it says escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from markupsafe import Markup

from audit.faces.compare.table import COLUMNS, law_sentences, legend, remarks
from audit.report.html import template_environment

_STYLE = """
.scroll { overflow-x: auto; }
.compared { font-size: .875rem; min-width: 58rem; }
.compared thead th { padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--ink); color: var(--quiet); }
.compared td, .compared tbody th { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--rule); }
.compared .figure { text-align: right; white-space: nowrap; }
.sentences { padding-left: 1.2rem; font-size: .9375rem; }
"""


def html_of(document: Mapping[str, Any]) -> str:
    """Render a comparison's plain data."""
    certificates = resources.files("audit.report").joinpath("certificate.css").read_text(encoding="utf-8")
    style = certificates + _STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return template_environment("audit.faces.compare").get_template("comparison.html.j2").render(
        document=document,
        columns=COLUMNS,
        legend=legend(document),
        remarks=remarks,
        law_sentences=law_sentences,
        style=Markup(style),  # of this package
        style_hash=f"sha256-{digest}",
    )
