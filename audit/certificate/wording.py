"""The words for the plain data of a certificate: claims, outcomes and papers, the same everywhere."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from audit.certificate.judged import view_of
from audit.verdict import OUTCOMES, Verdict, outcome, standing

_PAPER = re.compile(r"^[^,;:]+?\b\d{4}\b|^[^,;:(]+")

Check = Mapping[str, Any]


def claimed(check: Check) -> str:
    """Return the claim of a check of any kind, short."""
    return view_of(check).claimed


def found(check: Check) -> str:
    """Return what was found about a check of any kind, short."""
    return view_of(check).found


def in_brief(check: Check) -> str:
    """Return the reason for a verdict in one clause; the record's own `reason` says all of it."""
    return view_of(check).reason


def floating_point(check: Check) -> str:
    """Return what was found of floating-point numbers: "not audited" or a verdict; empty without such outputs."""
    return view_of(check).floats


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
