"""Number objects without calling code of the user.

The hooks of an audit hear of each call of `id`, which makes it slow where there is one, and code under audit is
given another `id`. The hash that all objects have by default is their address on CPython, turned by four bits.
"""

from __future__ import annotations

from typing import Any

identity = object.__hash__  # different for any two objects that live at one time
_TURNED, _WORD = 4, 64  # bits


def address(thing: Any) -> int:
    """Return where an object is in memory, on CPython."""
    number = identity(thing) % 2**_WORD
    return (number << _TURNED | number >> _WORD - _TURNED) % 2**_WORD
