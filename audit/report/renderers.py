"""The renderings of a certificate: which file each is, and who writes it. A new renderer is one file and one line here.

A renderer is a function from a certificate's plain data to text; it reads nothing else, runs nothing, and escapes what
it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audit.report.badge import badge_of
from audit.report.files import write_whole
from audit.report.html import html_of
from audit.report.junit import junit_of
from audit.report.markdown import markdown_of

RENDERERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "certificate.html": html_of,
    "certificate.md": markdown_of,
    "junit.xml": junit_of,
    "badge.svg": badge_of,
}


def write_renderings(certificate: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write every rendering of a certificate into a folder, each whole or not at all."""
    for name, render in RENDERERS.items():
        write_whole(folder / name, render(certificate))
    return [folder / name for name in RENDERERS]
