"""Digests of a certificate: a chain through the settings and every check, and a seal over the whole document.

    start = H(settings)      link_k = H(link_(k-1), record of check k)      seal = H(the document without its seal)

The chain depends on the evidence only, so that two runs with one seed have one chain; the seal covers time, place and
everything else. Both notice accidents, and edits by whoever does not compute them again. Neither stops a forger: keep
the seal in another place, or sign it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any


def digest(*parts: Any) -> str:
    """SHA-256 of plain data: JSON with sorted keys and no spaces, numbers as Python writes them, ASCII only."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def chain_of(settings: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The chain of a run: where it starts, and a link for each check."""
    start = link = digest(settings)
    links = [link := digest(link, record) for record in records]
    return {"algorithm": "sha256", "start": start, "links": links}


def seal_of(certificate: Mapping[str, Any]) -> str:
    """The digest of a whole certificate but for its seal."""
    return digest({name: part for name, part in certificate.items() if name != "seal"})
