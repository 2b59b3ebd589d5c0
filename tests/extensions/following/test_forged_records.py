"""A certificate whose followed noise was edited is refused, although the forger computes all that follows again."""

import copy
import json

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.certificate.verify import list_problems
from tests.core.certificate.forging import Forged, completed
from tests.core.mechanisms import laplace

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
CHECKS = [PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1)]
FORGED = {
    "noise followed on two pairs": (
        lambda c: c.way("good", "noise followed")["bounds"].append(c.way("good", "noise followed")["bounds"][0]),
        "good: its noise was followed on other pairs",
    ),
    "a bad run more than exceeds the claim": (
        lambda c: c.way("good", "noise followed")["bounds"][0].update(bad=[1, 0]),
        "good: bad runs are not in the excess",
    ),
    "noise that costs less than its ledger": (
        lambda c: c.way("good", "noise followed")["bounds"][0].update(epsilon=0.5),
        "good: its ledger spends",
    ),
    "a bound without a source": (
        lambda c: c.way("good", "noise followed")["bounds"][0].update(shift=""),
        "good: a bound of its noise has no source",
    ),
    "noise followed in longer calls": (
        lambda c: c.way("good", "noise followed")["bounds"][0].update(outputs_per_call=10**6),
        "good: its noise was followed in calls of other sizes",
    ),
}


@pytest.fixture(scope="module")
def written():
    return json.loads(json.dumps(audit.run(CHECKS, budget=20_000, workers=0).certificate))


@pytest.mark.parametrize("name", FORGED)
def test_refused(written, name):
    forge, says = FORGED[name]
    certificate = Forged(copy.deepcopy(written))
    forge(certificate)
    found = list_problems(json.loads(json.dumps(completed(certificate, written["checks"]))))
    assert any(says in line for line in found), found
