"""The environment of the page templates: escaping by the kind of page, and the words that all pages share."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources

import jinja2

from audit.report import wording

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LONGEST = 300  # characters of a cell in Markdown


def template_environment(package: str) -> jinja2.Environment:
    """Return the templates of a package.

    HTML templates escape what they show. Markdown templates do it with the filter `md`. An undefined name is an error.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=lambda name: name is not None and ".html" in name,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        claimed=wording.claimed,
        found=wording.found,
        paper=wording.paper,
        number=wording.number,
        count=wording.count,
        md=escape_markdown,
    )
    return environment


def escape_markdown(text: object) -> str:
    """Return text that Markdown shows as it is, in one line, cut when it is very long."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")


def asset(package: str, name: str) -> str:
    """Return the text of a file of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def source_digest(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

