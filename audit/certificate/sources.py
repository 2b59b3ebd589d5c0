"""Say in words which code a certificate is about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN_DIGITS = 16  # of a digest, on a page

Part = Mapping[str, Any]


def distributions_of(source: Part) -> Iterator[Part]:
    """Yield the distributions behind a check: the one that it is from, and the libraries that it names."""
    yield from (part for part in (source, *source.get("libraries", ())) if part.get("distribution"))


def code_of(sources: Mapping[str, Part]) -> str:
    """Return the audited code in words: distributions with versions and digests, files, and one digest of all files."""
    named = {
        f"{part['distribution']} {part.get('version', '')}": part.get("subject", "")
        for source in sources.values()
        for part in distributions_of(source)
    }
    words = [f"{name} ({digest[:_SHOWN_DIGITS]})" if digest else name for name, digest in sorted(named.items())]
    files = {part["file"]: part["digest"] for part in sources.values() if part.get("file")}
    if files:
        listed = "".join(f"{digest}  {file}\n" for file, digest in sorted(files.items()))
        digest = hashlib.sha256(listed.encode()).hexdigest()
        words.append(f"{len(files)} {'files' if len(files) > 1 else 'file'} with the digest {digest[:_SHOWN_DIGITS]}")
    return ", ".join(words)
