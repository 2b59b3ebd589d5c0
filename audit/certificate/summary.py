"""Say in words what a reader who decides needs first: what was audited, how sure, what was left out, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit.certificate.judged import view_of
from audit.certificate.sources import code_of
from audit.certificate.wording import floating_point, is_met
from audit.checks.privacy_view import NOT_AUDITED
from audit.claims.privacy import relation_named
from audit.text import count, number

_NAMED = 5  # checks that a sentence names; the table has all
_BY = {  # how a claim passed, and what that says
    "exact": "hold by what was computed: for privacy the stated law, which the outputs of the code were tested against",
    "enumerated": "hold by following every random choice of the code, under the assumptions that are listed",
    "statistical": "rest on samples: each check says which violation it would have found, or which bound it certified",
}

Check = Mapping[str, Any]


def abstract_of(certificate: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of the abstract of a certificate, each with its title.

    Parameters
    ----------
    certificate : mapping
        The certificate as plain data.

    Returns
    -------
    list of (str, str)
        In order: what was audited and in which version, what the claims protect, how sure the verdicts are, what was
        not looked at, what to do.

    References
    ----------
    NIST SP 800-226 (2025), Guidelines for evaluating differential privacy guarantees: a claim names its unit of
    privacy, and what it does not protect.
    """
    checks = certificate["checks"]
    return [
        ("What was audited", " ".join(_audited(certificate, checks))),
        ("What is protected", " ".join(_protected(checks))),
        ("How sure", " ".join(_sure(certificate, checks))),
        ("What was not looked at", " ".join(_left_out(checks))),
        ("What to do", " ".join(_to_do(checks))),
    ]


def _audited(certificate: Mapping[str, Any], checks: Sequence[Check]) -> Iterator[str]:
    claims = [check for check in checks if check["expected"] == "PASS"]
    mechanisms = {check["mechanism"] for check in claims}
    yield f"{_many(len(claims), 'claim')} about {_many(len(mechanisms), 'mechanism')}."
    code = code_of(certificate.get("sources", {}))
    yield f"Code: {code}." if code else "The certificate does not name the version of the code."


def _protected(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the unit of privacy of the claims, what they leave unprotected, and where they end."""
    names = Counter(name for check in checks if (name := view_of(check).relation))
    if not names:
        yield "No claim is about privacy."
        return
    relations = {name: relation_named(name) for name, _ in names.most_common()}
    units = (f"{_unit(relation)} ({_many(names[name], 'claim')})" for name, relation in relations.items())
    yield f"Unit of privacy: {'; '.join(units)}."
    if public := [*dict.fromkeys(filter(None, (getattr(each, "public", "") for each in relations.values())))]:
        yield f"Not protected: {'; '.join(public)}."
    yield "Each claim is about one call of the code as it was audited, or one conversation with it: what is called more"
    yield "often loses more privacy. What happens to data before and to outputs afterwards is outside of the claim."


def _unit(relation: Any) -> str:
    return str(getattr(relation, "unit", f"what neighbors under {relation.name} differ in"))


def _sure(certificate: Mapping[str, Any], checks: Sequence[Check]) -> Iterator[str]:
    settings = certificate["settings"]
    wrong = settings.get("confirmation") or settings["significance"]
    yield f"If every claim is true, this run says FAIL with probability at most {number(wrong)}."
    passed = Counter(check["basis"] for check in checks if check["verdict"] == check["expected"] == "PASS")
    yield from (f"{_many(passed[basis], 'claim')} {said}." for basis, said in _BY.items() if passed[basis])


def _left_out(checks: Sequence[Check]) -> Iterator[str]:
    yield "Datasets that are not listed, running time, memory, and files or messages that the code writes."
    audited = {check["mechanism"] for check in checks if floating_point(check) not in ("", NOT_AUDITED)}
    real = {check["mechanism"] for check in checks if floating_point(check) == NOT_AUDITED} - audited
    if real:
        several = _many(len(real), "mechanism")
        yield f"The low-order bits of floating-point numbers of {several}: they were read as real numbers."
    if undecided := [check for check in checks if check["verdict"] == "INCONCLUSIVE"]:
        yield f"{_many(len(undecided), 'check')} decided nothing: {_names(undecided)}."


def _to_do(checks: Sequence[Check]) -> Iterator[str]:
    surprises = [check for check in checks if not is_met(check)]
    failed = [check for check in surprises if check["verdict"] == "FAIL"]
    undecided = [check for check in surprises if check["verdict"] == "INCONCLUSIVE"]
    missed = [check for check in surprises if check["verdict"] == "PASS"]
    if failed:
        yield f"Release nothing with the code that FAILs: {_names(failed)}."
        yield "Correct the code or the claim, and audit again; the section of each check has datasets and event."
        yield "What was released already has at most the privacy that the certified epsilon leaves."
    if undecided:
        yield f"Do not count as kept what is INCONCLUSIVE: {_names(undecided)}. Its reason says what would decide it."
    if missed:
        yield f"Do not rely on a PASS of code like these faults, which were not found: {_names(missed)}."
    if not surprises:
        yield "Nothing now. Audit again when the code, its libraries, the machine or a claim changes."


def _many(several: int, what: str) -> str:
    return f"{count(several)} {what}{'' if several == 1 else 's'}"


def _names(checks: Sequence[Check]) -> str:
    more = len(checks) - _NAMED
    return "; ".join(str(check["name"]) for check in checks[:_NAMED]) + (f" and {count(more)} more" if more > 0 else "")
