"""How a certificate's plain data is put into words: numbers, bounds, names of papers. Every renderer says it so."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from audit.claims import claim_label

PRIVACY_KINDS = frozenset({"privacy", "precision"})
_ORDER = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}
_METHODS = {
    "fixed": "guess game at a fixed budget",
    "sequential": "sequential guess game",
    "exact": "stated law, and the sampler against it",
    "evaluator": "computed without noise by an evaluator",
    "simulation": "simulated losses, with bounds that hold in finite samples",
    "stated values": "values computed and compared",
    "randomness": "comparisons of outputs that share nothing, each won half the time by independent ones",
}
_PAPER = re.compile(r"^[^,;:]+?\b\d{4}\b|^[^,;:(]+")


def number(value: float | str | None, digits: int = 4) -> str:
    """A number with few digits; a dash for none."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def count(value: int) -> str:
    """A count, its thousands set apart."""
    return f"{value:,}"


def bounds(found: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """The bounds that a utility verdict rests on; the last ones, which are at the largest sizes."""
    shown = []
    for part in found[-most:]:
        low, high = (number(part[side]) for side in ("lower", "upper"))
        value = low if low == high else f"[{low}, {high}]"
        if part["quantity"][:1] in "<>=":  # a case: its quantity is named by the bound that it is held against
            shown.append(f"{value}, claimed {part['quantity']}")
        else:
            shown.append(f"{part['quantity']} {'=' if low == high else 'in'} {value}")
    return "; ".join(shown) or "–"


def tally(evidence: Mapping[str, Any]) -> str:
    """The comparison that was won most clearly, in deviations: its kind, and how often it was won and lost."""

    def clearly(part: Mapping[str, Any]) -> float:
        return float((part["won"] - part["lost"]) / math.sqrt(max(1, part["won"] + part["lost"])))

    most = max(evidence["comparisons"], key=clearly, default=None)
    return f"{most['kind']}: {most['won']} won, {most['lost']} lost" if most else "–"


def claimed(check: Mapping[str, Any]) -> str:
    """The claim of a check of any kind, short."""
    claim = check["claim"]
    if check["kind"] in PRIVACY_KINDS:
        return f"{claim_label(claim)} {claim['relation']}"
    return str(claim.get("summary", claim["statement"]))


def found(check: Mapping[str, Any]) -> str:
    """What was found about a check of any kind, short."""
    if check["kind"] == "randomness":
        return tally(check["evidence"])
    if check["kind"] not in PRIVACY_KINDS:
        return bounds(check["found"], most=1)
    if check["exact_epsilon"] is not None:
        return f"epsilon = {number(check['exact_epsilon'])} by its law"
    return f"certified epsilon ≥ {number(check['epsilon_lower_bound'])}"


def method(check: Mapping[str, Any]) -> str:
    """Return how the evidence of a check was gathered."""
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


def paper(check: Mapping[str, Any]) -> str:
    """The work that a claim comes from: its source up to the year, or to the first comma."""
    match = _PAPER.match(check["claim"]["source"].strip())
    return match[0].strip() if match else "no source given"


def is_met(check: Mapping[str, Any]) -> bool:
    """Whether the verdict is the one that the check's author expects."""
    return bool(check["verdict"] == check["expected"])


def worst_first(checks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Checks that are not as expected first, then FAIL, INCONCLUSIVE, PASS."""
    return sorted(checks, key=lambda check: (is_met(check), _ORDER[check["verdict"]]))


def by_table(checks: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The checks of each table: privacy (of bits too), randomness, utility."""
    tables: dict[str, list[Mapping[str, Any]]] = {"privacy": [], "randomness": [], "utility": []}
    for check in checks:
        kind = check["kind"]
        tables["privacy" if kind in PRIVACY_KINDS else kind if kind in tables else "utility"].append(check)
    return tables


def by_paper(checks: Sequence[Mapping[str, Any]]) -> list[tuple[str, Counter[str]]]:
    """Return, for each paper by name, how many of its checks have each verdict, and the expected one."""
    papers: dict[str, Counter[str]] = {}
    for check in checks:
        papers.setdefault(paper(check), Counter()).update([check["verdict"], *["as expected"] * is_met(check)])
    return sorted(papers.items())


def audited_of(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was audited, in counts; computed for a certificate of version 1.0, which does not say it."""
    stated: Mapping[str, Any] | None = certificate.get("audited")
    return stated or inventory(certificate["checks"])


def inventory(checks: Sequence[Mapping[str, Any]], targets: Sequence[str] = ()) -> dict[str, Any]:
    """How many checks of how many mechanisms, and how many outputs, losses and values they drew."""
    return {
        "targets": list(targets),
        "checks": len(checks),
        "mechanisms": len({check["mechanism"] for check in checks}),
        "draws": sum(check["evidence"]["samples"] for check in checks),
    }
