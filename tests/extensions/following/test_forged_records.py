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


def flip(data, rng):
    return (rng.random() < 0.7) == bool(data.sum() > 0.5)


def release(data, rng):
    return round(data.sum() + rng.laplace())


PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1),
    PrivacyCheck(name="coin", mechanism=audit.per_call(flip), claim=PrivacyClaim(1.0), pairs=[PAIR]),
    PrivacyCheck(name="calls", mechanism=audit.per_call(release), claim=PrivacyClaim(1.0), pairs=[PAIR]),
]


def bound(name, **changes):
    """Return the edit of the bound of a check, with numbers or with functions of the numbers that it has."""

    def edit(c):
        part = c.way(name, "noise followed")["bounds"][0]
        part.update({key: new(part[key]) if callable(new) else new for key, new in changes.items()})

    return edit


def cost_less(c):
    """Let the runs, their bound and the sum of the ledger cost less, and not its lines."""
    bound("good", epsilon=0.5, costs=[0.5, 0.5])(c)
    c.way("good", "noise followed")["ledger"].update(epsilon=0.5)


def double(counts):
    return [2 * count for count in counts]


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
    "noise that costs less than the lines of its ledger": (cost_less, "good: the lines of its ledger spend more"),
    "an exact law with a smaller epsilon": (bound("coin", epsilon=0.1), "coin: its law has another epsilon"),
    "an exact law with Gaussian noise": (bound("coin", mu=0.1), "coin: its law has another epsilon"),
    "an exact law that is none": (bound("coin", law=[[0.5, 0.5]]), "coin: its law has another epsilon"),
    "noise that costs less than its runs": (bound("calls", epsilon=0.5), "calls: its runs cost other than their bound"),
    "more runs": (bound("coin", runs=double), "coin: its good and bad runs are other than its runs"),
    "more runs, all of them good": (bound("calls", runs=double, good=double), "calls: it was followed in more runs"),
    "more runs of a law, all of them good": (bound("coin", runs=double, good=double), "coin: it was followed in more"),
    "a run less that is good": (
        bound("good", good=lambda counts: [counts[0] - 1, counts[1]]),
        "good: its good and bad",
    ),
    "a smaller share that is left out": (
        lambda c: c.way("calls", "noise followed").update(most_left_out=0.5),
        "calls: its settings leave out another share",
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
