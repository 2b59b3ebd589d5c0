"""The certificate as one HTML file: no network, no other file, readable in print, on a phone, in light and in dark.

Everything that a certificate says is escaped; the page's own style and script are the only ones that its content
security policy lets run, by their digests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from audit.report.pictures import pictures_of
from audit.report.templates import asset, source_digest, template_environment
from audit.report.wording import PRIVACY_KINDS, audited_of, paper, worst_first

_MEANING = {
    "PASS": "Nothing stands against any claim that was expected to hold.",
    "FAIL": "At least one claim is refuted.",
    "INCONCLUSIVE": "No claim is refuted against expectation, but at least one check did not decide what it should.",
}
_METHODS = {
    "fixed": "guess game at a fixed budget",
    "sequential": "sequential guess game",
    "exact": "stated law, and the sampler against it",
    "evaluator": "computed without noise by an evaluator",
    "simulation": "simulated losses, with bounds that hold in finite samples",
    "stated values": "values computed and compared",
    "randomness": "comparisons of outputs that share nothing, each won half the time by independent ones",
}


def html_of(certificate: Mapping[str, Any]) -> str:
    """Render a certificate's plain data."""
    environment = template_environment("audit.report")
    environment.filters.update(method=method, pictures=pictures_of)
    checks = worst_first(certificate["checks"])
    style, script = asset("audit.report", "certificate.css"), asset("audit.report", "certificate.js")
    return environment.get_template("certificate.html.j2").render(
        certificate=certificate,
        audited=audited_of(certificate),
        checks=checks,
        bar=_bar(certificate["counts"]),
        mixed=any(check["expected"] != "PASS" for check in checks),
        filters=[
            ("paper", "Source", _options(checks, paper)),
            ("mechanism", "Mechanism", _options(checks, lambda check: check["mechanism"])),
            ("kind", "Kind", _options(checks, lambda check: check["kind"])),
        ],
        meaning=_MEANING,
        privacy_kinds=PRIVACY_KINDS,
        style=Markup(style),  # of this package
        script=Markup(script),
        style_hash=source_digest(style),
        script_hash=source_digest(script),
    )


def method(check: Mapping[str, Any]) -> str:
    """How a check was examined, in words."""
    if check["kind"] == "randomness":
        return _METHODS["randomness"]
    if check["kind"] not in PRIVACY_KINDS:
        return _METHODS[check["evidence"]["uses"]]
    stated = check["settings"]["method"]
    if stated != "auto":
        said = _METHODS[stated]
    else:
        said = f"{_METHODS['exact']}; {_METHODS['fixed']}" if check["evidence"]["exact"] else _METHODS["fixed"]
    return f"{said}, on the bits of the outputs" if check["kind"] == "precision" else said


def _bar(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The verdicts as parts of a bar of length 100."""
    total, start, parts = sum(counts.values()), 0.0, []
    for verdict in ("PASS", "INCONCLUSIVE", "FAIL"):
        width = 100 * counts[verdict] / total
        parts.append({"verdict": verdict, "start": f"{start:.2f}", "width": f"{width:.2f}"})
        start += width
    return parts


def _options(checks: Sequence[Mapping[str, Any]], of: Callable[[Mapping[str, Any]], str]) -> list[str]:
    return sorted({of(check) for check in checks})

