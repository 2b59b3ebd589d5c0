"""Samplers of a released library, enumerated as they are: what was found there stays found."""

import pytest

import audit

mechanisms = pytest.importorskip("diffprivlib.mechanisms")


def test_binary_is_randomized_response_up_to_its_roundings():
    binary = mechanisms.Binary(epsilon=1.0, value0="a", value1="b")
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    result = audit.check_privacy(audit.per_call(lambda d: binary.randomise(d)), claim, [("a", "b")], method="enumerate")
    assert (str(result.verdict), result.basis) == ("PASS", "proved")
    assert "delta is at least 4.753e-16" in result.reason
