"""Gaussian, Renyi and zero-concentrated claims: profiles, divergences, exact judgments, points, and plain data."""

import itertools
import json
import math

import numpy as np
import pytest
from dp_accounting.rdp.rdp_privacy_accountant import compute_delta
from scipy.stats import norm

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
from audit.claims import Point, claim_of, claim_record, renyi_divergence
from audit.claims.curves import SHARES, polygon_below
from audit.claims.privacy import exceeds, find_relation
from audit.laws import FiniteLoss, Gaussian, GaussianLoss, Laplace, LaplaceLoss, compose
from audit.laws.privacy_loss import ARITHMETIC_TOLERANCE
from tests.offenders import refused

THETA = math.e / (1 + math.e)
RANDOMIZED_RESPONSE = FiniteLoss([THETA, 1 - THETA], [1 - THETA, THETA])
HALF_SECRET = FiniteLoss([0.9, 0.1, 0.0], [0.9, 0.0, 0.1])


test_what_is_refused = refused(
    [
        (lambda: GaussianClaim(-1.0), "mu"),
        (lambda: GaussianClaim(math.inf), "mu"),
        (lambda: RenyiClaim(0.5, 1.0), "order"),
        (lambda: RenyiClaim(math.nan, 1.0), "order"),
        (lambda: RenyiClaim(2.0, -1.0), "epsilon"),
        (lambda: ZeroConcentratedClaim(-0.1), "rho"),
        (lambda: GaussianClaim(1.0, relation="substitution"), "relation"),
        (lambda: GaussianClaim(1.0).profile(-1.0), "epsilon"),
        (lambda: GaussianClaim(1.0).judge_exactly("no loss"), "loss"),
        (lambda: renyi_divergence(RANDOMIZED_RESPONSE, 2.0, "up"), "direction"),
    ],
    error=AuditError,
)


def test_gaussian_profile():
    # Dong, Roth & Su 2022, corollary 2.13, by hand at mu = 1, eps = 1: Phi(-.5) - e Phi(-1.5)
    assert GaussianClaim(1.0).profile(1.0) == pytest.approx(0.3085375387 - math.e * 0.0668072013, abs=1e-9)
    assert GaussianClaim(0.0).profile(0.0) == 0.0


@pytest.mark.parametrize("open_points", [(2.0, None), (None, 2.0)])
def test_an_order_that_one_direction_leaves_open_keeps_nothing(monkeypatch, open_points):
    claim, found = ZeroConcentratedClaim(0.4), iter(open_points)
    assert claim.judge_exactly(LaplaceLoss(1.0)).keeps
    monkeypatch.setattr("audit.claims.curves._above_parabola", lambda *_: next(found))
    assert claim.judge_exactly(LaplaceLoss(1.0)).keeps is None


def test_polygon_lies_below_convex_functions():
    x = np.linspace(0, 1, 12)
    fine = np.linspace(0, 1, 1001)
    for function in (
        lambda a: (1 - a) ** 2,
        lambda a: np.maximum(0, 1 - 3 * a),
        lambda a: a + a**2,
        lambda a: 1 - np.sqrt(a),
    ):
        below = np.interp(fine, *polygon_below(x, function(x)))
        assert np.all(below <= function(fine) + 1e-12)


def by_sum(p, q, order):
    if order == 1:
        return float(np.log(p / q) @ p)
    return float(np.log(p**order @ q ** (1 - order))) / (order - 1)


TWO, FLIPPED = np.array([THETA, 1 - THETA]), np.array([1 - THETA, THETA])
THREE, OTHER = np.array([0.7, 0.2, 0.1]), np.array([0.3, 0.3, 0.4])
SECOND = math.log(2 / 3 * math.e + math.exp(-2) / 3)  # of Laplace: Mironov 2017, proposition 6, order 2, scale 1
DIVERGENCES = [
    *((RANDOMIZED_RESPONSE, order, "left", by_sum(TWO, FLIPPED, order)) for order in (1.0, 1.5, 2.0, 8.0, 40.0)),
    *((FiniteLoss(THREE, OTHER), order, "left", by_sum(THREE, OTHER, order)) for order in (1.2, 3.0)),
    *((FiniteLoss(THREE, OTHER), order, "right", by_sum(OTHER, THREE, order)) for order in (1.2, 3.0)),
    (FiniteLoss(THREE, OTHER), math.inf, "left", math.log(7 / 3)),
    (FiniteLoss(THREE, OTHER), math.inf, "right", math.log(4)),
    (GaussianLoss(1.5), 3.0, "left", 3 * 1.5**2 / 2),
    (LaplaceLoss(1.0), 2.0, "left", SECOND),
    (LaplaceLoss(1.0), 1.0, "left", math.exp(-1)),
    (LaplaceLoss(1.0), math.inf, "left", 1.0),
    (compose([GaussianLoss(1.0), LaplaceLoss(1.0)]), 2.0, "right", 1 + SECOND),
    (HALF_SECRET, 2.0, "left", math.inf),
]


@pytest.mark.parametrize("claimed", [1.0, 50.0, 1e6])
def test_a_claim_is_exceeded_beyond_its_own_rounding(claimed):
    found = [exceeds(claimed * (1 + times * ARITHMETIC_TOLERANCE), claimed) for times in (0.5, 2)]
    assert found == [False, True]


@pytest.mark.parametrize(("loss", "order", "direction", "exact"), DIVERGENCES)
def test_a_divergence_is_bracketed_closely(loss, order, direction, exact):
    lower, upper = renyi_divergence(loss, order, direction)
    assert lower * (1 - 1e-12) <= exact <= upper * (1 + 1e-12)
    assert upper == exact == math.inf or upper - lower < 1e-8


def test_what_neither_a_form_nor_a_sum_decides_is_left_open():
    """The divergence is at most the largest loss; an unbounded one of unequal normal laws is compared nowhere."""
    narrow, wide = (
        Gaussian(0.0, 1.0).loss_against(Gaussian(0.0, 2.0)),
        Laplace(0.0, 1.0).loss_against(Laplace(0.5, 2.0)),
    )
    assert renyi_divergence(wide, 2.0, "left") == (0.0, wide.max_loss("left"))
    assert RenyiClaim(2.0, 0.1).judge_exactly(wide).keeps is None
    assert GaussianClaim(20.0).judge_exactly(narrow).keeps is None


def test_an_order_between_the_divergences_of_both_directions_is_refused_on_either_side():
    directions = [renyi_divergence(FiniteLoss(THREE, OTHER), 3.0, direction)[0] for direction in ("left", "right")]
    for pair in (FiniteLoss(THREE, OTHER), FiniteLoss(OTHER, THREE)):
        assert RenyiClaim(3.0, np.mean(directions)).judge_exactly(pair).keeps is False


@pytest.mark.parametrize("order", [1.0, 2.0, 10.0])
def test_renyi_profile_covers_what_keeps_the_claim(order):
    for loss in (RANDOMIZED_RESPONSE, GaussianLoss(1.0), LaplaceLoss(1.0)):
        claim = RenyiClaim(order, max(renyi_divergence(loss, order, side)[1] for side in ("left", "right")))
        for epsilon in (0.0, 0.3, 0.9, 2.0):
            assert loss.delta(epsilon) <= claim.profile(epsilon) + 1e-12


def test_renyi_profile_reference_values():
    # Canonne, Kamath & Steinke 2020, proposition 12, order 2: e^(r - eps) (1/2) / 2
    assert RenyiClaim(2.0, 0.5).profile(4.0) <= math.exp(-3.5) / 4
    # P = 1 on an output of probability e^-3: of every order the divergence is 3, and delta is 1 - e^(epsilon - 3)
    for order, epsilon in itertools.product((1.5, 2.0, 8.0), (0.0, 0.5, 1.0, 2.0)):
        assert RenyiClaim(order, 3.0).profile(epsilon) >= -math.expm1(epsilon - 3)
    # the binary bound: p^2/q + (1-p)^2/(1-q) <= e^.5 is p^2 / q <= e^.5 - 1 + 2p for small p, so the largest p - e^4 q
    # is a little above (e^.5 - 1) / (4 e^4) = .00297
    assert RenyiClaim(2.0, 0.5).profile(4.0) == pytest.approx(0.00303, abs=1e-5)
    # order 1 at eps 0: Pinsker gives sqrt(r / 2); the binary bound is at most that
    assert 0.45 < RenyiClaim(1.0, 0.5).profile(0.0) <= math.sqrt(0.25)


@pytest.mark.parametrize("order", [1.5, 2.0, 30.0])
def test_renyi_profile_is_never_above_the_conversion_of_dp_accounting(order):
    for divergence in (0.1, 1.0):
        for epsilon in (0.0, 1.0, 4.0):
            converted, _ = compute_delta([order], [divergence], epsilon)
            assert RenyiClaim(order, divergence).profile(epsilon) <= converted * (1 + 1e-9)
            assert ZeroConcentratedClaim(divergence / order).profile(epsilon) <= converted * (1 + 1e-6)


def test_zero_concentrated_profile():
    claim = ZeroConcentratedClaim(0.5)
    for epsilon in (0.0, 1.0, 3.0, 6.0):
        assert GaussianClaim(1.0).profile(epsilon) <= claim.profile(epsilon)
    # Bun & Steinke 2016, proposition 1.3: (rho + 2 sqrt(rho log(1/delta)), delta), here better
    assert claim.profile(0.5 + 2 * math.sqrt(0.5 * math.log(1e6))) < 1e-6
    assert ZeroConcentratedClaim(0.0).profile(0.0) == 0.0


TIGHT_MU = 2 * norm.ppf(THETA)  # of randomized response: f_mu passes through (1 - theta, 1 - theta)


@pytest.mark.parametrize(
    ("claim", "loss", "keeps"),
    [
        (GaussianClaim(1.0), GaussianLoss(1.0), True),
        (GaussianClaim(0.99), GaussianLoss(1.0), False),
        (GaussianClaim(1.2), LaplaceLoss(1.0), True),
        (GaussianClaim(0.9), LaplaceLoss(1.0), False),
        (GaussianClaim(TIGHT_MU * (1 + 1e-4)), RANDOMIZED_RESPONSE, True),
        (GaussianClaim(TIGHT_MU * (1 - 1e-4)), RANDOMIZED_RESPONSE, False),
        (GaussianClaim(5.0), HALF_SECRET, False),
        (RenyiClaim(2.0, 1.0), GaussianLoss(1.0), True),
        (RenyiClaim(2.0, 0.99), GaussianLoss(1.0), False),
        (RenyiClaim(2.0, 0.736), RANDOMIZED_RESPONSE, True),
        (RenyiClaim(2.0, 0.735), RANDOMIZED_RESPONSE, False),
        (RenyiClaim(2.0, 50.0), HALF_SECRET, False),
        (ZeroConcentratedClaim(0.5), GaussianLoss(1.0), True),
        (ZeroConcentratedClaim(0.02), GaussianLoss(0.2), True),  # 0.2^2 / 2 is rounded up
        (ZeroConcentratedClaim(0.499), GaussianLoss(1.0), False),
        (ZeroConcentratedClaim(0.4), LaplaceLoss(1.0), True),
        (ZeroConcentratedClaim(0.36), LaplaceLoss(1.0), False),
        (ZeroConcentratedClaim(0.9), compose([GaussianLoss(1.0), LaplaceLoss(1.0)]), True),
        (ZeroConcentratedClaim(0.46), RANDOMIZED_RESPONSE, False),  # KL = tanh(1/2) = .462
    ],
)
def test_exact_judgments(claim, loss, keeps):
    judged = claim.judge_exactly(loss)
    assert judged.keeps is keeps, judged.detail


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
    Distance("l2", 0.1), Distance("linf", 3), Distance("l1", 1e-7), Distance("l1", 1 / 3),
]  # fmt: skip


OF_RELATIONS = [GaussianClaim(1.0, relation=relation) for relation in RELATIONS]


@pytest.mark.parametrize("claim", [PrivacyClaim(1.0, 1e-5, Local(), "a docstring"), *CURVES, *OF_RELATIONS], ids=str)
def test_a_claim_survives_the_round_trip_through_json(claim):
    assert claim_of(json.loads(json.dumps(claim_record(claim)))) == claim
    assert claim_of(claim_record(claim)).short == claim.short


def test_relations_are_found_by_their_names():
    assert [find_relation(relation.name) for relation in RELATIONS] == RELATIONS


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


def test_a_curve_of_few_points_is_resolved_at_the_last_one():
    claim = ZeroConcentratedClaim(30.0)
    assert len(claim.points) == 2
    assert claim.resolved_points == claim.points[-1:]
