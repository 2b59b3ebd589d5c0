"""Forge certificates: edit a good one, and compute again what follows from the edit."""

import json

from audit.certificate.document import chain_checks, compute_seal, list_spending, make_plan, summarize
from audit.certificate.summary import count_subjects
from audit.certificate.verify import judge_record, read_evidence
from audit.checks.result import ways_of
from audit.errors import InvalidCertificate
from audit.evidence.base import Evidence


def read(record):
    """The evidence of a record; that of nothing where a forger spoiled its form."""
    try:
        return read_evidence(record)
    except InvalidCertificate:
        return Evidence(0)


class Forged(dict):
    """A certificate with short ways to its parts."""

    def check(self, name):
        return next(check for check in self["checks"] if check["name"] == name)

    def way(self, name, way):
        return ways_of(self.check(name)["evidence"])[way]

    def drop(self, name):
        self["checks"].remove(self.check(name))
        for part in ("isolation", "sources", "printed"):
            self[part].pop(name, None)

    def plan_again(self):
        budgets = [check["settings"]["budget"] for check in self["checks"]]
        significance, evidence = self["settings"]["significance"], list(map(read, self["checks"]))
        self["plan"] = make_plan(significance, self["checks"], evidence, budgets)


def completed(certificate, known=(), judged=True):
    """Compute again whatever follows from the checks, as a forger who has this package does."""
    for record in [check for check in certificate["checks"] if judged and check not in known]:
        try:
            record.update(json.loads(json.dumps(judge_record(record))))
        except Exception:  # it stays as it was
            continue
    if judged:
        records = certificate["checks"]
        certificate.update(summarize(records), audited=count_subjects(records, ()))
        certificate["significance_spent"] = [list_spending(record, read(record)) for record in records]
        certificate["timing"] = {record["name"]: 1.0 for record in records}
    if "chain" in certificate:
        chained = (certificate["settings"], certificate["checks"], certificate.get("plan"))
        certificate["chain"], certificate["seal"] = chain_checks(*chained), ""
        certificate["seal"] = compute_seal(certificate)
    return certificate
