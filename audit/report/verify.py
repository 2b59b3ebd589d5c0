"""Verification: whether a certificate is what a run wrote, by its schema, its sums, its digests and its own evidence.

Every count, seed, claim, setting and verdict is covered by the chain and the seal (`audit.report.chain`), and every
verdict is computed again from its evidence. What this cannot notice is said there too: a forger who computes the
digests again, with evidence that supports the forged verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from audit.base.errors import InvalidCertificate
from audit.report.certificate import schema, spending, summary_of
from audit.report.chain import chain_of, seal_of
from audit.report.replay import replay
from audit.report.wording import inventory

_MOST = 10  # violations of the schema that are listed
_ROUNDING = 1e-9  # relative: shares of a significance are sums of floating-point numbers

Certificate = Mapping[str, Any]


def problems_of(certificate: Certificate) -> list[str]:
    """What is wrong with a certificate, one line each; nothing when it is sound.

    Nothing in it is imported or run. A certificate that breaks its schema is examined no further.
    """
    broken = list(schema_problems(certificate))
    if broken:
        return broken
    return [line for part in (_sums, _significance, _pairs, _digests, _verdicts) for line in part(certificate)]


def schema_problems(certificate: Certificate) -> Iterator[str]:
    """Where the published schema is violated; the first few places."""
    validator = jsonschema.Draft202012Validator(schema())
    for index, error in enumerate(validator.iter_errors(certificate)):
        if index == _MOST:
            yield "schema: and more"
            return
        yield f"schema: {error.json_path}: {error.message[:200]}"


def require_form(certificate: Certificate) -> None:
    """Raise InvalidCertificate unless the certificate follows its schema."""
    for line in schema_problems(certificate):
        raise InvalidCertificate(f"the certificate does not have its form: {line}")


def _sums(certificate: Certificate) -> Iterator[str]:
    """The counts of the run follow from its checks; names are unique; every check has a duration."""
    checks = certificate["checks"]
    names = [check["name"] for check in checks]
    yield from (f"{name}: listed {many} times" for name, many in Counter(names).items() if many > 1)
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
    allowed = certificate["settings"]["significance"]
    spent = sum(entry["allotted"] for entry in certificate["significance_spent"])
    if spent > allowed * (1 + _ROUNDING):
        yield f"significance_spent: adds up to {spent:.6g}, allowed {allowed:.6g}"
    listed = [{"randomness": 0.0, **entry} for entry in certificate["significance_spent"]]
    due = [spending(record) for record in certificate["checks"]]
    if [_without_note(entry) for entry in listed] != [_without_note(entry) for entry in due]:
        yield "significance_spent: does not list what the checks spent"


def _without_note(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "note"}


def _pairs(certificate: Certificate) -> Iterator[str]:
    """Whatever speaks of a pair speaks of a listed one, and no game counts more outputs than were drawn."""
    for check in certificate["checks"]:
        if "pairs" not in check:
            continue
        evidence = check["evidence"]
        speaking = [*evidence["exact"], evidence["game"], evidence["sequential"], evidence.get("curve")]
        if any(part and part["pair"] >= len(check["pairs"]) for part in (*speaking, check.get("witness"))):
            yield f"{check['name']}: speaks of a pair that is not listed"
        if evidence["game"] and sum(evidence["game"]["counts"].values()) > evidence["samples"]:
            yield f"{check['name']}: its game counts more outputs than were drawn"


def _digests(certificate: Certificate) -> Iterator[str]:
    """The chain over settings and checks, and the seal over the whole document."""
    if "chain" not in certificate:  # version 1.0 had neither
        return
    stated, due = certificate["chain"], chain_of(certificate["settings"], certificate["checks"])
    if stated["start"] != due["start"]:
        yield "chain: the settings are not those that were chained"
    elif stated != due:
        pairs = zip(certificate["checks"], stated["links"], due["links"], strict=False)
        first = next((check["name"] for check, said, found in pairs if said != found), None)
        yield f"chain: broken at {first or 'its end'}; the checks from there on are not those that were chained"
    if certificate["seal"] != seal_of(certificate):
        yield "seal: the document is not the one that was sealed"


def _verdicts(certificate: Certificate) -> Iterator[str]:
    """Every verdict follows from its evidence."""
    try:
        yield from (f"replay: {line}" for line in replay(certificate).differences)
    except InvalidCertificate as error:
        yield f"replay: {error}"
