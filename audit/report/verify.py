"""Compute verdicts again from their evidence, compare a certificate with itself, and compare two certificates.

Verification cannot notice a forger who computes the digests again, with evidence that supports the forged verdicts.
Certified bounds and simulated means are noisy: they have moved from one certificate to another when exact intervals of
the rate of right guesses, or the recorded ones of the means, lie apart. See docs/certificate.md.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from audit.base.errors import InvalidCertificate, NotWhole
from audit.base.verdict import Verdict
from audit.checks.plain import FormError, reader
from audit.claims import claim_of
from audit.game.guesses import GameCounts
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.certificate import digests_of, load_certificate, spending, summary_of
from audit.report.form import Document, record_forms
from audit.report.records import judged_part
from audit.report.rules import broken_rules
from audit.report.wording import claimed, interval, inventory, is_privacy, is_randomness, number, standing_of, ways_of

_MOST = 10  # violations of the schema that are listed
_ROUNDING = 1e-9  # relative: shares of a significance are sums of floating-point numbers
_SAME = 1e-4  # relative: computed numbers may differ in their last digits from machine to machine
_NOISE = 1e-4  # probability that either end of an interval of right guesses is wrong
_COARSER = 0.02  # relative: adding a check to a run takes that little from the resolution of the others
_BASES = ("proved", "enumerated", "exact", "statistical", "searched", "none")  # the strongest first
_LOOSER_IF_LARGER = ("tolerance", "slack", "margin", "constant_margin", "beta")

Certificate = Mapping[str, Any]
Record = Mapping[str, Any]
Found = Iterator[tuple[str, bool]]  # what changed, and whether that is for the worse


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay: verdicts from the evidence, and where the certificate says something else."""

    verdict: Verdict
    verdicts: Mapping[str, Verdict]
    differences: tuple[str, ...]


def replay(certificate: Certificate, evidence: Sequence[Any] | None = None) -> Replay:
    """Judge all recorded evidence again and compare; raise InvalidCertificate if a record does not have its form.

    `evidence` is what `require_form` has read; without it the records are read here.
    """
    checks = certificate["checks"]
    read = evidence or [record["evidence"] for record in checks]
    fresh = [judged_part({**record, "evidence": part}) for record, part in zip(checks, read, strict=True)]
    judged = [{**record, **part} for record, part in zip(checks, fresh, strict=True)]
    summary = summary_of(judged)
    places = [*(f"{record.get('name')}: " for record in checks), ""]
    differences = [
        f"{place}{key} is {stated.get(key)!r}, the evidence gives {value!r}"
        for place, stated, found in zip(places, [*checks, certificate], [*fresh, summary], strict=True)
        for key, value in found.items()
        if stated.get(key) != value
    ]
    verdicts = {record["name"]: Verdict(record["verdict"]) for record in judged}
    return Replay(Verdict(summary["verdict"]), verdicts, tuple(differences))


def verify(directory: str | os.PathLike[str]) -> list[str]:
    """Return what contradicts itself in a certificate, one line each; none of a whole one.

    The verdicts are computed again from the recorded evidence. No code that the certificate names is run.

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
    >>> edited = path.write_text(path.read_text().replace('"epsilon": 1.0', '"epsilon": 2.0'))
    >>> len(audit.verify(folder)) > 0
    True
    """
    return problems_of(load_certificate(directory))


def problems_of(certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one line each; one that violates its schema is examined no further."""
    evidence: list[Any] = []
    if broken := list(islice(schema_problems(certificate, evidence), _MOST + 1)):
        return [*broken[:_MOST], *(["schema: and more"] if broken[_MOST:] else [])]
    found = [line for part in (_sums, _significance, broken_rules, _digests) for line in part(certificate)]
    return [*found, *_verdicts(certificate, evidence)]


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

    The evidence of each check is appended to `read`: to read it tests it, and a replay need not read it again.
    """
    try:
        reader(Document)(certificate)
    except FormError as error:
        yield f"schema: {error}"
        return
    forms = record_forms()
    for index, record in enumerate(certificate["checks"]):
        kind = record.get("kind") if isinstance(record, Mapping) else None
        try:
            if not isinstance(kind, str) or kind not in forms:
                raise FormError(f"its kind {str(kind)[:80]!r} is not one of {', '.join(forms)}")
            found = reader(forms[kind])(record)
            if read is not None:
                read.append(found["evidence"])
        except FormError as error:
            error.path.append(f".checks[{index}]")
            yield f"schema: {error}"


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


def _significance(certificate: Certificate) -> Iterator[str]:
    """The shares of the checks are within the run's significance, and the list of them is theirs."""
    allowed, listed = certificate["settings"]["significance"], certificate["significance_spent"]
    spent = sum(entry["allotted"] for entry in listed)
    if spent > allowed * (1 + _ROUNDING):
        yield f"significance_spent: adds up to {spent:.6g}, allowed {allowed:.6g}"
    due = [{**spending(record), "note": ""} for record in certificate["checks"]]
    if [{**entry, "note": ""} for entry in listed] != due:
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


def _changed(old: Record, new: Record) -> Found:
    if old["kind"] != new["kind"]:
        yield f"was a check of kind {old['kind']}, is one of kind {new['kind']}", True
        return
    if (old["verdict"], old["basis"]) != (new["verdict"], new["basis"]):
        was, now = standing_of(old), standing_of(new)
        weaker = now is was and _BASES.index(old["basis"]) < _BASES.index(new["basis"])
        said = f"{old['verdict']} ({old['basis']}) became {new['verdict']} ({new['basis']}): {new['reason']}"
        yield said, now.severity > was.severity or weaker
    if old["expected"] != new["expected"]:
        yield f"expected {old['expected']}, now expected {new['expected']}", new["expected"] != "PASS"
    yield from _claim(old, new)
    before, after = (record["settings"].get("tolerance") for record in (old, new))
    if before != after:
        yield f"tolerance was {_plain(before)}, is {_plain(after)}", after is not None and after > (before or 0)
    if is_privacy(old):
        yield from _epsilons(old, new)
    elif not is_randomness(old):
        yield from _moved_bounds(old, new)


def _claim(old: Record, new: Record) -> Found:
    was, now = ({**record["claim"], "source": ""} for record in (old, new))
    if was == now:
        return
    said = f"claimed {claimed(old)}, now {claimed(new)}"
    if is_privacy(old):
        weaker, stronger = claim_of(old["claim"]), claim_of(new["claim"])  # tested where the old one is
        implied = all(stronger.profile(point.epsilon) <= point.delta * (1 + _SAME) for point in weaker.points)
        yield said, was["relation"] != now["relation"] or not implied
    elif was.get("terms") == now.get("terms"):
        yield said, False
    else:
        for key in sorted({*was["terms"], *now["terms"]}):
            before, after = was["terms"].get(key), now["terms"].get(key)
            if before != after:  # larger margins are looser; any other change has to be looked at
                tighter = key in _LOOSER_IF_LARGER and float(after or 0) < float(before or 0)
                yield f"{key} of the claim was {_plain(before)}, is {_plain(after)}", not tighter


def _epsilons(old: Record, new: Record) -> Found:
    if old["exact_epsilon"] is not None and new["exact_epsilon"] is not None:
        was, now = float(old["exact_epsilon"]), float(new["exact_epsilon"])
        if _apart(was, now):
            yield f"exact epsilon was {number(was, 6)}, is {number(now, 6)}", now > was
    before, after = _guesses(old), _guesses(new)
    if before and after and after[0] > before[1]:
        said = f"certified epsilon >= {number(old['epsilon_lower_bound'])}, now {number(new['epsilon_lower_bound'])}"
        yield f"{said}: right guesses were {interval(before)} of all, are {interval(after)}", True
    was, now = float(old["resolution"]), float(new["resolution"])
    if now > was * (1 + _COARSER):
        rests_on_it = (new["verdict"], new["basis"]) == ("PASS", "statistical")
        yield f"resolution was {number(was)}, is {number(now)}", rests_on_it


def _guesses(record: Record) -> tuple[float, float] | None:
    """Return an exact interval of the rate of right guesses; None without a game."""
    game = ways_of(record["evidence"]).get("guess game")
    if game is None:
        return None
    counts = GameCounts(**game["counts"])
    guesses = counts.correct, counts.correct + counts.wrong, _NOISE
    return (proportion_lower_bound(*guesses), proportion_upper_bound(*guesses)) if guesses[1] else None


def _moved_bounds(old: Record, new: Record) -> Found:
    """Yield the quantities whose intervals lie apart."""
    before = {part["quantity"]: part for part in old["found"]}
    for part in new["found"]:
        quantity = part["quantity"]
        if quantity not in before:
            continue
        was, now = ((float(each["lower"]), float(each["upper"])) for each in (before[quantity], part))
        grown, shrunk = now[0] > was[1] and _apart(was[1], now[0]), now[1] < was[0] and _apart(was[0], now[1])
        if grown or shrunk:
            wanted_large = "exponent" in quantity or new["claim"]["terms"].get("sense") == ">="
            yield f"{quantity} was in {interval(was)}, is in {interval(now)}", shrunk if wanted_large else grown


def _apart(was: float, now: float) -> bool:
    return not math.isclose(was, now, rel_tol=_SAME, abs_tol=1e-9)


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
