"""diffprivlib 0.6.6 (IBM): mechanisms, tools and models, each against the epsilon that it is given."""

from __future__ import annotations

from wild.diffprivlib.mechanism_checks import ENTRIES as MECHANISMS
from wild.diffprivlib.model_checks import ENTRIES as MODELS
from wild.diffprivlib.tool_checks import ENTRIES as TOOLS

_ENTRIES = [*MECHANISMS, *TOOLS, *MODELS]
CHECKS = [each.check for each in _ENTRIES]
NOTES = {each.check.name: each.note for each in _ENTRIES if each.note}
