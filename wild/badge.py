"""The badge of an audited release: red for a severe finding, green only where every check passed."""

from __future__ import annotations

from html import escape

from wild.audited import Audited
from wild.findings import SEVERE

GREEN, RED, GRAY = "#1a6b3c", "#a3271e", "#5b6168"
_LETTER, _MARGIN = 6.4, 18  # pixels

_SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {said}">
<title>{label}: {said}</title>
<clipPath id="round"><rect width="{width}" height="20" rx="4"/></clipPath>
<g clip-path="url(#round)"><rect width="{left}" height="20" fill="#3d4248"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/></g>
<g fill="#fff" font-family="system-ui,'DejaVu Sans',sans-serif" font-size="11" text-anchor="middle">
<text x="{middle_left}" y="14">{label}</text>
<text x="{middle_right}" y="14" font-weight="600">{said}</text>
</g>
</svg>
"""


def badge(each: Audited) -> str:
    """Return the badge of a release, as SVG."""
    label, said = f"dp-audit · {each.release}", wording(each)
    left, right = (round(_LETTER * len(text)) + _MARGIN for text in (label, said))
    return _SVG.format(
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
