"""The sequential method end to end: stops early on a violation, resolves a true claim, survives its certificate."""

import pytest

import audit
from audit import AuditError, PrivacyCheck, PrivacyClaim, Verdict
from audit.certificate.verify import replay
from audit.evidence.betting import SequentialGame

PAIR = ([0.0], [1.0])


def laplace(data, size, rng):
    return data[0] + rng.laplace(size=size)


def drifts(data, size, rng):
    drifts.calls += 1
    return data[0] + rng.laplace(size=size) + drifts.calls


drifts.calls = 0


def check(epsilon, mechanism=laplace, **more):
    return PrivacyCheck(
        name=f"{mechanism.__name__} {epsilon}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon),
        pairs=[PAIR],
        method="sequential",
        **more,
    )


@pytest.fixture(scope="module")
def report():
    checks = [check(0.5), check(1.5, tolerance=3.0), check(1.0, drifts, budget=12_000), check(1.0, budget=500)]
    checks[3] = PrivacyCheck(**{**vars(checks[3]), "name": "short"})
    return audit.run(checks, workers=0, budget=60_000, seed=2)


def test_verdicts(report):
    refuted, resolved, stateful, short = report.results
    assert (refuted.verdict, refuted.evidence.by(SequentialGame).outcome.stopped) == (Verdict.FAIL, "refuted")
    assert refuted.samples < 5_000
    assert refuted.epsilon_lower_bound >= 0.5
    assert (resolved.verdict, resolved.evidence.by(SequentialGame).outcome.stopped) == (Verdict.PASS, "resolved")
    assert resolved.samples < 120_000
    assert stateful.verdict is Verdict.INCONCLUSIVE
    assert "earlier calls" in stateful.reason
    assert (short.verdict, short.evidence.by(SequentialGame).outcome.stopped) == (Verdict.INCONCLUSIVE, "budget")


def test_a_large_delta_is_not_acquitted():
    """Simulation did not confirm the resolution stated there."""
    claim = PrivacyClaim(1.5, 0.01)
    result = audit.check_privacy(laplace, claim, [PAIR], method="sequential", tolerance=3.0, budget=60_000, seed=2)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "delta" in result.reason


def test_the_certificate_is_valid_and_replays(report):
    assert replay(report.certificate).differences == ()


def test_the_recorded_wealth_decides(report):
    import copy

    forged = copy.deepcopy(report.certificate)
    forged["checks"][0]["evidence"]["ways"][0]["outcome"]["log_wealth"] = 0.1
    assert any("verdict" in difference for difference in replay(forged).differences)


def test_several_pairs_are_refused():
    with pytest.raises(AuditError, match="method='sequential' needs one pair"):
        audit.check_privacy(laplace, PrivacyClaim(1.0), [PAIR, ([0.0], [2.0])], method="sequential")


def test_outputs_that_the_experts_cannot_read_are_no_pass():
    def unreadable(data, size, rng):
        return [f"{x}{data[0]}" for x in rng.random(size)]  # every output is new, and the last digit leaks all

    result = audit.check_privacy(
        unreadable, PrivacyClaim(1.0), [PAIR], method="sequential", budget=5_000, tolerance=40.0
    )
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "no score that competed sees every difference" in result.reason
