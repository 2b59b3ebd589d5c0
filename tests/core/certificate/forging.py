"""Forge certificates: edit a good one, and compute everything again that follows from the edit.

A forger is a function of the certificate, registered by what it is about: the evidence (`forged_evidence.py`), or the
plan and the form (`forged_documents.py`). Its docstring is its name, on the page of the threat model too.
"""

import copy
import json

import numpy as np

from audit import GaussianClaim, PrivacyCheck, PrivacyClaim, RandomnessCheck
from audit.certificate.document import chain_of, load_certificate, plan_of, seal_of, spending, summary_of
from audit.certificate.summary import inventory
from audit.certificate.verify import evidence_of, judged_part, problems_of
from audit.checks.base import Evidence
from audit.checks.privacy_record import ways_of
from audit.errors import InvalidCertificate
from tests.core.kinds import DivisibleCheck
from tests.core.mechanisms import NoisySum, laplace

PAIRS = [(np.zeros(3), np.r_[1.0, 0, 0]), (np.zeros(3), np.r_[0, 1.0, 0])]


def one_way(data, size, rng):
    """Shows the right dataset now and then, and nothing else."""
    return np.where(rng.random(size) < 0.3, data.sum(), 0.0)


CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=PAIRS[:1], tolerance=1),
    PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.5, 1e-3), pairs=PAIRS[:1]),
    PrivacyCheck(name="one way", mechanism=one_way, claim=PrivacyClaim(1.0, 0.1), pairs=PAIRS[:1]),
    PrivacyCheck(name="exact", mechanism=NoisySum(), claim=PrivacyClaim(1.0), pairs=PAIRS, method="exact"),
    PrivacyCheck(name="curve", mechanism=laplace, claim=GaussianClaim(0.3), pairs=PAIRS[:1]),
    PrivacyCheck(name="early", mechanism=laplace, claim=PrivacyClaim(0.5), pairs=PAIRS[:1], method="sequential"),
    RandomnessCheck(name="fresh", mechanism=laplace, dataset=PAIRS[0][0]),
    DivisibleCheck(name="six", function=lambda: 6, by=3),
]


def read(record):
    """The evidence of a record; that of nothing where a forger spoiled its form."""
    try:
        return evidence_of(record)
    except InvalidCertificate:
        return Evidence(0)


class Forged(dict):
    """A certificate with short ways to its parts."""

    def check(self, name):
        return next(check for check in self["checks"] if check["name"] == name)

    def way(self, name, way):
        return ways_of(self.check(name)["evidence"])[way]

    def game(self, name):
        return self.way(name, "guess game")

    def laws(self):
        return self.way("exact", "stated law")["laws"]

    def planned(self, name):
        return next(entry for entry in self["plan"]["checks"] if entry["check"] == name)

    def drop(self, name):
        self["checks"].remove(self.check(name))
        for part in ("isolation", "sources", "printed"):
            self[part].pop(name, None)

    def enlarge(self, name, times):
        """Repeat the whole calls of a game that many times."""
        counts, calls = self.game(name)["counts"], self.game(name)["calls"]
        for side in ("left", "right"):
            whole = calls[side]
            abstained = whole["calls"] * calls["size"] - whole["plus"] - whole["minus"]
            for guess, found in {**whole, "abstain": abstained}.items():
                if f"{side}_{guess}" in counts:
                    counts[f"{side}_{guess}"] += (times - 1) * found
            whole.update({key: times * found for key, found in whole.items()})
        calls["parts"] = [[times * found for found in part] for part in calls["parts"]]

    def plan_again(self):
        budgets = [check["settings"]["budget"] for check in self["checks"]]
        self["plan"] = plan_of(
            self["settings"]["significance"], self["checks"], list(map(read, self["checks"])), budgets
        )


REFUSED, LEFT_ALONE = {}, {}


def refused(says, judged=True, among=REFUSED):
    """A forgery that `verify` refuses in these words; the forger judges the evidence again, unless it is pointless."""

    def register(forge):
        among[forge.__doc__] = (forge, says, judged)
        return forge

    return register


def left_alone(forge):
    """A forgery that agrees with itself: only a seal, a plan or a signature kept elsewhere reveals it."""
    LEFT_ALONE[forge.__doc__] = forge
    return forge


def completed(certificate, known=(), judged=True):
    """Compute again whatever follows from the checks, as a forger who has this package does."""
    for record in [check for check in certificate["checks"] if judged and check not in known]:
        try:
            record.update(json.loads(json.dumps(judged_part(record))))
        except Exception:  # it stays as it was
            continue
    if judged and certificate["checks"][0]["settings"]:
        records = certificate["checks"]
        certificate.update(summary_of(records), audited=inventory(records, ()))
        certificate["significance_spent"] = [spending(record, read(record)) for record in records]
        certificate["timing"] = {record["name"]: 1.0 for record in records}
    if "chain" in certificate:
        chained = (certificate["settings"], certificate["checks"], certificate.get("plan"))
        certificate["chain"], certificate["seal"] = chain_of(*chained), ""
        certificate["seal"] = seal_of(certificate)
    return certificate


def forged(written, forge, judged=True):
    """Return the text of a forged certificate."""
    certificate = Forged(copy.deepcopy(written))
    text = forge(certificate)
    return text or json.dumps(completed(certificate, written["checks"], judged))


def reread(tmp_path, text):
    """Return the certificate with this text, as a reader loads it from a file."""
    path = tmp_path / "certificate.json"
    path.write_text(text)
    return load_certificate(path)


def assert_refused(written, tmp_path, forge, says, judged):
    """A replay refuses it too, which needs no digests and no sums, unless it is about these."""
    try:
        found = problems_of(reread(tmp_path, forged(written, forge, judged)))
    except InvalidCertificate as error:
        found = [str(error)]
    assert any(says in line for line in found), found
    assert not judged or any(not line.startswith(("chain", "seal", "timing", "significance")) for line in found)
