"""Replay: every verdict of a certificate computed anew from its evidence alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.base.verdict import Verdict
from audit.checks.kinds import judged_part
from audit.report.certificate import summary_of


@dataclass(frozen=True)
class Replay:
    """What came of a replay.

    Parameters
    ----------
    verdict : Verdict
        Of the run, from the evidence.
    verdicts : mapping of str to Verdict
        Of each check, from its evidence.
    differences : tuple of str
        Where the certificate says something else.
    """

    verdict: Verdict
    verdicts: Mapping[str, Verdict]
    differences: tuple[str, ...]


def replay(certificate: Mapping[str, Any]) -> Replay:
    """Judge all recorded evidence and compare.

    Raises
    ------
    InvalidCertificate
        When a record does not have its form.
    """
    differences: list[str] = []
    judged = []
    for record in certificate["checks"]:
        fresh = judged_part(record)
        judged.append({**record, **fresh})
        differences += [
            f"{record.get('name')}: {key} is {record.get(key)!r}, the evidence gives {value!r}"
            for key, value in fresh.items()
            if record.get(key) != value
        ]
    summary = summary_of(judged)
    differences += [
        f"{key} is {certificate.get(key)!r}, the evidence gives {value!r}"
        for key, value in summary.items()
        if certificate.get(key) != value
    ]
    verdicts = {record["name"]: Verdict(record["verdict"]) for record in judged}
    return Replay(Verdict(summary["verdict"]), verdicts, tuple(differences))
