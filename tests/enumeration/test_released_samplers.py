"""Samplers of a released library, enumerated as they are."""

import pytest

import audit

mechanisms = pytest.importorskip("diffprivlib.mechanisms")


def test_the_exponential_mechanism_keeps_its_claim_exactly():
    made = {d: mechanisms.Exponential(epsilon=1.0, sensitivity=1, utility=list(d)) for d in ((0, 1, 2), (1, 0, 1))}
    mechanism = audit.per_call(lambda d: made[d].randomise())
    result = audit.check_privacy(mechanism, audit.PrivacyClaim(1.0, relation=audit.Local()), [tuple(made)], method="enumerate")
    assert (str(result.verdict), result.basis) == ("PASS", "proved")
    assert result.reason.endswith("delta = 0")
