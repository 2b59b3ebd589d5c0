"""A sampler against the privacy losses that it states, where the law of its outputs is not stated."""

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict
from audit.certificate.verify import list_problems
from audit.laws import LaplaceLoss

PAIR = (np.zeros(1), np.ones(1))


class Noisy:
    """Laplace noise that states its losses at scale 1, whatever its scale is."""

    def __init__(self, scale=1.0, likelihood=lambda data, outputs: -abs(outputs - data.sum())):
        self.scale, self.likelihood = scale, likelihood

    def __call__(self, data, size, rng):
        return data.sum() + rng.laplace(scale=self.scale, size=size)

    def privacy_loss(self, left, right):
        return LaplaceLoss(float(abs(left.sum() - right.sum())))

    def log_likelihood(self, data, outputs):
        return self.likelihood(data, np.asarray(outputs))


def audited(mechanism, budget=20_000):
    return audit.check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=budget, workers=0, seed=0)


def test_losses_that_are_as_stated_are_followed():
    """The fit of a right sampler fails with probability 0.05 over seeds, and this one is fixed."""
    result = audited(Noisy())
    (law,) = result.evidence.ways[0].laws
    assert (result.verdict, result.judgment.basis) == (Verdict.PASS, "law")
    assert law.fit_pvalue > 0.05
    assert law.delta_upper_bound >= 0.0
    assert law.epsilon_lower_bound == pytest.approx(1.0)


@pytest.mark.parametrize(
    "mechanism",
    [Noisy(2.0), Noisy(1.5), Noisy(likelihood=lambda data, outputs: np.full(len(outputs), np.nan))],
    ids=["twice the scale", "half more", "no number"],
)
def test_losses_that_are_not_as_stated_disagree_with_the_law(mechanism):
    """More noise than stated keeps the claim, and follows another law."""
    result = audited(mechanism)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the sampler and its stated law disagree" in result.reason
    assert result.evidence.ways[0].laws[0].fit_pvalue < 1e-9


def test_both_datasets_share_the_level_of_a_fit(monkeypatch):
    monkeypatch.setattr("audit.evidence.stated_law._loss_fit", lambda *_, side={"left": 0.1, "right": 0.3}: side[_[-1]])
    assert audited(Noisy()).evidence.ways[0].laws[0].fit_pvalue == pytest.approx(0.2)


def test_a_law_that_few_outputs_were_held_to_passes_nothing():
    few = audited(Noisy(), budget=40)
    assert few.verdict is Verdict.INCONCLUSIVE
    assert "0.25 is due, which takes" in few.reason


class WithoutLikelihood:
    """A stated loss that no output can be tested against."""

    privacy_loss, __call__ = Noisy.privacy_loss, Noisy.__call__
    scale = 1.0


def test_a_loss_that_outputs_cannot_be_tested_against_passes_nothing():
    check = audit.PrivacyCheck(name="loss", mechanism=WithoutLikelihood(), claim=PrivacyClaim(1.0), pairs=[PAIR])
    certificate = audit.run([check], budget=4_000, workers=0).certificate
    assert certificate["verdict"] == "INCONCLUSIVE"
    assert list_problems(certificate) == []


class OneDirection(LaplaceLoss):
    """A loss whose profile, which only a picture needs, cannot be evaluated in each direction."""

    def delta(self, epsilon, direction=None):
        if direction is not None:
            raise ArithmeticError("no such direction")
        return super().delta(epsilon)


def test_a_law_without_a_curve_has_its_verdict_all_the_same(monkeypatch):
    monkeypatch.setattr(Noisy, "privacy_loss", lambda self, left, right: OneDirection(1.0))
    result = audited(Noisy())
    assert result.verdict is Verdict.PASS
    assert result.evidence.ways[0].curve is None


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_losses_that_break_a_claim_name_the_event(delta):
    """The event that breaks the claim most is a loss above epsilon; it breaks it among fresh outputs as well."""
    result = audit.check_privacy(Noisy(), PrivacyClaim(0.8, delta), [PAIR], budget=20_000, workers=0, method="exact")
    assert (result.verdict, result.basis) == (Verdict.FAIL, "law")
    assert result.to_dict()["witness"]["event"].startswith(
        "privacy loss log P(output on left) / P(output on right) > 0.8"
    )
    left, right = (Noisy()(data, 100_000, np.random.default_rng(1)) for data in result.witness.pair)
    assert result.witness.event(left).mean() > np.exp(0.9) * result.witness.event(right).mean() + delta


def test_losses_that_break_a_curve_name_the_pair():
    claim = audit.ZeroConcentratedClaim(0.3)
    result = audit.check_privacy(Noisy(), claim, [PAIR], budget=20_000, workers=0, method="exact")
    assert result.verdict == "FAIL"
    assert "the divergence is" in result.reason
    assert result.witness.text.startswith("any output")
    assert "right = np.array([1.0])" in str(result)
