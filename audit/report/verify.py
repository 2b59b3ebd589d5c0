"""Replay and verification: compute verdicts again from their evidence, and compare a certificate with itself.

Verification covers the schema, the sums, the digests and the replay. It cannot notice a forger who computes the digests
again, with evidence that supports the forged verdicts: see `audit.report.certificate`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema

from audit.base.errors import InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.kinds import judged_part
from audit.report.certificate import chain_of, schema, seal_of, spending, summary_of
from audit.report.wording import inventory

_MOST = 10  # violations of the schema that are listed
_ROUNDING = 1e-9  # relative: shares of a significance are sums of floating-point numbers

Certificate = Mapping[str, Any]


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay: verdicts from the evidence, and where the certificate says something else."""

    verdict: Verdict
    verdicts: Mapping[str, Verdict]
    differences: tuple[str, ...]


def replay(certificate: Certificate) -> Replay:
    """Judge all recorded evidence again and compare; raise InvalidCertificate if a record does not have its form."""
    checks = certificate["checks"]
    fresh = [judged_part(record) for record in checks]
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


def problems_of(certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one line each; nothing in it is imported or run.

    A certificate that violates its schema is examined no further.
    """
    broken = list(schema_problems(certificate))
    if broken:
        return broken
    return [line for part in (_sums, _significance, _pairs, _digests, _verdicts) for line in part(certificate)]


def schema_problems(certificate: Certificate) -> Iterator[str]:
    """Yield the first violations of the published schema."""
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(certificate)
    for error in islice(errors, _MOST):
        yield f"schema: {error.json_path}: {error.message[:200]}"
    if next(errors, None):
        yield "schema: and more"


def require_form(certificate: Certificate) -> None:
    """Raise InvalidCertificate unless the certificate follows its schema."""
    for line in schema_problems(certificate):
        raise InvalidCertificate(f"the certificate does not have its form: {line}")


def _sums(certificate: Certificate) -> Iterator[str]:
    """Names are unique, every check has a duration, and the counts of the run follow from its checks."""
    checks = certificate["checks"]
    names = Counter(check["name"] for check in checks)
    yield from (f"{name}: listed {many} times" for name, many in names.items() if many > 1)
    if set(certificate["timing"]) != set(names):
        yield "timing: names other checks than were run"
    stated = summary_of(checks)
    if "audited" in certificate:
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
    if [{"randomness": 0.0, **entry, "note": ""} for entry in listed] != due:
        yield "significance_spent: does not list what the checks spent"


def _pairs(certificate: Certificate) -> Iterator[str]:
    """Every part that names a pair names a listed one, and no game counts more outputs than were drawn."""
    for check in certificate["checks"]:
        if "pairs" not in check:
            continue
        evidence = check["evidence"]
        parts = [*evidence["exact"], evidence["game"], evidence["sequential"], evidence.get("curve")]
        if any(part and part["pair"] >= len(check["pairs"]) for part in (*parts, check.get("witness"))):
            yield f"{check['name']}: speaks of a pair that is not listed"
        if evidence["game"] and sum(evidence["game"]["counts"].values()) > evidence["samples"]:
            yield f"{check['name']}: its game counts more outputs than were drawn"


def _digests(certificate: Certificate) -> Iterator[str]:
    """The chain and the seal are those of the settings, the checks and the document."""
    if "chain" not in certificate:  # version 1.0 had neither
        return
    stated, due = certificate["chain"], chain_of(certificate["settings"], certificate["checks"])
    if stated["start"] != due["start"]:
        yield "chain: the settings are not those that were chained"
    elif stated != due:
        links = zip(certificate["checks"], stated["links"], due["links"], strict=False)
        first = next((check["name"] for check, said, found in links if said != found), None)
        yield f"chain: broken at {first or 'its end'}; the checks from there on are not those that were chained"
    if certificate["seal"] != seal_of(certificate):
        yield "seal: the document is not the one that was sealed"


def _verdicts(certificate: Certificate) -> Iterator[str]:
    """Every verdict follows from its evidence."""
    try:
        yield from (f"replay: {line}" for line in replay(certificate).differences)
    except InvalidCertificate as error:
        yield f"replay: {error}"
