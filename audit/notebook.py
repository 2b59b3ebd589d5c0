"""Hold what shows a record in a notebook: the package connects the room that renders with the one that has results."""

from collections.abc import Callable, Mapping
from typing import Any

html_of: Callable[[Mapping[str, Any]], str] | None = None  # HTML of the record of a check
