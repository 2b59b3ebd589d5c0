"""Compute verdicts again from their evidence, compare a certificate with itself, and compare two certificates.

Verification cannot notice a forger who computes the digests again, with evidence that supports the forged verdicts.
Certified bounds and simulated means are noisy: they have moved from one certificate to another when exact intervals of
the rate of right guesses, or the recorded ones of the means, lie apart. See docs/certificate.md.

The rules hold for whatever a run writes. Evidence says how it contradicts itself, its check or its run
(`Evidence.contradictions`); what surrounds it is here. Invented evidence that agrees with itself is not revealed. See
docs/threat-model.md.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import PurePosixPath
from typing import Any

from audit import plugins
from audit.certificate.document import (
    Document,
    Source,
    UnreadRecord,
    digest,
    digests_of,
    extensions_of,
    lacking,
    load_certificate,
    planned_terms,
    record_form,
    spending,
    summary_of,
)
from audit.certificate.record import FormError, reader
from audit.certificate.summary import inventory, standing_of, view_of
from audit.checks.base import Evidence
from audit.checks.recorded import RecordedCase
from audit.checks.view import Changes, plain
from audit.errors import InvalidCertificate, NotWhole
from audit.verdict import BASES, AnyResult, Verdict

_BASES = [*BASES]
_MOST = 10  # violations of the schema that are listed
_ROUNDING = 1e-9  # relative: shares of a significance are sums of floating-point numbers
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

    `evidence` is what `require_form` has read; without it the records are read here.
    """
    checks = certificate["checks"]
    absent = certificate.get("extensions", {})
    read = evidence or [None if lacking(record, absent) else record["evidence"] for record in checks]
    fresh = [
        {} if part is None else judged_part({**record, "evidence": part})
        for record, part in zip(checks, read, strict=True)
    ]
    judged = [{**record, **part} for record, part in zip(checks, fresh, strict=True)]
    summary = summary_of(judged)
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
    """Return what contradicts itself in a certificate, one line each; none of a whole one.

    The verdicts are computed again from the recorded evidence. No code that the certificate names is run. A check that
    needs an extension which is not installed has a line, too.

    Parameters
    ----------
    directory : str or path
        The folder that a run wrote, or the JSON file.

    Returns
    -------
    list of str
        What `dp-audit verify` prints.

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
    return problems_of(certificate) or list_unverified(certificate)


def problems_of(certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one line each; one that violates its schema is examined no further."""
    evidence: list[Any] = []
    if broken := list(islice(schema_problems(certificate, evidence), _MOST + 1)):
        return [*broken[:_MOST], *(["schema: and more"] if broken[_MOST:] else [])]
    sums = [*_sums(certificate), *_significance(certificate, evidence)]
    found = [*broken_rules(certificate, evidence), *_digests(certificate), *_verdicts(certificate, evidence)]
    return [*sums, *found]


def list_unverified(certificate: Certificate) -> list[str]:
    """Return the checks of a certificate without problems that nobody can judge here, one line each."""
    absent = ((check["name"], lacking(check, certificate["extensions"])) for check in certificate["checks"])
    return [f"{name}: not verified: needs the extension {extension}" for name, extension in absent if extension]


def require_whole(certificate: Certificate) -> None:
    """Raise `NotWhole` unless a certificate that was just made is whole."""
    if problems := problems_of(certificate):
        more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
        raise NotWhole(f"no certificate was written, since it would contradict itself: {problems[0]}{more}")


def notes_on(certificate: Certificate) -> Iterator[str]:
    """Yield what a reader of a whole certificate should know before its verdict means something."""
    unusual = [check["name"] for check in certificate["checks"] if check["expected"] != "PASS"]
    if unusual:
        yield f"note: {len(unusual)} checks are not expected to PASS: {', '.join(unusual[:_MOST])}"
    if (unspent := certificate["plan"]["unspent"]) > 0:
        yield f"note: {unspent:.4g} of the significance was planned for tests that are not listed"


def schema_problems(certificate: Certificate, read: list[Any] | None = None) -> Iterator[str]:
    """Yield where a certificate does not have its form: the first place in the document, or in each of its checks.

    The evidence of each check is appended to `read`: to read it tests it, and a replay need not read it again. It is
    None where an extension that the check needs is not installed.
    """
    try:
        reader(Document)(certificate)
    except FormError as error:
        yield f"schema: {error}"
        return
    known = plugins.list_keys("kinds")
    for index, record in enumerate(certificate["checks"]):
        kind = record.get("kind") if isinstance(record, Mapping) else None
        try:
            if isinstance(record, Mapping) and lacking(record, certificate["extensions"]):
                common = UnreadRecord.__annotations__
                reader(UnreadRecord)({key: part for key, part in record.items() if key in common})
                if read is not None:
                    read.append(None)
                continue
            if not isinstance(kind, str) or kind not in known:
                raise FormError(f"its kind {str(kind)[:80]!r} is not one of {', '.join(known)}")
            found = reader(record_form(plugins.find_check(kind)))(record)
            if read is not None:
                read.append(found["evidence"])
        except FormError as error:
            error.path.append(f".checks[{index}]")
            yield f"schema: {error}"


def contradiction_of(record: Record, source: Record, seed: int) -> str | None:
    """Return how one record contradicts itself: its form, its evidence, its verdict; None for an unknown kind, too."""
    if record["kind"] not in plugins.list_keys("kinds"):
        return None
    try:
        reader(Source)(source)
        evidence = reader(record_form(plugins.find_check(record["kind"])))(record)["evidence"]
    except FormError as error:
        return str(error)
    if said := next(contradictions_of(record, evidence, seed), None):
        return said
    judged = judged_part({**record, "evidence": evidence})
    return next(
        (f"{key} is {record.get(key)!r}, not {due!r}" for key, due in judged.items() if record[key] != due), None
    )


def require_form(certificate: Certificate) -> list[Any]:
    """Return the evidence of each check; raise InvalidCertificate unless the certificate follows its schema."""
    evidence: list[Any] = []
    for line in schema_problems(certificate, evidence):
        raise InvalidCertificate(f"the certificate does not have its form: {line}")
    return evidence


def _sums(certificate: Certificate) -> Iterator[str]:
    """Every check has a duration, and the counts of the run follow from its checks."""
    checks = certificate["checks"]
    if set(certificate["timing"]) != {check["name"] for check in checks}:
        yield "timing: names other checks than were run"
    stated = summary_of(checks)
    stated["audited"] = inventory(checks, certificate["audited"]["targets"])
    for key, value in stated.items():
        if certificate[key] != value:
            yield f"{key}: says {certificate[key]!r}, its checks give {value!r}"


def _significance(certificate: Certificate, evidence: Sequence[Any]) -> Iterator[str]:
    """The shares of the checks are within the run's significance, and the list of them is theirs."""
    allowed, listed = certificate["settings"]["significance"], certificate["significance_spent"]
    spent = sum(entry["allotted"] for entry in listed)
    if spent > allowed * (1 + _ROUNDING):
        yield f"significance_spent: adds up to {spent:.6g}, allowed {allowed:.6g}"
    drawn = zip(listed, certificate["checks"], evidence, strict=False)
    if len(listed) != len(evidence) or any(own != spending(*each) for own, *each in drawn if each[1] is not None):
        yield "significance_spent: does not list what the checks spent"


def _digests(certificate: Certificate) -> Iterator[str]:
    """The chain and the seal are those of the settings, the checks and the document."""
    stated = certificate["chain"]
    due, seal = digests_of(certificate)
    if stated["start"] != due["start"]:
        yield "chain: the settings or the plan are not those that were chained"
    elif stated != due:
        links = zip(certificate["checks"], stated["links"], due["links"], strict=False)
        first = next((check["name"] for check, said, found in links if said != found), None)
        yield f"chain: broken at {first or 'its end'}; the checks from there on are not those that were chained"
    if certificate["seal"] != seal:
        yield "seal: the document is not the one that was sealed"


def _verdicts(certificate: Certificate, evidence: Sequence[Any]) -> Iterator[str]:
    """Every verdict follows from its evidence."""
    try:
        yield from (f"replay: {line}" for line in replay(certificate, evidence).differences)
    except InvalidCertificate as error:
        yield f"replay: {error}"


@dataclass(frozen=True)
class Change:
    """One difference: the check, what changed from what to what, and whether that is for the worse."""

    check: str
    what: str
    is_regression: bool = True

    def __str__(self) -> str:
        return f"{'worse' if self.is_regression else 'other'}  {self.check}: {self.what}"


def changes(old: Record, new: Record) -> list[Change]:
    """Return the differences of two certificates, regressions first."""
    before = {check["name"]: check for check in old["checks"]}
    after = {check["name"]: check for check in new["checks"]}
    lost = [Change(name, "no longer checked") for name in before if name not in after]
    more = [Change(name, "is new", False) for name in after if name not in before]
    both = [name for name in before if name in after]
    seen = [Change(name, *found) for name in both for found in _changed(before[name], after[name])]
    return sorted([*lost, *seen, *more], key=lambda change: not change.is_regression)


def _changed(old: Record, new: Record) -> Changes:
    if old["kind"] != new["kind"]:
        yield f"was a check of kind {old['kind']}, is one of kind {new['kind']}", True
        return
    if (old["verdict"], old["basis"]) != (new["verdict"], new["basis"]):
        stood, stands = standing_of(old), standing_of(new)
        weaker = stands is stood and _BASES.index(old["basis"]) < _BASES.index(new["basis"])
        said = f"{old['verdict']} ({old['basis']}) became {new['verdict']} ({new['basis']}): {new['reason']}"
        yield said, stands.severity > stood.severity or weaker
    if old["expected"] != new["expected"]:
        yield f"expected {old['expected']}, now expected {new['expected']}", new["expected"] != "PASS"
    was, now = view_of(old), view_of(new)
    yield from was.changed_claim(now)
    before, after = (record["settings"].get("tolerance") for record in (old, new))
    if before != after:
        yield f"tolerance was {plain(before)}, is {plain(after)}", after is not None and after > (before or 0)
    yield from was.changed_numbers(now)


def broken_rules(certificate: Record, evidence: Sequence[Evidence | None]) -> Iterator[str]:
    """Yield what contradicts a rule, one line each; `evidence` is what was read of a certificate that has its form."""
    names = Counter(check["name"] for check in certificate["checks"])
    yield from (f"{name}: listed {many} times" for name, many in names.items() if many > 1)
    seed = certificate["settings"]["seed"]
    for check, found in zip(certificate["checks"], evidence, strict=True):
        if found is not None:
            yield from (f"{check['name']}: {said}" for said in contradictions_of(check, found, seed))
    yield from _unneeded(certificate)
    yield from _unplanned(certificate, evidence)
    yield from _misplaced(certificate, names)


def contradictions_of(record: Record, evidence: Evidence, seed: int) -> Iterator[str]:
    """Yield what the evidence of a record says against itself or its check; `seed` is that of the run."""
    case = RecordedCase(record, evidence, seed, record["settings"]["budget"])
    yield from _contradictions(case)
    looks = [list(_contradictions(look)) for look in evidence.fresh_cases(case)]
    if looks and all(looks):  # its fresh outputs are from none of the looks that there may be
        yield from (f"on fresh outputs, {said}" for said in looks[0])


def _contradictions(case: RecordedCase) -> Iterator[str]:
    """Yield what evidence says against itself; numbers with which it cannot be asked contradict it as well."""
    try:
        yield from case.evidence.contradictions(case)
    except _UNREADABLE as error:  # texts where numbers are due, numbers of no size: no run writes them
        yield f"its evidence has numbers that no run writes: {error!r}"


def _misplaced(certificate: Record, names: Iterable[str]) -> Iterator[str]:
    """Yield parts about checks that are not listed, and sources outside of the folders that readers have."""
    for part in ("isolation", "sources", "printed"):
        yield from (f"{part}: no check is called {name!r}" for name in certificate.get(part, {}) if name not in names)
    for name, source in certificate.get("sources", {}).items():
        file = PurePosixPath(source.get("file") or "")
        if file.is_absolute() or ".." in file.parts:
            yield f"{name}: its source is not below a folder of the run"


def _unneeded(certificate: Record) -> Iterator[str]:
    """Yield the extensions that are not stated as the checks need them; what an absent one adds is not known."""
    checks, stated = certificate["checks"], certificate["extensions"]
    absent, due = {lacking(check, stated) for check in checks}, extensions_of(checks)
    for name in sorted({*stated, *due} - absent):
        own, needed = ({**part.get(name, {}), "version": ""} for part in (stated, due))
        if own != needed:
            yield f"extensions: {name} is not stated as the checks need it"


def _same(value: float, due: float) -> bool:
    return math.isclose(value, due, rel_tol=_ROUNDING)


def _shares_confirmation(own: Record, settings: Record) -> bool:
    """Test whether a check has the part of the run's confirmation that it has of its significance."""
    whole, part = settings.get("confirmation"), own.get("confirmation")
    if whole is None or part is None:
        return whole == part
    return _same(part * settings["significance"], whole * own["significance"])


def _unplanned(certificate: Record, evidence: Sequence[Evidence | None]) -> Iterator[str]:
    """Yield where the checks are not those of the plan, or the plan does not share out the run's significance."""
    plan, settings = certificate["plan"], certificate["settings"]
    nothing: Any = {}
    for entry, check, drawn in zip_longest(plan["checks"], certificate["checks"], evidence, fillvalue=nothing):
        if entry.get("check") != check.get("name"):
            yield f"plan: {entry.get('check', 'nothing')} was planned where {check.get('name', 'nothing')} is listed"
            break
        own, due = check["settings"], {**entry, "budget": entry["budget"] or settings["budget"]}
        if drawn is None:
            continue
        if isinstance(due["budget"], str):  # a name, from which every check computes its own
            del due["budget"]
        found = {"budget": own["budget"], "share": own["significance"], **planned_terms(check, drawn)}
        if entry["claim"] is not None:  # a plan may also name the claim that a search found
            found["claim"] = digest(check["claim"])
        if not _shares_confirmation(own, settings):
            yield f"{check['name']}: its confirmation is not its share of the run's"
        keys = [key for key in due if due[key] != {**check, "check": check["name"], **found}[key]]
        yield from (f"{check['name']}: its {key} is not the planned one" for key in keys)
    shares, whole = [entry["share"] for entry in plan["checks"]], settings["significance"]
    if plan["shared"] == "equally" and not all(_same(share * len(shares), whole) for share in shares):
        yield f"plan: its {len(shares)} shares are not equal parts of the significance {whole:g}"
    if not _same(sum(shares) + plan["unspent"], whole):
        yield f"plan: its shares and what was not spent add up to {sum(shares) + plan['unspent']:g}, not {whole:g}"


def evidence_of(record: Mapping[str, Any]) -> Any:
    """Return the evidence of a record of a known kind; raise InvalidCertificate unless it has its form."""
    return plugins.find_check(record["kind"]).evidence_of(record["evidence"])


def judged_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judged part of a record of any kind, computed from its claim and its evidence alone."""
    kind, known = str(record.get("kind")), plugins.list_keys("kinds")
    if kind not in known:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(known)}")
    judged: dict[str, Any] = plugins.find_check(kind).judge_record(record).record()
    return judged
