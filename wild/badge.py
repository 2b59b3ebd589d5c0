"""The badge of an audited release: red for a severe finding, green only where every check passed."""

from __future__ import annotations

from html import escape

from wild.audited import Audited
from wild.findings import SEVERE
from wild.markdown import filled

GREEN, RED, GRAY = "#1a6b3c", "#a3271e", "#5b6168"
_LETTER, _MARGIN = 6.4, 18  # pixels


def badge(each: Audited) -> str:
    """Return the badge of a release, as SVG."""
    label, said = f"dp-audit · {each.release}", wording(each)
    left, right = (round(_LETTER * len(text)) + _MARGIN for text in (label, said))
    return filled(
        "badge.svg",
        label=escape(label),
        said=escape(said),
        width=left + right,
        left=left,
        right=right,
        middle_left=left / 2,
        middle_right=left + right / 2,
        color=color(each),
    )


def color(each: Audited) -> str:
    """Return red where a claim of a severe class is refuted, green where every check passed, gray otherwise."""
    if any(each.refuted_by_class()[letter] for letter in SEVERE):
        return RED
    every = each.checks and all(check["verdict"] == "PASS" for check in each.checks) and not each.withheld
    return GREEN if every else GRAY


def wording(each: Audited) -> str:
    """Return the text of the badge: refuted claims by class, passed checks, findings that are not public."""
    refuted = sorted(each.refuted_by_class().items())
    parts = [f"class {letter}: {number} refuted" for letter, number in refuted]
    passed = sum(check["verdict"] == "PASS" for check in each.checks)
    parts.append(f"{passed} of {len(each.checks)} passed")
    if each.withheld:
        parts.append(f"{each.withheld} not public")
    return ", ".join(parts)
