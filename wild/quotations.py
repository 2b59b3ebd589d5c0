"""Quotations: the words that claims and caveats quote occur in the text of the installed distribution."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

SUFFIXES = {".py", ".pyi", ".md", ".rst", ".txt", ".so"}  # compiled modules hold their docstrings
_GREEK = {"ε": "epsilon", "ɛ": "epsilon", "δ": "delta", "𝛿": "delta"}


def quoted_by(checks: Iterable[Any]) -> list[str]:
    """Return what the sources of claims quote, each once.

    An ellipsis separates two quotations; the name of a parameter, before a colon, is not quoted.
    """
    found: dict[str, None] = {}
    for check in checks:
        for quoted in re.findall(r'"([^"]+)"', check.claim.source):
            found |= dict.fromkeys(re.sub(r"^\w+: ", "", part.strip()) for part in quoted.split(" ... "))
    return list(found)


def missing_from(package: str, site: Path, quotations: Iterable[str]) -> Iterator[str]:
    """Yield the quotations that do not occur in the README, the sources and the docstrings of a distribution."""
    distribution = next(iter(distributions(name=package, path=[str(site)])), None)
    files = (Path(str(file.locate())) for file in (distribution.files if distribution else None) or ())
    read = [path for path in files if path.is_file() and (path.suffix in SUFFIXES or path.name == "METADATA")]
    texts = [squeezed(path.read_text("utf-8", errors="ignore")) for path in read]
    for quotation in quotations:
        if not any(squeezed(quotation) in text for text in texts):
            yield quotation


@cache
def squeezed(text: str) -> str:
    """Return the letters and digits of a text, without links and markup; Greek letters by name.

    Examples
    --------
    >>> squeezed("*ε-DP*, as [they](https://example.org) say")
    'epsilondpastheysay'
    """
    plain = re.sub(r"<[^<>\n]*>|\]\([^()\s]*\)|:\w+:(?=`)", " ", text)
    plain = re.sub(r"[\W_]+", "", plain).lower()
    return re.sub("[εɛδ𝛿]", lambda letter: _GREEK[letter[0]], plain)
