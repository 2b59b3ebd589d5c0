"""The words for the plain data of a certificate: numbers, bounds, claims and papers, the same everywhere."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from audit.base.verdict import OUTCOMES, Verdict, outcome, standing
from audit.claims import claim_of

NOT_AUDITED = "not audited"  # of floating point
GAMES = frozenset({"guess game", "sequential game", "early look"})  # ways of looking that spend significance
_PAPER = re.compile(r"^[^,;:]+?\b\d{4}\b|^[^,;:(]+")

Check = Mapping[str, Any]


def number(value: float | str | None, digits: int = 4) -> str:
    """Return a number with few digits; a dash for None."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def count(value: int) -> str:
    return f"{value:,}"


def interval(ends: Sequence[float]) -> str:
    return f"[{number(ends[0])}, {number(ends[1])}]"


def ways_of(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ways in which a privacy check looked, by name; none for other kinds."""
    return {way["way"]: way for way in evidence.get("ways", ())}


def is_privacy(check: Check) -> bool:
    """Return whether a check looked at a privacy claim, in whatever ways; not of a claim without a record."""
    return "ways" in check.get("evidence", ())


def is_randomness(check: Check) -> bool:
    """Return whether a check compared outputs that must not repeat."""
    return "comparisons" in check.get("evidence", ())


def claimed(check: Check) -> str:
    """Return the claim of a check of any kind, short."""
    claim = check["claim"]
    if is_privacy(check):
        return f"{claim_of(claim).short} {claim['relation']}"
    return str(claim.get("summary", claim["statement"]))


def found(check: Check) -> str:
    """Return what was found about a check of any kind, short."""
    if is_randomness(check):
        clearest = max(check["evidence"]["comparisons"], key=_deviations, default=None)
        return f"{clearest['kind']}: {clearest['won']} won, {clearest['lost']} lost" if clearest else "–"
    if not is_privacy(check):
        return _bound(check["found"][-1]) if check["found"] else "–"
    if check["exact_epsilon"] is not None:
        return f"epsilon = {number(check['exact_epsilon'])} by its law"
    certified = f"certified epsilon ≥ {number(check['epsilon_lower_bound'])}"
    if (check["verdict"], check["basis"]) == ("PASS", "statistical"):
        return f"resolved up to epsilon = {number(check['resolution'])}, {certified}"
    return certified


def in_brief(check: Check) -> str:
    """Return the reason for a verdict in one clause; the record's own `reason` says all of it."""
    if not is_privacy(check) or check["basis"] != "statistical":  # also a claim without a record
        return str(check["reason"])
    tested = check["evidence"].get("tested") or check["claim"]
    at = f" at delta {number(tested['delta'])}" if tested["delta"] else ""
    if check["verdict"] == "PASS":
        drawn = count(outputs_of(check))
        floats = f"; floating point: {said}" if (said := floating_point(check)) else ""
        return f"no violation above epsilon {number(check['resolution'])}{at} found in {drawn} outputs{floats}"
    wrong = check["settings"]["confirmation" if check["evidence"].get("confirmation") else "significance"]
    certified = f"certified epsilon >= {number(check['epsilon_lower_bound'])}{at}"
    return f"{certified}, claimed {number(tested['epsilon'])}: refuted with error probability {number(wrong)}"


def floating_point(check: Check) -> str:
    """Return what was found of floating-point numbers: "not audited" or a verdict; empty without such outputs."""
    floats = ways_of(check.get("evidence", {})).get("guess game", {}).get("floats", "none")
    return {"none": "", "real": NOT_AUDITED}.get(floats, str(check["verdict"]))


def outputs_of(check: Check) -> int:
    """Return how many outputs, losses or values a check drew, those of its confirmation included."""
    confirmation = check["evidence"].get("confirmation") or {"samples": 0}
    return int(check["evidence"]["samples"] + confirmation["samples"])


def _deviations(part: Mapping[str, Any]) -> float:
    """Return how clearly a comparison was won, in standard deviations."""
    return float((part["won"] - part["lost"]) / math.sqrt(max(1, part["won"] + part["lost"])))


def _bound(part: Mapping[str, Any]) -> str:
    """Return a bound that a utility verdict rests on."""
    ends = part["lower"], part["upper"]
    is_point = number(ends[0]) == number(ends[1])
    value = number(ends[0]) if is_point else interval(ends)
    if part["quantity"][:1] in "<>=":  # a case: its quantity is named by the bound that it is held against
        return f"{value}, claimed {part['quantity']}"
    if ends[1] == "inf":
        return f"{part['quantity']} ≥ {number(ends[0])}"
    return f"{part['quantity']} {'=' if is_point else 'in'} {value}"


def paper(check: Check) -> str:
    """Return the work that a claim comes from: its source up to the year, or to the first comma."""
    match = _PAPER.match(check["claim"]["source"].strip())
    return match[0].strip() if match else "no source given"


def is_met(check: Check) -> bool:
    """Return whether the verdict is the one that the check's author expects."""
    return bool(check["verdict"] == check["expected"])


def standing_of(check: Check) -> Verdict:
    """Return what a check contributes to the verdict of its run."""
    return standing(Verdict(check["verdict"]), Verdict(check["expected"]))


def outcome_of(check: Check) -> str:
    """Return the outcome of a check, a key of `OUTCOMES`."""
    return outcome(Verdict(check["verdict"]), Verdict(check["expected"]))


def tally(checks: Sequence[Check]) -> dict[str, int]:
    """Return the number of checks with each outcome; those of self-tests only where there are some."""
    counts = Counter(map(outcome_of, checks))
    return {name: counts[name] for name in OUTCOMES if counts[name] or name in Verdict.__members__}


def grouped(checks: Sequence[Check]) -> dict[str, list[Check]]:
    """Return the checks by what a reader asks first: what is not as expected, what holds, and what was caught."""
    met = [check for check in checks if is_met(check)]
    groups = {
        "Not as expected": [check for check in checks if not is_met(check)],
        "The audit: claims that hold": [check for check in met if check["expected"] == "PASS"],
        "The self-test: faults and false statements, which are caught": [
            check for check in met if check["expected"] != "PASS"
        ],
    }
    return {
        name: sorted(group, key=lambda check: -Verdict(check["verdict"]).severity)
        for name, group in groups.items()
        if group
    }


def by_paper(checks: Sequence[Check]) -> list[tuple[str, Counter[str]]]:
    """Return for each paper, by name, the number of its checks with each outcome."""
    papers: dict[str, Counter[str]] = {}
    for check in checks:
        papers.setdefault(paper(check), Counter()).update([outcome_of(check)])
    return sorted(papers.items())


def inventory(checks: Sequence[Check], targets: Sequence[str] = ()) -> dict[str, Any]:
    """Return the numbers of checks, of mechanisms, and of outputs, losses and values drawn."""
    return {
        "targets": list(targets),
        "checks": len(checks),
        "mechanisms": len({check["mechanism"] for check in checks}),
        "draws": sum(check["evidence"]["samples"] for check in checks),
    }
