"""The environment of the page templates: what they escape, and the words that all of them share."""

from __future__ import annotations

import base64
import hashlib
import re

import jinja2

from audit.report import wording

_MARKED_UP = (".html.j2", ".xml.j2", ".svg.j2")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LONGEST = 300  # characters of a cell in Markdown


def template_environment(package: str) -> jinja2.Environment:
    """Return the templates of a package, and those of the certificate.

    HTML, XML and SVG templates escape what they show. Markdown templates do so with the filter `md`. An undefined name
    is an error.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name, ".") for name in (package, "audit.report")]),
        autoescape=lambda name: name is not None and name.endswith(_MARKED_UP),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    words = (wording.claimed, wording.count, wording.found, wording.number, wording.paper)
    environment.filters.update({function.__name__: function for function in words})
    environment.filters.update(md=escape_markdown, source_digest=source_digest)

    def asset(name: str) -> str:
        """Return the text of a style or a script."""
        assert environment.loader is not None
        return environment.loader.get_source(environment, name)[0]

    environment.globals.update(asset=asset)
    return environment


def escape_markdown(text: object) -> str:
    """Return text that Markdown shows as it is, in one line, cut when it is very long."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")


def source_digest(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
