"""The badge of an audited release: how many of its claims were refuted, and on how many checks."""

from __future__ import annotations

from html import escape

from wild.audited import Audited

GREEN, RED = "#1a6b3c", "#a3271e"
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
    refuted, checks = len(each.refuted), len(each.checks)
    label, said = f"dp-audit · {each.release}", f"{refuted} of {checks} claims refuted"
    left, right = (round(_LETTER * len(text)) + _MARGIN for text in (label, said))
    return _SVG.format(
        label=escape(label),
        said=escape(said),
        width=left + right,
        left=left,
        right=right,
        middle_left=left / 2,
        middle_right=left + right / 2,
        color=RED if refuted else GREEN,
    )
