"""The certificate as a badge: verdict and counts in one small picture for a README."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from audit.report.wording import audited_of

_COLOURS = {"PASS": "#1a6b3c", "FAIL": "#a3271e", "INCONCLUSIVE": "#7d5600"}
_LABEL = "differential privacy"
_LETTER, _BOLD, _PAD = 5.9, 6.6, 9  # width of a letter of 11 px, and of the margin beside the text
_BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{text}">
<title>{text}</title>
<clipPath id="round"><rect width="{width}" height="20" rx="4"/></clipPath>
<g clip-path="url(#round)">
<rect width="{left}" height="20" fill="#3d4248"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
</g>
<g fill="#fff" font-family="system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif" font-size="11" \
text-anchor="middle">
<text x="{left_middle}" y="14" textLength="{left_text}" lengthAdjust="spacingAndGlyphs">{label}</text>
<text x="{right_middle}" y="14" textLength="{right_text}" lengthAdjust="spacingAndGlyphs" \
font-weight="600">{said}</text>
</g>
</svg>
"""


def badge_of(certificate: Mapping[str, Any]) -> str:
    """Render a certificate's plain data as SVG."""
    verdict = certificate["verdict"]
    said = f"{verdict} · {certificate['as_expected']} of {audited_of(certificate)['checks']} as expected"
    left_text, right_text = round(len(_LABEL) * _LETTER), round(len(said) * _BOLD)
    left, right = left_text + 2 * _PAD, right_text + 2 * _PAD
    return _BADGE.format(
        width=left + right,
        left=left,
        right=right,
        left_text=left_text,
        right_text=right_text,
        left_middle=left / 2,
        right_middle=left + right / 2,
        colour=_COLOURS[verdict],
        label=_LABEL,
        said=escape(said),
        text=escape(f"{_LABEL}: {said}"),
    )
