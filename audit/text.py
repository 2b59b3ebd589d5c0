"""Show text that the code under audit has written: nothing in it commands a terminal or a CI system."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_COMMANDS = re.compile(  # words that GitHub, or GitHub and Azure, obey in a log; a wrapped line may begin anywhere
    r"::(?=(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher|save-state|set-env"
    r"|set-output|stop-commands|warning)\b)|##(?=\[|vso\[)",
    re.IGNORECASE,
)


def describe_error(error: BaseException) -> str:
    """Return the text of an exception, also if asking for it raises."""
    try:
        return str(error)
    except BaseException as other:
        return f"(its text raises {type(other).__name__})"


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Return names in words, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def printable(text: object) -> str:
    """Return text on one line, with escapes as Python writes them for commands to a terminal or a log.

    Escaped are line feeds and other control characters, bidirectional overrides and other invisible characters, lone
    surrogates, and the first character of a command to a CI system.
    """
    said = str(text)
    if not said.isprintable():
        said = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in said)
    return _COMMANDS.sub(lambda found: f"\\x{ord(found[0][0]):02x}{found[0][1:]}", said)


def printable_data(part: Any) -> Any:
    """Return plain data with every text in it printable, keys too."""
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, Mapping):
        return {printable_data(key): printable_data(value) for key, value in part.items()}
    return [printable_data(value) for value in part] if isinstance(part, (list, tuple)) else part


def number(value: float | str | None, digits: int = 4) -> str:
    """Return a number with few digits; a dash for None."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def count(value: int) -> str:
    """Return an integer with commas."""
    return f"{value:,}"


def count_of(value: int, noun: str) -> str:
    """Return how many of something there are, as "1 check" or "2 checks"."""
    return f"{count(value)} {noun}{'s' * (value != 1)}"


def interval(ends: Sequence[float]) -> str:
    """Return an interval with few digits."""
    return f"[{number(ends[0])}, {number(ends[1])}]"
