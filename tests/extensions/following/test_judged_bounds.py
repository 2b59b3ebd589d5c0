"""What the judge concludes from bounds of followed noise, made by hand."""

import dataclasses

import pytest

from audit import GaussianClaim, PrivacyClaim, Verdict
from audit.checks.judge import PrivacyEvidence, judge
from audit.evidence.base import PrivacyTerms
from audit.extensions.following.evidence import Bound, Followed

MANY = 10_000
GOOD = Bound(1.0, 0.0, "path", "", (MANY, MANY))
LOOSE = Bound(1.0, 0.0, "path", "", (60, 60))  # 1 - (0.01 / 10)^(1/60) = 0.109 is left out
SLOW = Bound(1.0, 0.0, "constant", "", (14, 14))  # 1 - 0.045^(1/14) = 0.199 at significance 0.05
EXACT = Bound(1.0, 0.0, "exact", "", (150, 150), exact_delta=0.0)  # (1 + e) (1 - (0.01 / 2)^(1/150)) = 0.129
NEARLY = Bound(2.0, 0.0, "path", "", (MANY, MANY), (0, 0), (80, 80))


def judged(*bounds, claim=None, anomalies=(), significance=0.01):
    evidence = PrivacyEvidence(4, (Followed(bounds),), dict.fromkeys(anomalies, 1))
    return judge(PrivacyTerms(claim or PrivacyClaim(1.0)), evidence, significance).verdict


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ([GOOD], Verdict.PASS),
        ([GOOD, dataclasses.replace(GOOD, epsilon=2.0)], Verdict.INCONCLUSIVE),  # the worst pair decides
        ([dataclasses.replace(GOOD, bad=(1, 0))], Verdict.PASS),  # by a rounding
        ([dataclasses.replace(GOOD, bad=(11, 0))], Verdict.INCONCLUSIVE),  # they may be leaks
        ([LOOSE], Verdict.INCONCLUSIVE),
        ([GOOD, LOOSE], Verdict.INCONCLUSIVE),
        ([EXACT], Verdict.INCONCLUSIVE),
        ([dataclasses.replace(EXACT, runs=(MANY, MANY))], Verdict.PASS),
        ([Bound(reason="not")], Verdict.INCONCLUSIVE),
    ],
)
def test_of_a_pure_claim(bounds, verdict):
    assert judged(*bounds) is verdict


def test_an_output_that_never_varies_is_not_decided():
    assert judged(GOOD, anomalies=["constant"]) is Verdict.INCONCLUSIVE


def test_one_shift_of_slow_calls_passes_with_fewer_runs():
    claim = PrivacyClaim(1.0)
    assert judged(SLOW, claim=claim, significance=0.05) is Verdict.PASS
    for change in ({"runs": (14, 13)}, {"shift": "output"}, {"shift": "path"}, {"bad": (1, 0), "excess": (1, 0)}):
        assert judged(dataclasses.replace(SLOW, **change), claim=claim, significance=0.05) is Verdict.INCONCLUSIVE
    stricter = PrivacyEvidence(4, (Followed((SLOW,), most_left_out=0.1),))
    assert judge(PrivacyTerms(claim), stricter, 0.05).verdict is Verdict.INCONCLUSIVE


def test_two_routes_of_a_claim_with_delta_share_the_significance():
    """qbeta(1 - 0.05 / 20, 81, 9920) = 0.010841; at 0.05 / 10, 0.010592."""
    assert judged(NEARLY, claim=PrivacyClaim(1.0, 0.0107), significance=0.05) is Verdict.INCONCLUSIVE
    assert judged(NEARLY, claim=PrivacyClaim(1.0, 0.01095), significance=0.05) is Verdict.PASS


def test_pure_and_gaussian_noise_together_do_not_keep_a_curve():
    assert judged(Bound(0.0, 0.5, "path", "", (MANY, MANY)), claim=GaussianClaim(0.9)) is Verdict.PASS
    assert judged(Bound(0.2, 0.5, "path", "", (MANY, MANY)), claim=GaussianClaim(0.9)) is Verdict.INCONCLUSIVE
