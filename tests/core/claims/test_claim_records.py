"""Claims as plain data and back, and the points at which a curve is tested."""

import json
import math

import pytest

from audit import (
    AddRemove,
    AuditError,
    Distance,
    GaussianClaim,
    Group,
    LabelFlip,
    Local,
    PrivacyClaim,
    RenyiClaim,
    Substitution,
    ZeroConcentratedClaim,
)
from audit.claims import Point, claim_of, claim_record
from audit.claims.curves import SHARES
from audit.laws import FiniteLoss

Q = 1 / (1 + math.e)
CURVES = [
    GaussianClaim(1.0, source="Dong 2022"),
    GaussianClaim(0.0),
    GaussianClaim(5.0),
    RenyiClaim(2.0, 0.6),
    RenyiClaim(math.inf, 1.0),
    RenyiClaim(1.0, 0.3),
    ZeroConcentratedClaim(0.5, relation=AddRemove()),
]
RELATIONS = [
    Substitution(), AddRemove(), LabelFlip(), Local(), Group(3), Group(2, AddRemove()),
    Distance("l2", 0.1), Distance("linf", 3), Distance("l1", 1e-7),
]  # fmt: skip


OF_RELATIONS = [GaussianClaim(1.0, relation=relation) for relation in RELATIONS]


@pytest.mark.parametrize("claim", [PrivacyClaim(1.0, 1e-5, Local(), "a docstring"), *CURVES, *OF_RELATIONS], ids=str)
def test_a_claim_survives_the_round_trip_through_json(claim):
    assert claim_of(json.loads(json.dumps(claim_record(claim)))) == claim
    assert claim_of(claim_record(claim)).short == claim.short


def test_a_relation_of_one_s_own_is_known_by_name():
    class Reversal:
        name = "reversal"

        def why_not(self, left, right):
            return None

    record = claim_record(PrivacyClaim(1.0, relation=Reversal()))
    assert record["relation"].startswith(f"reversal (defined by {__name__}.")
    again = claim_of(record).relation
    assert again.name == "reversal"
    assert "name only" in again.why_not([1], [2])


@pytest.mark.parametrize(
    "change",
    [{"kind": "os.system"}, {"kind": None}, {"mu": -1.0}, {"mu": "1"}, {"mu": math.nan}, {"sigma": 1.0}, {"source": 3}],
    ids=str,
)
def test_a_malformed_record_is_refused(change):
    with pytest.raises((AuditError, TypeError)):
        claim_of(claim_record(GaussianClaim(1.0)) | change)


@pytest.mark.parametrize("claim", CURVES, ids=str)
def test_points_lie_on_the_curve_where_delta_has_fallen_to_each_share(claim):
    start = claim.profile(0.0)
    assert claim.points[0] == (0.0, start)
    assert claim.point in claim.points
    for point, share in zip(claim.points, SHARES, strict=False):
        assert point.delta == claim.profile(point.epsilon)
        assert point.delta <= share * start
        assert claim.profile(0.999 * point.epsilon) >= share * start or point.epsilon == 0
        assert claim.implies(point)


def test_a_stricter_point_is_not_implied_and_a_laxer_one_is():
    claim = GaussianClaim(1.0)
    epsilon, delta = claim.point
    assert not claim.implies(Point(epsilon, delta * (1 - 1e-6)))
    assert not claim.implies(Point(epsilon * 0.999, delta))
    assert claim.implies(Point(epsilon, 2 * delta))
    assert PrivacyClaim(1.0, 0.1).implies(Point(1.0, 0.1))
    assert not PrivacyClaim(1.0, 0.1).implies(Point(1.0, 0.05))


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_profile_of_an_approximate_claim_is_that_of_its_worst_pair(delta):
    # randomized response that shows the bit with probability delta: the tightest pair (Kairouz, Oh & Viswanath 2015)
    p, q = (1 - delta) * (1 - Q), (1 - delta) * Q
    loss = FiniteLoss([delta, p, q, 0.0], [0.0, q, p, delta])
    for epsilon in (0.0, 0.4, 0.9, 1.0, 2.0):
        assert PrivacyClaim(1.0, delta).profile(epsilon) == pytest.approx(loss.delta(epsilon), abs=1e-12)
