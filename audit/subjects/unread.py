"""Name the places of outputs that no score reads: texts that hardly ever repeat, so that nothing can be counted.

A score reads numbers, and texts of which each occurs several times. Of others only their identity is kept, and what is
in them could be anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from audit.subjects.columns import Texts
from audit.subjects.outputs import Outputs

SEEN_ONCE = 0.01  # share of rows with a text of its own, beyond which what the texts say is not read
_ABOUT = re.compile(r"\w+\((output.*)\)")


def unread_places(
    sides: Sequence[Outputs], read: Sequence[Outputs], coded: Sequence[str], structured: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the places of the outputs, as `output["name"]`, whose texts hardly repeat.

    Parameters
    ----------
    sides, read : sequence of Outputs
        On both datasets, as they came, and as they are read.
    coded : sequence of str
        Texts that became columns of codes, since they vary.
    structured : sequence of str
        How symbols begin that are read by their structure.
    """
    size = sum(map(len, sides))
    found = [_place(name) for name in coded if _seldom_repeats(_texts(sides, name), size)]
    symbols = [outputs.symbols for outputs in read if outputs.symbols is not None]
    if _seldom_repeats(symbols, size, structured):
        found.append("output")
    return tuple(dict.fromkeys(found))


def _texts(sides: Sequence[Outputs], name: str) -> Iterator[Texts]:
    return (side.texts[name] for side in sides if name in side.texts)


def _seldom_repeats(parts: Sequence[Texts] | Iterator[Texts], size: int, structured: Sequence[str] = ()) -> bool:
    seen: Counter[str] = Counter()
    for texts in parts:
        for code, number in Counter(texts.codes.tolist()).items():
            if code >= 0 and not texts.table[code].startswith(tuple(structured)):
                seen[texts.table[code]] += number
    return sum(number == 1 for number in seen.values()) > SEEN_ONCE * size


def _place(name: str) -> str:
    about = _ABOUT.fullmatch(name)
    return about[1] if about else name
