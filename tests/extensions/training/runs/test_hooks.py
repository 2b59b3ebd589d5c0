"""Hooks: three lines record a loop of Opacus or of jax-privacy, and no hook ends a run.

Torch is not installed where these tests run: `Tensor` and `DPOptimizer` have what the hooks use, in the order in which
Opacus 1.6 calls it. `benchmarks.training.opacus_run` and `jax_run` run the libraries themselves.
The null of the runs that pass is the claimed mechanism, at significance 1e-9.
"""

import copy
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import audit
from audit import Verdict
from audit.errors import InvalidArgument
from audit.extensions.training import Recorder
from audit.extensions.training.jax_privacy import _leaves
from audit.extensions.training.opacus import SingleGradients
from tests.extensions.training.runs.loops import CLAIM, DIMENSION, NOISE, RATE, RECORDS, ROWS, STEPS
from tests.offenders import refused

STRICT = {"significance": 1e-9, "confirmation": None, "tolerance": 0.25, "unchecked": ("alone",)}


class Tensor(np.ndarray):
    """An array with the methods of a tensor that the hooks call."""

    def detach(self):
        return self

    def cpu(self):
        return np.asarray(self)


class SGD:
    """The optimizer inside: gradient descent."""

    def __init__(self, params):
        self.params = params

    def step(self):
        for parameter in self.params:
            parameter.data = parameter.data - 0.1 * parameter.grad


class DPOptimizer:
    """Clip, accumulate, add noise, divide, and step; a fault replaces one method."""

    def __init__(self, params, rng, *, noise=NOISE, bound=1.0, virtual=1):
        self.params, self.max_grad_norm, self.rng, self.noise_multiplier = params, bound, rng, noise
        self.virtual, self.calls, self.original_optimizer = virtual, 0, SGD(params)

    @property
    def grad_samples(self):
        return [parameter.grad_sample for parameter in self.params]

    def factors(self):
        squares = [np.asarray(g**2).sum(axis=tuple(range(1, g.ndim))) for g in self.grad_samples]
        return [np.minimum(1, self.max_grad_norm / (np.sqrt(sum(squares)) + 1e-6))] * len(self.params)

    def clip_and_accumulate(self):
        for parameter, factors in zip(self.params, self.factors(), strict=True):
            part = np.tensordot(factors, np.asarray(parameter.grad_sample), axes=1)
            parameter.summed_grad = part if parameter.summed_grad is None else parameter.summed_grad + part

    def add_noise(self):
        for parameter in self.params:
            noise = self.noise_multiplier * self.max_grad_norm * self.rng.normal(size=parameter.data.shape)
            parameter.grad = parameter.summed_grad + noise

    def scale_grad(self):
        for parameter in self.params:
            parameter.grad = parameter.grad / 40.0

    def after(self):
        """Do nothing."""

    def step(self):
        self.clip_and_accumulate()
        self.calls += 1
        if self.calls % self.virtual:
            return
        self.add_noise()
        self.scale_grad()
        self.original_optimizer.step()
        for parameter in self.params:
            parameter.summed_grad = None
        self.after()


class PerLayer(DPOptimizer):
    """Clip each layer; Opacus states the norms as `max_grad_norms`."""

    max_grad_norms = (0.6, 0.8)

    def factors(self):
        norms = [np.sqrt((np.asarray(g) ** 2).reshape(len(g), -1).sum(axis=1)) for g in self.grad_samples]
        return [np.minimum(1, c / (norm + 1e-6)) for norm, c in zip(norms, (0.6, 0.8), strict=True)]


class Untold(PerLayer):
    max_grad_norms = None


class Adaptive(DPOptimizer):
    """The clipping norm falls, and with it the noise."""

    def after(self):
        self.max_grad_norm *= 0.99


class ForgetsToDivide(DPOptimizer):
    def scale_grad(self):
        """Do nothing."""


class SameNoise(DPOptimizer):
    def add_noise(self):
        self.rng = np.random.default_rng(99)
        super().add_noise()


class RawGradient(DPOptimizer):
    def scale_grad(self):
        super().scale_grad()
        for parameter in self.params:
            parameter.grad = parameter.grad + np.asarray(parameter.grad_sample).mean(axis=0)


class MovesBeside(DPOptimizer):
    def after(self):
        self.params[0].data = self.params[0].data - 0.1


def parameters(*shapes):
    return [SimpleNamespace(data=np.zeros(shape), grad=None, grad_sample=None, summed_grad=None) for shape in shapes]


def trained(optimizer_type=DPOptimizer, *, virtual=1, split=False, rate=RATE, claim=CLAIM, **settings):
    """The record of a run, in three lines: a recorder, `attach`, and the check."""
    rng, noise = np.random.default_rng(5), np.random.default_rng(6)
    params = parameters((4, 5), DIMENSION - 20)
    groups = [params[:1], params[1:]] if split else [params]
    optimizers = [optimizer_type(group, noise, virtual=virtual, **settings) for group in groups]
    recorder = Recorder(claim, RECORDS)
    for optimizer in optimizers:
        recorder.attach(optimizer)
    drawn = (np.flatnonzero(rng.random(RECORDS) < rate) for _ in range(claim.steps))
    for part in recorder.batches(part for chosen in drawn for part in np.array_split(chosen, virtual)):
        gradients = 3 * ROWS[part]
        params[0].grad_sample = gradients[:, :20].reshape(-1, 4, 5).view(Tensor)
        params[1].grad_sample = gradients[:, 20:].view(Tensor)
        for optimizer in optimizers:
            optimizer.step()
    return recorder


@pytest.mark.false_alarm(6e-9)
@pytest.mark.parametrize(
    ("optimizer", "settings"),
    [
        (DPOptimizer, {}),
        (DPOptimizer, {"virtual": 3}),
        (PerLayer, {}),
        (Adaptive, {}),
        (DPOptimizer, {"split": True, "bound": 0.5**0.5, "noise": NOISE * 2**0.5}),
        (DPOptimizer, {"rate": 0.004, "claim": audit.TrainingClaim(
            noise_multiplier=NOISE, steps=900, clip=1.0, rate=0.004, divisor=40.0)}),
    ],
    ids=["flat", "virtual steps", "layers", "adaptive", "two optimizers", "empty batches"],
)  # fmt: skip
def test_a_run_of_opacus_passes(optimizer, settings):
    recorder = trained(optimizer, **settings)
    result = audit.check_training(recorder, recorder.claim, **STRICT)
    assert recorder.steps == recorder.claim.steps
    assert result.verdict is Verdict.PASS, result.reason
    assert result.evidence.contributions.apart < 1e-3


@pytest.mark.parametrize(
    ("optimizer", "settings", "said"),
    [
        (Untold, {}, "the contribution of a record is off"),
        (ForgetsToDivide, {}, "the noisy sum is divided by 1, not by"),
        (SameNoise, {}, "a generator is reused"),
        (RawGradient, {}, "the release is not a multiple of the noisy sum"),
        (DPOptimizer, {"noise": 0.5 * NOISE}, "as if it were divided by 2"),
        (DPOptimizer, {"bound": 2.0}, "longer than the clipping norm 1"),
        (DPOptimizer, {"split": True}, "longer than the clipping norm 1"),
    ],
    ids=["layers, not told", "no division", "same noise", "raw gradient", "half the noise", "bound", "accounted once"],
)
def test_a_fault_in_opacus_is_found(optimizer, settings, said):
    result = audit.check_training(trained(optimizer, **settings), CLAIM, unchecked=("alone",))
    assert result.verdict is Verdict.FAIL
    assert said in result.reason


def test_what_moves_the_parameters_beside_the_optimizer_bars_a_pass():
    result = audit.check_training(trained(MovesBeside), CLAIM, tolerance=0.2, unchecked=("alone",))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert f"something besides the optimizer moved them at {STEPS - 1} steps" in result.reason


def test_a_hook_that_fails_ends_the_record_and_not_the_run():
    class Breaks(DPOptimizer):
        def after(self):
            if self.calls == 30:
                self.max_grad_norm = "one"

        def factors(self):
            bound, self.max_grad_norm = self.max_grad_norm, 1.0
            found = super().factors()
            self.max_grad_norm = bound
            return found

        def add_noise(self):
            bound, self.max_grad_norm = self.max_grad_norm, 1.0
            super().add_noise()
            self.max_grad_norm = bound

    recorder = trained(Breaks)
    result = audit.check_training(recorder, CLAIM, **STRICT)
    assert recorder.steps == 30
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the recorder stopped at step 31, in `clip_and_accumulate` of Breaks: ValueError" in result.reason


def test_batches_are_only_counted_where_nobody_says_which_they_are():
    optimizer = DPOptimizer(parameters(DIMENSION), np.random.default_rng(0))
    recorder = Recorder(CLAIM, RECORDS)
    recorder.attach(optimizer)
    optimizer.params[0].grad_sample = ROWS[:40].view(Tensor)
    optimizer.step()
    assert recorder.evidence().batches.sizes == ((40, 1),)
    assert recorder.evidence().batches.inclusions == ()
    with pytest.raises(InvalidArgument, match="`attach` must come before the first step"):
        recorder.attach(optimizer)


def test_batches_are_followed_where_they_are_drawn():
    """Of a loader: several that are accumulated make one; one that the loop skips as empty is left out."""
    optimizer = DPOptimizer(parameters(DIMENSION), np.random.default_rng(0), virtual=1)
    recorder, loader = Recorder(CLAIM, RECORDS), SimpleNamespace(batch_sampler=[[0, 1], [], [2], [3, 4]])
    recorder.attach(optimizer, data=loader)
    for batch in loader.batch_sampler:
        if batch:
            optimizer.params[0].grad_sample = ROWS[batch].view(Tensor)
            optimizer.step()
    assert len(loader.batch_sampler) == 4
    assert recorder.evidence().batches.inclusions == ((0, RECORDS - 5), (1, 5))
    assert recorder.stopped is None


def record():
    return Recorder(CLAIM, RECORDS)


test_what_cannot_be_followed_is_refused_before_the_first_step = refused([
    (lambda: record().attach(object()), "`optimizer` must be"),
    (lambda: record().privatizer(object()), "`transformation` must be"),
    (lambda: record().attach(DPOptimizer([], None), module=object(), loss=object()), "`module` must be"),
    (lambda: record().attach(DPOptimizer([], None), data=[1, 2]), "`data` must be"),
    (lambda: record().clipped_grad(3.0), "`function` must be"),
    (lambda: record().batches(3), "`batches` must be"),
])  # fmt: skip


def test_an_optimizer_is_followed_once():
    """Two hooks on one module would end the training at its first step."""
    recorder, optimizer = Recorder(CLAIM, RECORDS), DPOptimizer([], None)
    recorder.attach(optimizer)
    with pytest.raises(InvalidArgument, match="`optimizer` is followed already"):
        recorder.attach(optimizer)
    followed = recorder.clipped_grad(lambda weights, X: weights)
    with pytest.raises(InvalidArgument, match="`clipped_grad` is followed already"):
        recorder.clipped_grad(followed)


def test_a_copy_of_a_module_is_not_followed():
    """Models are copied for means of their parameters: the copy keeps the hook, which is the same object."""
    single = object.__new__(SingleGradients)
    single._module = single._run = single
    assert copy.deepcopy(single) is single
    single.recorder, single._is_mine = Recorder(CLAIM, RECORDS), False
    single._note(object(), pytest.fail)


def test_only_calls_that_train_are_followed(monkeypatch):
    single, noted = object.__new__(SingleGradients), []
    single._module, single._is_mine = SimpleNamespace(), False
    single._run = SimpleNamespace(recorder=Recorder(CLAIM, RECORDS), is_looked_at=True)
    for has_grad, trains in product((True, False), repeat=2):
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(is_grad_enabled=lambda has_grad=has_grad: has_grad))
        single._module.training = trains
        single._note(single._module, lambda _, case=(has_grad, trains): noted.append(case))
    assert noted == [(True, True)]


def jax_run(**settings):
    """The record of a run of jax-privacy: a logistic regression on the digits."""
    pytest.importorskip("jax_privacy")
    from benchmarks.training.jax_run import train

    return train(np.random.default_rng(1), **settings)


@pytest.mark.false_alarm(6e-9)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"is_traced": False},
        {"grad": {"microbatch_size": 32}},
        {"grad": {"return_grad_norms": True, "return_values": True}},
        {"grad": {"normalize_by": 90}},
        {"grad": {"rescale_to_unit_norm": True}},
        {"grad": {"normalize_by": 90, "return_values": True, "return_grad_norms": True}},
    ],
    ids=str,
)
def test_a_run_of_jax_privacy_passes(settings):
    recorder = jax_run(**settings)
    result = audit.check_training(recorder, recorder.claim, **{**STRICT, "unchecked": ()})
    assert result.verdict is Verdict.PASS, result.reason
    assert result.evidence.contributions.norms > 8


def test_a_gradient_that_is_called_beside_the_steps_is_no_fault():
    """From there on nobody knows which sum belongs to which noise: that is said, and no size of the noise."""
    recorder = jax_run(is_traced=False, steps=12, fault="twice")
    result = audit.check_training(recorder, recorder.claim)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "and call each of them once a step" in result.reason


def test_faults_under_jit_are_found():
    raw = jax_run(fault="raw")
    assert "the release is not a multiple of the noisy sum" in audit.check_training(raw, raw.claim).reason
    empty = jax_run(steps=3, selection=SimpleNamespace(batch_iterator=lambda records, rng: iter([np.arange(0)] * 3)))
    assert (empty.stopped, empty.evidence().batches.sizes) == (None, ((0, 3),))


def test_steps_that_lack_a_part_are_named():
    jax = pytest.importorskip("jax")
    optax = pytest.importorskip("optax")
    recorder = Recorder(CLAIM, RECORDS)
    moved = recorder.optimizer(optax.sgd(0.1))
    moved.update(jax.numpy.zeros(3), moved.init(None))
    result = audit.check_training(recorder, CLAIM)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "without `clipped_grad`: use the return value of `recorder.clipped_grad(...)`" in result.reason


def test_leaves_keep_their_precision_but_for_numbers_that_numpy_does_not_know():
    numpy = pytest.importorskip("jax.numpy")
    found = _leaves([np.zeros(2), np.zeros(2, np.float32), numpy.zeros(2, numpy.bfloat16)])
    assert [leaf.dtype for leaf in found] == [np.float64, np.float32, np.float32]
