"""Compute verdicts again from their evidence, and compare a certificate with itself.

`verify` reads the form of every part, and computes sums, plan, digests and verdicts again. It cannot notice a forger
who computes them again with evidence that supports the forged verdicts: keep the seal elsewhere, or sign it. See
docs/threat-model.md.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit import plugins
from audit.certificate.document import (
    chain_checks,
    compute_seal,
    find_lacking,
    list_extensions,
    list_spending,
    load_certificate,
    make_plan,
    summarize,
)
from audit.certificate.summary import count_subjects
from audit.errors import InvalidCertificate
from audit.records.plain import list_fields
from audit.text import count_of
from audit.verdict import AnyResult, Verdict

_ROUNDED = 1e-9  # relative, of shares of an error probability
_MOST = 10  # checks that a note names
_PARTS = (
    *("verdict", "counts", "as_expected", "audited", "settings", "plan", "significance_spent", "extensions", "checks"),
    *("timing", "provenance", "chain", "seal", "schema_version", "kind", "isolation", "sources", "printed"),
)
_BY_CHECK = ("timing", "isolation", "sources", "printed")  # parts with an entry for each check; few print
_SETTINGS = ("significance", "confirmation", "budget")
_RECORD = ("name", "kind", "mechanism", "expected", "claim", "settings", "evidence")
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

Certificate = Mapping[str, Any]
Record = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Replay(AnyResult):
    """The outcome of a replay: verdicts from the evidence, and where the certificate says something else."""

    verdict: Verdict
    verdicts: Mapping[str, Verdict]  # of the checks that can be judged: those that need no absent extension
    differences: tuple[str, ...]


def replay(certificate: Certificate, evidence: Sequence[Any] | None = None) -> Replay:
    """Judge all recorded evidence again and compare; raise InvalidCertificate if a record does not have its form.

    `evidence` comes from `require_form`; without it the records are read here.
    """
    checks = certificate["checks"]
    absent = certificate.get("extensions", {})
    read = evidence or [None if find_lacking(record, absent) else record["evidence"] for record in checks]
    fresh = [
        {} if part is None else judge_record({**record, "evidence": part})
        for record, part in zip(checks, read, strict=True)
    ]
    judged = [{**record, **part} for record, part in zip(checks, fresh, strict=True)]
    summary = summarize(judged)
    places = [*(f"{record.get('name')}: " for record in checks), ""]
    differences = [
        f"{place}{key} is {stated.get(key)!r}, the evidence gives {value!r}"
        for place, stated, found in zip(places, [*checks, certificate], [*fresh, summary], strict=True)
        for key, value in found.items()
        if stated.get(key) != value
    ]
    verdicts = {record["name"]: Verdict(part["verdict"]) for record, part in zip(checks, fresh, strict=True) if part}
    return Replay(Verdict(summary["verdict"]), verdicts, tuple(differences))


def verify(directory: str | os.PathLike[str]) -> list[str]:
    """Return the contradictions in a certificate, one line each; none of a whole one.

    The verdicts are computed again from the recorded evidence. No code that the certificate names is run. A check that
    needs an extension which is not installed has a line, too.

    Parameters
    ----------
    directory : str or path
        The folder that a run wrote, or the JSON file.

    Returns
    -------
    list of str
        The lines that `dp-audit verify` prints.

    Raises
    ------
    AuditError
        If there is no certificate, or none of this version.

    Examples
    --------
    >>> import tempfile
    >>> import audit
    >>> def noisy_count(data, size, rng):
    ...     return len(data) + rng.laplace(size=size)
    >>> claim = audit.PrivacyClaim(epsilon=1.0, relation=audit.AddRemove())
    >>> check = audit.PrivacyCheck(name="count", mechanism=noisy_count, claim=claim, pairs=[([], [0])])
    >>> folder = tempfile.mkdtemp()
    >>> path = audit.run([check], budget=2_000, workers=0).save(folder)
    >>> audit.verify(folder)
    []
    >>> edited = path.write_text(path.read_text().replace('"epsilon":1.0', '"epsilon":2.0'))
    >>> len(audit.verify(folder)) > 0
    True
    """
    certificate = load_certificate(directory)
    return list_problems(certificate) or list_unverified_checks(certificate)


def list_problems(certificate: Certificate) -> list[str]:
    """Return the problems of a certificate, one line each; one without its form is examined no further."""
    if missing := [part for part in _PARTS if part not in certificate]:
        return [f"schema: lacks {', '.join(missing)}"]
    try:
        _require_fields("the certificate", certificate, _PARTS)
        _require_fields("its settings", certificate["settings"], (*_SETTINGS, "seed"))
        evidence = require_form(certificate)
        found = [
            *_check_sums(certificate, evidence),
            *_check_digests(certificate),
        ]
        return [*found, *(f"replay: {line}" for line in replay(certificate, evidence).differences)]
    except (InvalidCertificate, *_UNREADABLE) as error:
        return [f"schema: {error}" if isinstance(error, InvalidCertificate) else f"schema: {error!r}"]


def list_unverified_checks(certificate: Certificate) -> list[str]:
    """Return the checks of a certificate without problems that nobody can judge here, one line each."""
    absent = ((check["name"], find_lacking(check, certificate["extensions"])) for check in certificate["checks"])
    return [f"{name}: not verified: needs the extension {extension}" for name, extension in absent if extension]


def list_notes(certificate: Certificate) -> Iterator[str]:
    """Yield the limits that a reader should know before the verdict."""
    unusual = [check["name"] for check in certificate["checks"] if check["expected"] != "PASS"]
    if unusual:
        yield f"note: {count_of(len(unusual), 'check')} not expected to PASS: {', '.join(unusual[:_MOST])}"
    if (unspent := certificate["plan"]["unspent"]) > 0:
        yield f"note: {unspent:.4g} of the significance was planned for tests that are not listed"


def require_form(certificate: Certificate) -> list[Any]:
    """Return the evidence of each check; raise InvalidCertificate for one that does not have its form.

    It is None where an extension that the check needs is not installed.
    """
    evidence = []
    for record in certificate["checks"]:
        if not isinstance(record, Mapping):
            raise InvalidCertificate(f"a check does not have the form of a record, but is {record!r}"[:200])
        is_absent = find_lacking(record, certificate["extensions"]) is not None
        try:
            evidence.append(None if is_absent else read_evidence(record))
        except (InvalidCertificate, *_UNREADABLE) as error:
            raise InvalidCertificate(f"{record.get('name')} does not have its form: {error}") from error
    return evidence


def _check_sums(certificate: Certificate, evidence: Sequence[Any]) -> Iterator[str]:
    """Yield which parts do not follow from the checks, and how evidence contradicts itself, where it can be read."""
    checks = certificate["checks"]
    names = [check["name"] for check in checks]
    yield from (f"{name}: listed {many} times" for name, many in Counter(names).items() if many > 1)
    for part in _BY_CHECK:
        if not (set(certificate[part]) <= set(names) if part == "printed" else set(certificate[part]) == set(names)):
            yield f"{part}: names other checks than were run"
    whole = certificate["settings"]
    for check, part in zip(checks, evidence, strict=True):
        if part is not None and _is_odd(check["settings"], whole, part.least_confirmation(check)):
            yield f"{check['name']}: its shares of the significance and of the confirmation differ"
    if math.fsum(check["settings"]["significance"] for check in checks) > whole["significance"] * (1 + _ROUNDED):
        yield "significance: its checks had more than there is"
    stated: dict[str, Any] = {**summarize(checks), "audited": count_subjects(checks, certificate["audited"]["targets"])}
    if None not in evidence:
        stated["significance_spent"] = [list_spending(*each) for each in zip(checks, evidence, strict=True)]
        budgets = [entry["budget"] for entry in certificate["plan"]["checks"]]
        is_as_long = len(budgets) == len(checks)
        stated["plan"] = make_plan(whole["significance"], checks, evidence, budgets) if is_as_long else None
    installed = plugins.list_plugins()
    due, own = (
        {name: {**part, "version": ""} for name, part in parts.items() if name in installed}
        for parts in (list_extensions(checks), certificate["extensions"])
    )
    if due != own:
        yield "extensions: not those that the checks need"
    for key, value in stated.items():
        if certificate[key] != value:
            yield f"{key}: says {str(certificate[key])[:200]}, its checks give {str(value)[:200]}"
    for check, first in zip(checks, evidence, strict=True):  # that which a replay would not see
        for found in (first, first and first.confirmation):
            if found is not None:
                yield from (f"{check['name']}: {said}" for said in found.contradictions(check))


def _is_odd(own: Mapping[str, Any], whole: Mapping[str, Any], least: float) -> bool:
    """Return whether a check has another share of the confirmation than of the significance, or than the least."""
    if own["confirmation"] is None or whole["confirmation"] is None:
        return bool(own["confirmation"] != whole["confirmation"])
    due = max(own["significance"] * whole["confirmation"] / whole["significance"], least)
    return not math.isclose(own["confirmation"], due, rel_tol=_ROUNDED)


def _check_digests(certificate: Certificate) -> Iterator[str]:
    """Yield where the chain and the seal are not those of the settings, the checks and the document."""
    stated = certificate["chain"]
    due = chain_checks(certificate["settings"], certificate["checks"], certificate["plan"])
    if stated["start"] != due["start"]:
        yield "chain: the settings or the plan are not those that were chained"
    elif stated != due:
        links = zip(certificate["checks"], stated["links"], due["links"], strict=False)
        first = next((check["name"] for check, said, found in links if said != found), None)
        yield f"chain: broken at {first or 'its end'}; the checks from there on are not those that were chained"
    if certificate["seal"] != compute_seal(certificate):
        yield "seal: the document is not the one that was sealed"


def read_evidence(record: Record) -> Any:
    """Return the evidence of a record; raise InvalidCertificate unless it has its form, and its kind is known."""
    kind = _find_check(record)
    judged = (part.name for part in list_fields(kind.judgment_type))
    _require_fields("its record", record, (*_RECORD, *kind.input_names, *judged))
    _require_fields("its settings", record["settings"], (*_SETTINGS, *kind.setting_names))
    return kind.evidence_of(record["evidence"])


def _require_fields(place: str, data: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise InvalidCertificate where data have a field that nothing reads."""
    if more := sorted(set(data) - set(known)):
        raise InvalidCertificate(f"{place} has {', '.join(more)[:80]}, which it should not")


def judge_record(record: Record) -> dict[str, Any]:
    """Return the judged part of a record of any kind, computed from its claim and its evidence alone."""
    judged: dict[str, Any] = _find_check(record).judge_record(record).record()
    return judged


def _find_check(record: Record) -> type[Any]:
    kind, known = str(record.get("kind"))[:80], plugins.list_keys("kinds")
    if kind not in known:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(known)}")
    return plugins.find_check(kind)
