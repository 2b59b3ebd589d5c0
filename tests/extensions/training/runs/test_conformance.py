"""Conformance of a recorded run: intervals, reasons, bars of a PASS, records that replay; `test_loops` has the faults.

The null is a run of the claimed mechanism: sums of clipped rows over Poisson batches with independent Gaussian noise. A
FAIL at significance 1e-7 has that probability. Each fault exceeds its test by far: the largest p-value here is 1e-12.
"""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

import audit
from audit import TrainingCheck, TrainingClaim, Verdict
from audit.api import text
from audit.certificate.verify import judge_record, list_problems
from audit.errors import InvalidArgument, InvalidCertificate
from audit.extensions import training
from audit.extensions.training.runs.check import findings
from audit.extensions.training.runs.findings import TESTS
from audit.extensions.training.runs.noise import noise_findings
from audit.records.plain import to_plain
from tests.extensions.training.runs.loops import (
    CLAIM,
    LENIENT,
    NOISE,
    RATE,
    RECORDS,
    ROWS,
    STEPS,
    noise_of,
    poisson,
    recorded,
)
from tests.offenders import refused

STRICT = {"significance": 1e-7, "confirmation": None}


def checked(recorder, **settings):
    return audit.check_training(recorder, recorder.claim, **{**LENIENT, **settings})


def shuffled(rng, step):
    order = np.random.default_rng(step // 10).permutation(RECORDS)
    return order[40 * (step % 10) :][:40]


@pytest.mark.parametrize("level", [1e-7, 0.05])
def test_intervals_are_those_of_the_counts(level):
    """The rate is that of Clopper and Pearson, at the share of one test; batches of one size have none to be told."""
    evidence, result = recorded().evidence(), checked(recorded(), significance=level, confirmation=None)
    included, trials = evidence.batches.included, RECORDS * STEPS
    assert "not checked: whether the gradient of a record depends on the others" in checked(recorded()).reason
    told = {part.quantity: (part.lower, part.upper) for part in result.bounds}
    exact = proportion_confint(included, trials, level / TESTS, method="beta")
    assert told["sampling rate"] == pytest.approx(exact, rel=1e-9)
    assert told["epsilon by the accountant, of the claim"] == (result.evidence.epsilon,) * 2
    claim = TrainingClaim(sampling="fixed", batch=40, noise_multiplier=NOISE, steps=STEPS, clip=1.0, divisor=40.0)
    fixed = checked(recorded(claim=claim, sample=lambda rng, step: rng.choice(RECORDS, 40, replace=False)))
    assert "sampling rate" not in {part.quantity for part in fixed.bounds}


def test_other_kinds_of_sampling():
    told = {"noise_multiplier": NOISE, "steps": STEPS, "clip": 1.0, "divisor": 40.0}
    whole = TrainingClaim(sampling="all", **told)
    assert checked(recorded(claim=whole)).reason.startswith("batches have")
    shuffling = TrainingClaim(sampling="shuffled", batch=40, **told)
    again = checked(recorded(claim=shuffling, sample=lambda rng, step: rng.choice(RECORDS, 40, replace=False)))
    assert "in a second batch of their epoch" in again.reason
    drawn = TrainingClaim(sampling="fixed", batch=40, **told)
    assert "successive batches share 0 records" in checked(recorded(claim=drawn, sample=shuffled)).reason


def test_how_the_size_of_the_noise_is_guessed():
    def scaled(times):
        return checked(recorded(noise=lambda *given: sum(noise_of(*given) for _ in range(times)))).reason

    halved = checked(recorded(noise=lambda rng, step, batch: noise_of(rng, step, batch) / 2))
    assert "as if it were divided by 2" in halved.reason
    assert "epsilon" not in halved.reason.lower()
    assert "as if noise were added 4 times per step" in scaled(4)
    assert "as if noise were added 2 times per step" in scaled(2)
    overflown = replace(recorded().evidence().noise, squares=math.inf)
    assert "the noise multiplier is" in " ".join(found.says for found in noise_findings(CLAIM, overflown))
    fixed = checked(recorded(sample=lambda rng, step: rng.choice(RECORDS, 40, replace=False)))
    assert f"with standard deviation {text.number((RECORDS * RATE * (1 - RATE)) ** 0.5)}" in fixed.reason


def test_what_is_doubtful_is_not_a_pass_and_not_a_fail():
    """Scaling the noise walks the p-value of its size through both levels."""
    verdicts = {}
    for scale in (1.0, 1.035, 1.25):
        recorder = recorded(noise=lambda rng, step, batch, scale=scale: scale * noise_of(rng, step, batch))
        size = next(found.pvalue for found in findings(CLAIM, recorder.evidence()) if found.part == "size of the noise")
        verdicts[scale] = checked(recorder), size
    assert 1e-6 / TESTS < verdicts[1.035][1] < 1e-3 / TESTS
    assert [str(result.verdict) for result, _ in verdicts.values()] == ["PASS", "INCONCLUSIVE", "FAIL"]
    assert verdicts[1.035][0].reason.startswith("refuted, but not for certain: the noise multiplier is")


def test_all_that_an_empty_batch_releases_is_noise():
    recorder = training.Recorder(CLAIM, RECORDS)
    recorder.step([], noisy_sum=np.ones(10))
    assert recorder.evidence().noise.values == 10


def test_nothing_passes_by_default():
    empty = training.Recorder(CLAIM, RECORDS)
    assert checked(empty).reason == "no step was recorded"
    only_sizes, no_noise = training.Recorder(CLAIM, RECORDS), training.Recorder(CLAIM, RECORDS)
    rng = np.random.default_rng(0)
    for step in range(STEPS):
        batch = poisson(rng, step)
        rows = ROWS[batch]
        noisy = rows.sum(axis=0) + noise_of(rng, step, batch)
        only_sizes.step(len(batch), clipped_sum=rows.sum(axis=0), norms=np.ones(len(batch)), released=noisy / 40)
        no_noise.step(batch)
    for recorder, missing in ((only_sizes, "which records are in the batches"), (no_noise, "noise: give `clipped`")):
        result = checked(recorder, unchecked=())
        assert result.verdict is Verdict.INCONCLUSIVE
        assert missing in result.reason
    assert checked(recorded(), unchecked=()).reason.startswith("not refuted, but not resolved: whether the gradient")
    assert checked(recorded(), unchecked="alone").record() == checked(recorded(), unchecked=("alone",)).record()
    short = TrainingClaim(noise_multiplier=NOISE, steps=8, clip=1.0, rate=RATE, divisor=40.0)
    assert "Poisson against fixed size" in checked(recorded(claim=short, steps=8)).reason
    raised = audit.check_training(lambda rng: 1 / 0, CLAIM)
    assert (raised.verdict, raised.reason) == (
        Verdict.INCONCLUSIVE,
        "the training raised ZeroDivisionError: division by zero",
    )


@pytest.mark.false_alarm(1e-7)
def test_numbers_of_16_bits_are_not_compared():
    """Rounding is not a fault: what cannot be compared bars a PASS instead."""
    coarse = recorded(release=lambda noisy, batch: (noisy / 40).astype(np.float16))
    result = checked(coarse, **STRICT)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the part of the noisy sum that the optimizer gets" in result.reason
    assert checked(coarse, **{**STRICT, "unchecked": ("alone", "released", "update")}).verdict is Verdict.PASS


def test_a_certificate_verifies_and_is_replayed(tmp_path):
    loud = recorded(noise=lambda *given: 1.25 * noise_of(*given))
    report = audit.run(
        [
            TrainingCheck(name="right", run=lambda rng: recorded(1), claim=CLAIM, **LENIENT),
            TrainingCheck(name="half", run=loud, claim=CLAIM, **LENIENT),
        ],
        workers=0,
    )
    certificate = json.loads(report.save(tmp_path).read_text())
    assert list_problems(certificate) == []
    right, wrong = certificate["checks"]
    assert (right["verdict"], wrong["verdict"]) == ("PASS", "FAIL")
    assert judge_record(wrong)["reason"] == wrong["reason"]
    wrong["evidence"]["noise"] = right["evidence"]["noise"]
    assert judge_record(wrong)["verdict"] != "FAIL"
    wrong["claim"]["terms"]["claim"]["rate"] = None
    with pytest.raises(InvalidCertificate):
        judge_record(wrong)


test_a_claim_refuses = refused([
    ({"noise_multiplier": 0.0}, "`noise_multiplier` must be"),
    ({"rate": 1.0}, "`rate` must"),
    ({"rate": None}, "sampling='poisson' needs `rate`: the probability"),
    ({"batch": 5}, "leave it out, or use sampling='fixed' or sampling='shuffled'"),
    ({"sampling": "random"}, "`sampling` must be one of"),
    ({"sampling": "all", "rate": None, "truncation": 9}, "`truncation` needs sampling='poisson': give it"),
    ({"steps": 0}, "`steps` must"),
    ({"delta": 0.0}, "`delta` must"),
    ({"source": 3}, "`source` must be text"),
], TrainingClaim, **to_plain(CLAIM))  # fmt: skip


def test_a_claim_of_an_event():
    events = pytest.importorskip("dp_accounting.dp_event")
    noise = events.GaussianDpEvent(1.5)
    told = {"clip": 1.0, "divisor": 40.0}
    sampled = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.1, noise), STEPS)
    assert TrainingClaim.of_event(sampled, **told) == CLAIM
    fixed = TrainingClaim.of_event(events.SampledWithoutReplacementDpEvent(400, 40, noise), **told)
    assert (fixed.sampling, fixed.batch, fixed.steps) == ("fixed", 40, 1)
    assert TrainingClaim.of_event(noise, **told).sampling == "all"
    warm = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.2, events.GaussianDpEvent(2.0)), 3)
    phases = TrainingClaim.of_event(events.ComposedDpEvent([warm, sampled]), **told)
    assert (phases.steps, phases.rate, phases.noise_multiplier) == (3 + STEPS, 0.1, 1.5)
    assert phases.rate_schedule == (0.2,) * 3 + (0.1,) * STEPS
    with pytest.raises(InvalidArgument, match="one kind of sampling"):
        TrainingClaim.of_event(events.ComposedDpEvent([warm, noise]), **told)
    with pytest.raises(InvalidArgument, match="`event` must be Gaussian noise"):
        TrainingClaim.of_event(events.LaplaceDpEvent(1.0), **told)


def test_every_form_of_a_batch_is_thinned_by_a_schedule():
    """Of 20 records at rate 0.2, where the least rate is 0.1, the same coins keep as many in each form."""
    claim = TrainingClaim(**{**to_plain(CLAIM), "rate_schedule": (0.2,) + (0.1,) * (STEPS - 1)})
    kept, mask = set(), np.arange(100) < 20
    for batch in (list(range(20)), tuple(range(20)), np.arange(20), mask, mask.tolist()):
        recorder = training.Recorder(claim, 100)
        recorder.step(batch)
        kept.add(recorder.evidence().batches.sizes)
        with pytest.raises(InvalidArgument, match="`batch` must be indices below 100, a mask of 100 records"):
            recorder.step(np.ones(150, dtype=bool))
    assert kept == {((8, 1),)}


def test_a_recorder_refuses():
    recorder = training.Recorder(CLAIM, 10)
    for batch in ([10], [-1], [0.5], [[1]]):
        with pytest.raises(InvalidArgument, match="`batch` must be indices below 10"):
            recorder.step(np.array(batch))
    with pytest.raises(InvalidArgument, match="one row for each of the 2 records"):
        recorder.step([1, 2], clipped=np.zeros((3, 4)))
    with pytest.raises(InvalidArgument, match="hold finite numbers only"):
        recorder.step([1], clipped=np.zeros((1, 4)), noisy_sum=[0.0, np.nan, 0.0, 0.0])
    with pytest.raises(InvalidArgument, match="as many coordinates as the sum, 4"):
        recorder.step([1], clipped=np.zeros((1, 4)), noisy_sum=np.zeros(5))
    with pytest.raises(InvalidArgument, match="`claim` must be that of the recorder"):
        audit.check_training(recorder, TrainingClaim(**{**to_plain(CLAIM), "steps": 3}))
    with pytest.raises(InvalidArgument, match="`unchecked` must hold only"):
        audit.check_training(recorder, CLAIM, unchecked=("noise",))
    with pytest.raises(InvalidArgument, match="`run` must be a Recorder"):
        audit.check_training(3, CLAIM)
