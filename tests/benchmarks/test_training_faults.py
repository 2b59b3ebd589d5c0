"""The scoreboard of DP-SGD's faults: each is convicted by one recorded run; the decoys and the correct loop are not.

The null, for the correct loop and each decoy, is the claimed mechanism: with significance 1e-7 a FAIL has that
probability. The seeds are fixed; the p-values of the faults are below 1e-12.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import audit
from audit import TrainingCheck, Verdict
from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems
from audit.extensions import training
from audit.extensions.training.runs.findings import TESTS
from audit.extensions.training.runs.judge import findings
from benchmarks.training import scoreboard
from benchmarks.training.faults import DECOYS, FAULTS
from benchmarks.training.loop import CANARIES, CLIP, Loop

FIRST = {
    "ShuffledEpochs": "spread of the batch sizes",
    "WrongRate": "sampling rate",
    "SameBatchesEachEpoch": "inclusions of records",
    "BatchNormalization": "contribution of a record",
    "PerLayerClip": "clipping",
    "UnscaledUnderAccumulation": "size of the noise",
    "OneSeedOnAllWorkers": "noise shared by coordinates",
    "GeneratorReused": "noise that returns",
    "LayerWithoutNoise": "coordinates without noise",
    "UniformNoise": "shape of the noise",
    "NoiseByBatchSize": "noise and batch size",
    "DividedByDrawnSize": "divisor",
    "RecordsInTheStepLength": "divisor",
    "OneStepMore": "steps",
}


def recorded(loop_type, model="logistic"):
    loop = loop_type(model, np.arange(0, CANARIES, 2), np.random.default_rng(3))
    recorder = loop.recorder()
    loop.run(recorder)
    return recorder


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_convicted_by_one_run(fault):
    recorder = recorded(fault.loop)
    refuted = [found for found in findings(recorder.claim, recorder.evidence()) if found.pvalue <= 1e-6 / TESTS]
    assert refuted[0].part == FIRST.get(fault.loop.__name__, refuted[0].part)
    assert fault.epsilon > 0


@pytest.mark.false_alarm(1e-7)
@pytest.mark.parametrize("loop", [Loop, *DECOYS], ids=lambda loop: loop.__name__)
def test_what_is_right_passes(loop):
    recorder = recorded(loop, "network")
    result = audit.check_training(recorder, recorder.claim, significance=1e-7, confirmation=None)
    assert result.verdict is Verdict.PASS, result.reason


def test_the_columns_of_the_scoreboard():
    """A loop without clipping shows its canaries in one run; the bound of a correct one is small."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 12
    unclipped = next(fault for fault in FAULTS if fault.name == "no clip")
    assert scoreboard.by_one_run(unclipped.loop)[0] > 3
    assert scoreboard.claimed() == pytest.approx(3.502, abs=0.001)
    gradients = CLIP * np.eye(10)[:3]
    scores = training.AlignmentScores(gradients)
    scores.add(gradients[1] * 2)
    assert scores.values.tolist() == [0.0, 2.0, 0.0]


_GROUPS, _RETURNS = "in a step of another group", "a generator is reused"
JAX_RUNS = {  # by the kind of noise: steps, and what the faults are convicted of
    "independent": (60, ("every batch has 90", "noise multiplier is 0.", _RETURNS, "divided by the size")),
    "banded": (120, (_GROUPS, _GROUPS, "noise multiplier is 0.8", "noise multiplier is 1.", *[_RETURNS] * 2)),
    "buffered": (60, ("noise multiplier is 0.", "within 20 steps", _RETURNS, "noise multiplier is 0.9")),
}


@pytest.mark.slow
@pytest.mark.false_alarm(1e-8)
@pytest.mark.parametrize("kind", JAX_RUNS)
def test_runs_of_jax_privacy(kind, tmp_path):
    """The null is a run as its authors mean it. In an interpreter of its own: what imports jax must not be forked."""
    if importlib.util.find_spec("jax_privacy") is None:
        pytest.skip("the extra `jax` is not installed")
    steps, said = JAX_RUNS[kind]
    command = [sys.executable, "-m", "benchmarks.training.jax_run", kind, "--steps", str(steps), "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[2])
    certificate = load_certificate(tmp_path)
    assert not list_problems(certificate)
    right, *wrong = certificate["checks"]
    evidence = TrainingCheck.evidence_of(right["evidence"])
    strict = TrainingCheck.judge(TrainingCheck.recorded_terms(right), evidence, 1e-8)
    assert strict.verdict is Verdict.PASS, strict.reason
    for check, says in zip(wrong, said, strict=True):
        assert says in check["reason"]
    assert {check["verdict"] for check in wrong} == {"FAIL"}
