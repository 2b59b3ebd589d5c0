"""Samplers of a released library, enumerated as they are."""

import pytest

import audit

mechanisms = pytest.importorskip("diffprivlib.mechanisms")


def test_the_exponential_mechanism_keeps_its_claim_exactly():
    made = {d: mechanisms.Exponential(epsilon=1.0, sensitivity=1, utility=list(d)) for d in ((0, 1, 2), (1, 0, 1))}
    mechanism = audit.per_call(lambda d: made[d].randomise())
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    result = audit.check_privacy(mechanism, claim, [tuple(made)], method="enumerate")
    assert (str(result.verdict), result.basis) == ("PASS", "proof")
    assert "delta = 0" in result.reason
