"""Put the plain data of a certificate into words: claims, outcomes, audited code, and the abstract of all of it."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit import plugins
from audit.checks.base import Check
from audit.checks.result import NOT_AUDITED
from audit.claims.privacy import find_relation
from audit.records.view import RecordView
from audit.text import count, number
from audit.verdict import Verdict, outcome, standing

_PAPER = re.compile(r"^[^,;:]+?\b\d{4}\b|^[^,;:(]+")
_SHOWN_DIGITS = 16  # of a digest, on a page
_VERDICTS = [verdict.value for verdict in Verdict]
_NAMED = 5  # checks that a sentence names; the table has all
_BY = {  # how a claim passed, in words
    "proof": "hold by following every random choice of the code",
    "computed": "hold by a computation without noise, under the assumptions that are listed",
    "law": "hold by the stated law, which the outputs of the code were tested against",
    "noise followed": "hold by following the noise from the generator to the output, as real numbers",
    "outputs": "rest on samples: each check says which violation it would have found, or which bound it certified",
}

Record = Mapping[str, Any]


def find_paper(check: Record) -> str:
    """Return the work that a claim comes from: its source up to the year, or to the first comma."""
    match = _PAPER.match(check["claim"]["source"].strip())
    return match[0].strip() if match else "no source given"


def is_met(check: Record) -> bool:
    """Return whether the verdict is the one that the check's author expects."""
    return bool(check["verdict"] == check["expected"])


def standing_of(check: Record) -> Verdict:
    """Return the contribution of a check to the verdict of its run."""
    return standing(Verdict(check["verdict"]), Verdict(check["expected"]))


def outcome_of(check: Record) -> str:
    """Return the verdict of a check, beside the expected one where that is not PASS."""
    return outcome(Verdict(check["verdict"]), Verdict(check["expected"]))


def tally(checks: Sequence[Record]) -> dict[str, int]:
    """Return the number of checks with each outcome: the three verdicts, then those of self-tests."""
    counts = Counter(map(outcome_of, checks))
    return {name: counts[name] for name in [*_VERDICTS, *sorted(counts.keys() - set(_VERDICTS))]}


def tally_text(checks: Sequence[Record]) -> str:
    """Return the number of checks with each outcome in words."""
    counted = [f"{count(many)} {name}" for name, many in tally(checks).items()]
    return "; ".join([", ".join(counted[: len(_VERDICTS)]), *counted[len(_VERDICTS) :]])


def find_tone(outcome: str) -> str:
    """Return the style classes of an outcome: its verdict, and "expected"; a PASS of a fault looks like a FAIL."""
    verdict, beside, expected = outcome.partition(", expected")
    if not beside or not expected:
        return f"{verdict} expected" if beside else verdict
    return verdict.replace("PASS", "FAIL")


def group_checks(checks: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the checks in the order of a reader's questions: unexpected ones, claims that hold, faults caught."""
    met = [check for check in checks if is_met(check)]
    groups = {
        "Not as expected": [check for check in checks if not is_met(check)],
        "The audit: claims that hold": [check for check in met if check["expected"] == "PASS"],
        "The self-test: faults and false statements, which FAIL as expected": [
            check for check in met if check["expected"] != "PASS"
        ],
    }
    return {
        name: sorted(group, key=lambda check: -Verdict(check["verdict"]).severity)
        for name, group in groups.items()
        if group
    }


def count_by_paper(checks: Sequence[Record]) -> list[tuple[str, Counter[str]]]:
    """Return for each paper, by name, the number of its checks with each outcome."""
    papers: dict[str, Counter[str]] = {}
    for check in checks:
        papers.setdefault(find_paper(check), Counter()).update([outcome_of(check)])
    return sorted(papers.items())


def count_subjects(checks: Sequence[Record], targets: Sequence[str] = ()) -> dict[str, Any]:
    """Return the numbers of checks, of mechanisms, and of outputs, losses and values drawn."""
    return {
        "targets": list(targets),
        "checks": len(checks),
        "mechanisms": len({check["mechanism"] for check in checks}),
        "draws": sum(check["evidence"]["samples"] for check in checks),
    }


def list_distributions(source: Record) -> Iterator[Record]:
    """Yield the distributions behind a check: the one that it is from, and the libraries that it names."""
    yield from (part for part in (source, *source.get("libraries", ())) if part.get("distribution"))


def describe_sources(sources: Mapping[str, Record]) -> str:
    """Return the audited code in words: distributions with versions and digests, files, and one digest of all files."""
    named = {
        f"{part['distribution']} {part.get('version', '')}": part.get("subject", "")
        for source in sources.values()
        for part in list_distributions(source)
    }
    words = [f"{name} ({digest[:_SHOWN_DIGITS]})" if digest else name for name, digest in sorted(named.items())]
    files = {part["file"]: part["digest"] for part in sources.values() if part.get("file")}
    if files:
        listed = "".join(f"{digest}  {file}\n" for file, digest in sorted(files.items()))
        digest = hashlib.sha256(listed.encode()).hexdigest()
        words.append(f"{len(files)} {'files' if len(files) > 1 else 'file'} with the digest {digest[:_SHOWN_DIGITS]}")
    return ", ".join(words)


def write_abstract(certificate: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of the abstract of a certificate, each with its title.

    Parameters
    ----------
    certificate : mapping
        The certificate as plain data.

    Returns
    -------
    list of (str, str)
        In order: the audited code and its version, the protection that the claims promise, the certainty of the
        verdicts, the parts left out, and the advice.

    References
    ----------
    NIST SP 800-226 (2025), Guidelines for evaluating differential privacy guarantees: a claim names its unit of
    privacy, and the data that it leaves unprotected.
    """
    checks = certificate["checks"]
    return [
        ("What was audited", " ".join(_describe_subjects(certificate, checks))),
        ("What is protected", " ".join(_describe_protection(checks))),
        ("How sure", " ".join(_describe_certainty(certificate, checks))),
        ("What was not examined", " ".join(_describe_left_out(checks))),
        ("What to do", " ".join(_advise(checks))),
    ]


def _describe_subjects(certificate: Mapping[str, Any], checks: Sequence[Record]) -> Iterator[str]:
    claims = [check for check in checks if check["expected"] == "PASS"]
    mechanisms = {check["mechanism"] for check in claims}
    yield f"{_count_noun(len(claims), 'claim')} about {_count_noun(len(mechanisms), 'mechanism')}."
    code = describe_sources(certificate.get("sources", {}))
    yield f"Code: {code}." if code else "The certificate does not name the version of the code."


def _describe_protection(checks: Sequence[Record]) -> Iterator[str]:
    """Yield the unit of privacy of the claims, the data they leave unprotected, and their limits."""
    names = Counter(name for check in checks if (name := find_view(check).relation))
    if not names:
        yield "No claim is about privacy."
        return
    relations = {name: find_relation(name) for name, _ in names.most_common()}
    units = (f"{_unit(relation)} ({_count_noun(names[name], 'claim')})" for name, relation in relations.items())
    yield f"Unit of privacy: {'; '.join(units)}."
    if public := [*dict.fromkeys(filter(None, (getattr(each, "public", "") for each in relations.values())))]:
        yield f"Not protected: {'; '.join(public)}."
    yield "Each claim is about one call of the code as it was audited, or one conversation with it: a second call"
    yield "loses more privacy. The claim covers neither the preparation of the data before the call, nor a later use of"
    yield "the data beside the outputs."


def _unit(relation: Any) -> str:
    return str(getattr(relation, "unit", f"the part in which neighbors under {relation.name} differ"))


def _describe_certainty(certificate: Mapping[str, Any], checks: Sequence[Record]) -> Iterator[str]:
    settings = certificate["settings"]
    shares = [check["settings"]["confirmation"] or check["settings"]["significance"] for check in checks]
    wrong = max(settings.get("confirmation") or settings["significance"], math.fsum(shares))
    yield f"If every claim is true, this run says FAIL with probability at most {number(wrong)}."
    passed = Counter(check["basis"] for check in checks if check["verdict"] == check["expected"] == "PASS")
    yield from (f"{_count_noun(passed[basis], 'claim')} {said}." for basis, said in _BY.items() if passed[basis])


def _describe_left_out(checks: Sequence[Record]) -> Iterator[str]:
    yield "Datasets that are not listed, running time, memory, and files or messages that the code writes."
    audited = {check["mechanism"] for check in checks if find_view(check).floats not in ("", NOT_AUDITED)}
    real = {check["mechanism"] for check in checks if find_view(check).floats == NOT_AUDITED} - audited
    if real:
        several = _count_noun(len(real), "mechanism")
        yield f"The low-order bits of floating-point numbers of {several}: they were read as real numbers."
    if undecided := [check for check in checks if check["verdict"] == "INCONCLUSIVE"]:
        yield f"{_count_noun(len(undecided), 'check')} decided nothing: {_list_names(undecided)}."


def _advise(checks: Sequence[Record]) -> Iterator[str]:
    surprises = [check for check in checks if not is_met(check)]
    failed = [check for check in surprises if check["verdict"] == "FAIL"]
    undecided = [check for check in surprises if check["verdict"] == "INCONCLUSIVE"]
    missed = [check for check in surprises if check["verdict"] == "PASS"]
    if failed:
        yield f"Release nothing with the code that FAILs: {_list_names(failed)}."
        yield "Correct the code or the claim, and audit again; the section of each check has datasets and event."
        yield "Earlier releases have at most the privacy that the certified epsilon leaves."
    if undecided:
        yield f"Do not count INCONCLUSIVE claims as kept: {_list_names(undecided)}. The reason names the remedy."
    if missed:
        yield f"Do not rely on a PASS of code like these faults, which passed: {_list_names(missed)}."
    if not surprises:
        yield "Nothing now. Audit again when the code, its libraries, the machine or a claim changes."


def _count_noun(several: int, what: str) -> str:
    return f"{count(several)} {what}{'' if several == 1 else 's'}"


def _list_names(checks: Sequence[Record]) -> str:
    more = len(checks) - _NAMED
    return "; ".join(str(check["name"]) for check in checks[:_NAMED]) + (f" and {count(more)} more" if more > 0 else "")


def find_view(record: Mapping[str, Any]) -> RecordView:
    """Return how a record is shown; one of a kind that is not listed, or of none, as those with stated terms are."""
    kind = str(record.get("kind"))
    check = plugins.find_check(kind) if kind in plugins.list_keys("kinds") else Check
    view: RecordView = check.record_view(record)
    return view
