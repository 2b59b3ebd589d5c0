"""Runs of jax-privacy: what its authors mean passes, and mistakes of a user are convicted by name."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from audit import TrainingCheck, Verdict
from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems

_GROUPS, _RETURNS = "in a step of another group", "a generator is reused"
JAX_RUNS = {  # names of the runs, the right one first, and the reasons of the faulty ones
    ("jitted", "drawn", "fixed as", "unit norm, old", "state"): (
        _RETURNS, "divided by the size", "every batch has 90", "noise multiplier is 0.",
    ),
    ("banded",): (_GROUPS, _GROUPS, "noise multiplier is 0.8", "noise multiplier is 1.", *[_RETURNS] * 2),
    ("buffered",): ("noise multiplier is 0.", "within 20 steps", _RETURNS, "noise multiplier is 0.9"),
}  # fmt: skip


@pytest.mark.false_alarm(1e-8)
@pytest.mark.parametrize("names", JAX_RUNS, ids=lambda names: names[0])
def test_runs_of_jax_privacy(names, tmp_path):
    """The null is a run as its authors mean it. In an interpreter of its own: what imports jax must not be forked."""
    if importlib.util.find_spec("jax_privacy") is None:
        pytest.skip("the extra `jax` is not installed")
    command = [sys.executable, "-m", "benchmarks.training.jax_run", *names, "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[2])
    certificate = load_certificate(tmp_path)
    assert not list_problems(certificate)
    right, *wrong = certificate["checks"]
    evidence = TrainingCheck.evidence_of(right["evidence"])
    strict = TrainingCheck.judge(TrainingCheck.recorded_terms(right), evidence, 1e-8)
    assert strict.verdict is Verdict.PASS, strict.reason
    for check, reason in zip(wrong, JAX_RUNS[names], strict=True):
        assert reason in check["reason"]
    assert {check["verdict"] for check in wrong} == {"FAIL"}
