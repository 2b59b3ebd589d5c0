"""The page `docs/found.md`: each cause once, by class; each line links to the register."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from audit.certificate.judged import view_of
from audit.certificate.wording import claimed, found
from audit.text import count, number
from wild.audited import AGAIN, Audited, Check, Run
from wild.findings import CLASSES, DOCUMENTED, Finding
from wild.markdown import anchor, escaped, filled, table


def ledger(libraries: Sequence[Audited], hidden: int = 0) -> str:
    """Return the page, in Markdown; `hidden` findings are not public."""
    return filled(
        "found.md",
        again=AGAIN,
        headline=headline(libraries, hidden),
        classes=classes(libraries),
        findings=_findings(libraries),
        summary=summary(libraries),
    )


def headline(libraries: Sequence[Audited], hidden: int) -> str:
    """Return how many causes are shown, in how many packages, and how many findings are not public."""
    shown = distinct(libraries)
    packages = {each.pin.package for each in libraries if each.findings}
    severe = sum(finding.letter in "AB" for finding in shown)
    return (
        f"**{len(shown)} distinct causes in {len(packages)} packages, {severe} of them of class A or B. "
        f"{hidden} more are not public yet.**"
    )


def distinct(libraries: Sequence[Audited]) -> list[Finding]:
    """Return each finding once: its cause, whatever the number of checks and releases; documented behavior is none."""
    findings = {run.finding.name: run.finding for each in libraries for run in each.findings if run.finding}
    kept = [finding for finding in findings.values() if finding.letter != DOCUMENTED]
    return sorted(kept, key=lambda finding: (finding.letter, finding.name))


def classes(libraries: Sequence[Audited]) -> str:
    """Return a table of the classes, with the number of causes in each."""
    numbers = Counter(finding.letter for finding in distinct(libraries))
    rows = [[letter, what, numbers[letter]] for letter, what in CLASSES.items() if letter != DOCUMENTED]
    return table(["class", "what", "distinct causes"], rows)


def summary(libraries: Sequence[Audited], folder: str = "register/") -> str:
    """Return a table with a row for each release and one for all, linked to the pages in a folder."""
    rows = [[f"[{escaped(each.release)}]({folder}{each.library}.md)", *_numbers(each)] for each in libraries]
    if len(rows) > 1:
        rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    head = ["release", "checks", "PASS", "inconclusive", *(f"refuted, {letter}" for letter in CLASSES)]
    return table([*head, "not public", "outputs"], [[row[0], *map(count, row[1:])] for row in rows])


def _numbers(each: Audited) -> list[int]:
    refuted = each.refuted_by_class()
    passed = sum(check["verdict"] == "PASS" for check in each.checks)
    outputs = sum(
        check["evidence"]["samples"] for run in each.runs for part in run.certificates for check in part["checks"]
    )
    open_ones = len(each.checks) - passed - sum(refuted.values())
    return [len(each.checks), passed, open_ones, *(refuted[letter] for letter in CLASSES), each.withheld, outputs]


def _findings(libraries: Sequence[Audited]) -> str:
    rows = []
    for finding in distinct(libraries):
        where = [(each, run) for each in libraries for run in each.findings if run.finding == finding]
        each, run = where[0]
        link = f"[{escaped(finding.title)}](register/{each.library}.md#{anchor(heading(finding))})"
        check = run.refuted[0]
        measured = run.repetitions[check["name"]]
        releases = ", ".join(escaped(other.release) for other, _ in where)
        rows.append(
            [finding.letter, link, releases, escaped(claimed(check)), certified(measured), truth(finding, check)]
        )
    return table(["class", "finding", "releases", "claim", "certified epsilon ≥", "true epsilon"], rows)


def heading(finding: Finding) -> str:
    """Return the heading of a finding on the page of a release."""
    return f"{finding.letter}: {finding.title}"


def truth(finding: Finding, check: Check) -> str:
    """Return the true epsilon of a check, where it is known."""
    known = finding.true_epsilon.get(check["name"].partition("/")[2])
    return number(known) if known is not None else "–"


def is_privacy(check: Check) -> bool:
    """Return whether a check is about a privacy claim: the others of the catalog are of randomness."""
    return view_of(check).table == "privacy"


def certified(check: Check) -> str:
    """Return the lower bound of epsilon that a check certifies, or what else it found."""
    return number(check["epsilon_lower_bound"]) if is_privacy(check) else escaped(found(check))


def drawn(check: Check) -> str:
    """Return the number of outputs of a check."""
    return count(check["evidence"]["samples"])


def measured_checks(run: Run) -> str:
    """Return a table of the refuted claims of a finding, with what the repetition measured."""
    rows = []
    for check in run.refuted:
        again = run.repetitions[check["name"]]
        finding_truth = truth(run.finding, check) if run.finding else "–"
        rows.append([escaped(check["name"]), escaped(claimed(check)), certified(again), finding_truth, drawn(again)])
    return table(["check", "claim", "certified epsilon ≥", "true epsilon", "outputs"], rows)
