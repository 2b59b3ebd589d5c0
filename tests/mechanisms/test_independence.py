"""Faults of the catalog that reuse noise, which are convicted, and decoys, which are not."""

import pytest

from audit.checks.run import run_check
from audit.evidence.allowance import Allowance
from audit.runner import make_stream
from audit.verdict import Verdict
from mechanisms import independence
from mechanisms.faults import randomness as faults

STRICT = 1e-7  # significance for good mechanisms: the probability of each false alarm


def test_the_catalogue_of_faults_is_convicted():
    """Five faults at significance 1e-6 each; every one wins its comparisons throughout."""
    assert len(faults.CHECKS) == 5
    for fault in faults.CHECKS:
        result = run_check(fault, Allowance(0, STRICT, make_stream(fault, 0)))
        assert result.verdict is fault.expected is Verdict.FAIL, fault.name
        assert "True privacy:" in type(fault.mechanism).__doc__


@pytest.mark.parametrize("decoy", independence.CHECKS, ids=lambda decoy: decoy.name)
@pytest.mark.false_alarm(1e-07)
def test_decoys_and_reference_mechanisms_pass(decoy):
    """Null: independence; false alarm 1e-6 each."""
    assert run_check(decoy, Allowance(0, STRICT, make_stream(decoy, 0))).verdict is decoy.expected is Verdict.PASS
