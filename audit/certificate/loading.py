"""Read a certificate that anyone may have written: a regular file of bounded size, and JSON that has one meaning."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

from audit.errors import InvalidCertificate, MissingCertificate

LARGEST_FILE = 256 * 2**20  # bytes; a run of 100,000 checks has some 200 MB
_LONGEST_INTEGER = 100  # digits: a longer one is not a number to any judge
# O_NONBLOCK: to open a pipe would wait for somebody who writes
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def load_json(path: Path) -> Any:
    """Return the JSON of a regular file of at most `LARGEST_FILE` bytes.

    Raises
    ------
    MissingCertificate
        If the file cannot be read.
    InvalidCertificate
        If it is not a regular file, is too large, or is not JSON in UTF-8 with finite numbers and without repeated
        keys.
    """
    try:
        text = _text(path)
        return json.loads(
            text, parse_float=_finite, parse_constant=_finite, parse_int=_short, object_pairs_hook=_unique
        )
    except OSError as error:
        raise MissingCertificate(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidCertificate(f"{path} cannot be read as a certificate: {error}") from error


def _text(path: Path) -> str:
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise InvalidCertificate(f"{path} is not a regular file, so that it may have no end: give a file")
        content = file.read(LARGEST_FILE + 1)  # a file may grow after it was measured
    if len(content) > LARGEST_FILE:
        raise InvalidCertificate(f"{path} has more than {LARGEST_FILE:,} bytes: no certificate is that long")
    return content.decode("utf-8")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number of JSON")
    return number


def _short(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(f"an integer has {len(text)} digits")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object without repeated keys: of those, another reader might take another one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key is repeated among {', '.join(map(repr, found))}"[:200])
    return found
