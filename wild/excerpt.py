"""A part of a certificate as a certificate of its own: some checks of a run, the others left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from audit.report.certificate import chain_of, seal_of, summary_of
from audit.report.wording import inventory

_BY_NAME = ("timing", "isolation", "sources", "printed")


def excerpt(certificate: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a certificate with these checks only.

    Settings and shares stay those of the run, so that what the other checks could spend is unspent. Records are not
    changed; chain and seal are made anew.

    Parameters
    ----------
    certificate : mapping
        Of the run.
    names : collection of str
        Names of the checks to keep; at least one of them must be in the certificate.
    """
    records = [record for record in certificate["checks"] if record["name"] in names]
    settings, plan = certificate["settings"], certificate.get("plan")  # older certificates have no plan
    if plan is not None and len(records) < len(certificate["checks"]):
        shares = [record["settings"]["significance"] for record in records]
        planned = [each for each in plan["checks"] if each["check"] in names]
        unspent = max(0.0, settings["significance"] - sum(shares))
        plan = {**plan, "shared": "by test", "unspent": unspent, "checks": planned}
    by_name = {key: certificate[key] for key in _BY_NAME if key in certificate}
    part = {
        **certificate,
        **summary_of(records),
        "audited": inventory(records, certificate["audited"]["targets"]),
        "significance_spent": [each for each in certificate["significance_spent"] if each["check"] in names],
        "checks": records,
        **{key: {name: said for name, said in found.items() if name in names} for key, found in by_name.items()},
        "chain": chain_of(settings, records, plan),
    }
    if plan is not None:
        part["plan"] = plan
    return {**part, "seal": seal_of(part)}
