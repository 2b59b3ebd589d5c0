"""Hooks: three lines record a loop of Opacus or of jax-privacy; the optimizers here are small ones with their methods.

Torch is not installed where these tests run: `Tensor` and `DPOptimizer` have what the hook uses, in the order in which
Opacus 1.5 calls it. `benchmarks.training.opacus_run` runs the library itself.
The null of the runs that pass is the claimed mechanism, at significance 1e-7.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

import audit
from audit import Verdict
from audit.errors import InvalidArgument
from audit.extensions.training import Recorder
from tests.extensions.training.runs.loops import CLAIM, DIMENSION, NOISE, RATE, RECORDS, ROWS, STEPS

STRICT = {"significance": 1e-7, "confirmation": None, "tolerance": 0.2, "unchecked": ("alone",)}


class Tensor(np.ndarray):
    """An array with the methods of a tensor that the hook calls."""

    def detach(self):
        return self

    def cpu(self):
        return np.asarray(self)


class Parameter:
    """A parameter with what Opacus adds to it."""

    def __init__(self, data):
        self.data, self.grad, self.grad_sample, self.summed_grad = data, None, None, None


class DPOptimizer:
    """Clip, accumulate, add noise, divide, and step; a fault replaces one method."""

    def __init__(self, params, rng, *, noise=NOISE, bound=1.0, virtual=1):
        self.params, self.max_grad_norm, self.rng, self.noise = params, bound, rng, noise
        self.virtual, self.calls = virtual, 0

    @property
    def grad_samples(self):
        if any(parameter.grad_sample is None for parameter in self.params):
            raise ValueError("Per sample gradient is not initialized")
        return [parameter.grad_sample for parameter in self.params]

    def clip_and_accumulate(self):
        flat = np.hstack([part.reshape(len(part), -1) for part in self.grad_samples])
        factors = np.minimum(1, self.max_grad_norm / (np.linalg.norm(flat, axis=1) + 1e-6))
        for parameter in self.params:
            part = np.tensordot(factors, np.asarray(parameter.grad_sample), axes=1)
            parameter.summed_grad = part if parameter.summed_grad is None else parameter.summed_grad + part

    def add_noise(self):
        for parameter in self.params:
            noise = self.noise * self.rng.normal(size=parameter.data.shape)
            parameter.grad = parameter.summed_grad + noise

    def scale_grad(self):
        for parameter in self.params:
            parameter.grad = parameter.grad / 40.0

    def step(self):
        self.clip_and_accumulate()
        self.calls += 1
        if self.calls % self.virtual:
            return
        self.add_noise()
        self.scale_grad()
        for parameter in self.params:
            parameter.data, parameter.summed_grad = parameter.data - 0.1 * parameter.grad, None


class PerLayer(DPOptimizer):
    def clip_and_accumulate(self):
        for parameter in self.params:
            rows = np.asarray(parameter.grad_sample)
            norms = np.sqrt((rows.reshape(len(rows), -1) ** 2).sum(axis=1))
            parameter.summed_grad = np.tensordot(np.minimum(1, 1 / norms), rows, axes=1)


class ForgetsToDivide(DPOptimizer):
    def scale_grad(self):
        """Do nothing."""


class SameNoise(DPOptimizer):
    def add_noise(self):
        self.rng = np.random.default_rng(99)
        super().add_noise()


def trained(optimizer_type=DPOptimizer, *, virtual=1, **settings):
    """The record of a run, in three lines: a recorder, `attach`, and the check."""
    rng = np.random.default_rng(5)
    params = [Parameter(np.zeros((4, 5))), Parameter(np.zeros(DIMENSION - 20))]
    optimizer = optimizer_type(params, np.random.default_rng(6), virtual=virtual, **settings)
    recorder, seen = Recorder(CLAIM, RECORDS), []
    recorder.attach(optimizer, batch=lambda: np.concatenate(seen))
    for _ in range(STEPS):
        chosen = np.flatnonzero(rng.random(RECORDS) < RATE)
        seen.clear()
        for part in np.array_split(chosen, virtual):
            seen.append(part)
            gradients = 3 * ROWS[part]
            params[0].grad_sample = gradients[:, :20].reshape(-1, 4, 5).view(Tensor)
            params[1].grad_sample = gradients[:, 20:].view(Tensor)
            optimizer.step()
    return recorder


@pytest.mark.false_alarm(2e-7)
@pytest.mark.parametrize("virtual", [1, 3])
def test_a_run_of_opacus_passes(virtual):
    recorder = trained(virtual=virtual)
    assert recorder.steps == STEPS
    result = audit.check_training(recorder, CLAIM, **STRICT)
    assert result.verdict is Verdict.PASS, result.reason


@pytest.mark.parametrize(
    ("optimizer", "settings", "said"),
    [
        (PerLayer, {}, "the contribution of a record is off"),
        (ForgetsToDivide, {}, "the noisy sum is divided by 1, not by"),
        (SameNoise, {}, "a generator is reused"),
        (DPOptimizer, {"noise": 0.5 * NOISE}, "as if it were divided by 2"),
        (DPOptimizer, {"bound": 2.0}, "longer than the clipping norm 1"),
    ],
    ids=["clip by layers", "no division", "same noise", "half the noise", "bound"],
)
def test_a_fault_in_opacus_is_found(optimizer, settings, said):
    result = audit.check_training(trained(optimizer, **settings), CLAIM, unchecked=("alone",))
    assert result.verdict is Verdict.FAIL
    assert said in result.reason


def test_batches_are_only_counted_where_nobody_says_which_they_are():
    optimizer = DPOptimizer([Parameter(np.zeros(DIMENSION))], np.random.default_rng(0))
    recorder = Recorder(CLAIM, RECORDS)
    recorder.attach(optimizer)
    optimizer.params[0].grad_sample = ROWS[:40].view(Tensor)
    optimizer.step()
    assert recorder.evidence().batches.sizes == ((40, 1),)
    assert recorder.evidence().batches.inclusions == ()


class Transformation(NamedTuple):
    """What optax calls a gradient transformation."""

    init: Any
    update: Any


def test_steps_that_lack_a_part_are_named():
    recorder = Recorder(CLAIM, RECORDS)
    moved = recorder.optimizer(Transformation(lambda at: None, lambda updates, state, params=None: (updates, state)))
    with pytest.raises(InvalidArgument, match="without `clipped_grad`: use what"):
        moved.update(np.zeros(3), None)
    for subject, call in (("optimizer", recorder.attach), ("transformation", recorder.privatizer)):
        with pytest.raises(InvalidArgument, match=f"`{subject}` must be"):
            call(object())
