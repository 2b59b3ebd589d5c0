"""Correct loops are not accused and faulty ones are found, on two small models; and what a recorder compares besides.

The null, for each correct loop, is the claimed mechanism: with significance 1e-7 a FAIL has that probability. The seeds
are fixed; the largest p-value of a fault is 3e-8, which its test was seen to give before it was listed here.
"""

import numpy as np
import pytest

import audit
from audit import Verdict
from audit.errors import InvalidArgument
from audit.extensions import training
from audit.extensions.training.runs.as_run import findings
from benchmarks.training.small_loops import CORRECT, FAULTS, MISSED, MODELS, OPEN, recorded, verdict
from tests.extensions.training.runs.loops import CLAIM, RECORDS, ROWS, noise_of, poisson

STRICT = {"significance": 1e-7, "confirmation": None}
FIRST = {
    "batches cut at 66": "smallest and largest batch",
    "small batches skipped": "smallest and largest batch",
    "noise alternates": "noise of each step",
    "seed of the step": "noise from the step number",
    "four workers share a seed": "noise shared by coordinates",
    "half the sum": "the sum under the noise",
    "uniform noise": "shape of the noise",
    "signs for noise": "shape of the noise",
    "noise is never negative": "mean of the noise",
    "weight decay by data": "update of the parameters",
    "batch centered": "contribution of a record",
}


def test_there_are_as_many_loops_as_the_page_says():
    assert len(CORRECT) >= 25
    assert len(FAULTS) >= 60
    assert len(MODELS) == 2


@pytest.mark.false_alarm(1e-7)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_loop_is_not_accused(name, model):
    result = verdict(model, 7, CORRECT[name], tolerance=0.2, **STRICT)
    assert result.verdict is (Verdict.INCONCLUSIVE if name in OPEN else Verdict.PASS), result.reason


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in MISSED])
def test_a_faulty_loop_is_convicted(name, model):
    recorder = recorded(model, 1, FAULTS[name])
    refuted = [part for part in findings(recorder.claim, recorder.evidence()) if part.pvalue <= 5e-8]
    assert refuted
    assert refuted[0].part == FIRST.get(name, refuted[0].part)


def test_a_run_that_stopped_early_spent_less():
    result = verdict("logistic", 3, CORRECT["stopped early"])
    assert "60 of 100 steps, after which the run stopped" in result.reason
    assert result.epsilon_run < result.epsilon_claimed


def test_a_frozen_coordinate_that_wakes_up_is_found():
    recorder, rng = training.Recorder(CLAIM, RECORDS), np.random.default_rng(0)
    for step in range(40):
        batch = poisson(rng, step)
        rows, noise = ROWS[batch].copy(), noise_of(rng, step, batch)
        rows[:, :5] *= step > 0
        noise[:5] = 0.0  # without noise for good; without a gradient at the first step only
        recorder.step(batch, clipped=rows, noisy_sum=rows.sum(axis=0) + noise)
    assert recorder.evidence().noise.frozen == 5
    refuted = [part.part for part in findings(CLAIM, recorder.evidence()) if part.pvalue == 0]
    assert refuted == ["noise of frozen coordinates"]


def test_sums_without_rows_are_compared_with_records_alone():
    """Ghost clipping hands over sums: one that depends on the batch is found by the gradients of its records."""
    recorder, rng = (
        training.Recorder(CLAIM, RECORDS, gradient=lambda at, record: ROWS[record]),
        np.random.default_rng(0),
    )
    for step in range(3):
        batch = poisson(rng, step)
        total = (ROWS[batch] - 0.1 * ROWS[batch].mean(axis=0)).sum(axis=0)
        recorder.step(batch, clipped_sum=total, norms=np.ones(len(batch)), noisy_sum=total + noise_of(rng, step, batch))
    assert recorder.evidence().contributions.apart > 0.1
    assert recorder.evidence().contributions.alone > len(batch)


def test_gradient_and_contribution_exclude_each_other():
    with pytest.raises(InvalidArgument, match="either `gradient` or `contribution`"):
        training.Recorder(CLAIM, RECORDS, gradient=lambda at, i: ROWS[i], contribution=lambda at, i: ROWS[i])
    with pytest.raises(InvalidArgument, match="`update` must be callable as \\(parameters, released\\)"):
        training.Recorder(CLAIM, RECORDS, update=0.5)
    with pytest.raises(audit.AuditError, match="`clip` must"):
        training.Recorder(CLAIM, RECORDS).step([1], clip=0.0)
