"""Follow the loop of Opacus by its optimizers: the vectors that they clip, sum, blur and hand to torch's optimizer.

At a few steps the sum is computed again from the per-sample gradients; at the others it is only copied. Methods are
wrapped on the instances, and torch is imported only once one of them is called. No hook raises while the run goes on:
see `Recorder.guard`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from audit.api import InvalidArgument
from audit.extensions.training.runs.contributions import as_vector

_NEEDED = ("params", "max_grad_norm", "noise_multiplier", "add_noise", "original_optimizer")
_LOOKED_AT_FIRST, _LOOKED_EACH = 3, 8  # steps at which sums and single gradients are computed again
_SAME = 1e-6  # relative difference of clipping norms


def array(tensor: Any) -> np.ndarray:
    """Return a tensor as an array of this machine, without a copy where it need not be one."""
    tensor = tensor.detach().cpu() if hasattr(tensor, "detach") else tensor
    if "bfloat16" in str(tensor.dtype):
        tensor = tensor.float()
    return np.asarray(tensor)


def copies(tensors: Any) -> list[np.ndarray]:
    """Return copies of tensors as arrays."""
    return [np.array(array(tensor)) for tensor in tensors]


class OpacusRun:
    """The optimizers whose steps together are one release."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.optimizers: list[FollowedOptimizer] = []

    def attach(self, optimizer: Any, module: Any, loss: Any) -> None:
        """Follow one more optimizer."""
        if any(optimizer is one.optimizer for one in self.optimizers):
            raise InvalidArgument("`optimizer` is followed already: leave out the second recorder.attach(optimizer)")
        self.optimizers.append(FollowedOptimizer(self, optimizer, module, loss))

    @property
    def is_looked_at(self) -> bool:
        """Whether sums and single gradients are computed again at this step."""
        steps = self.recorder.steps
        return steps < _LOOKED_AT_FIRST or steps % _LOOKED_EACH == 0

    def release(self) -> None:
        """Record the step once all optimizers have taken theirs."""
        if any(one.released is None for one in self.optimizers):
            return
        claim, units = self.recorder.claim, [1.0]
        scales = [one.scale_of_step for one in self.optimizers]
        if len(scales) > 1 and max(scales) > (1 + _SAME) * min(scales):  # in units in which their noise is alike
            units = [claim.noise_scale / scale for scale in scales]
        parts: dict[str, list[Any]] = {"clipped_sum": [], "noisy_sum": [], "released": []}
        squares: Any = 0.0
        for one, unit in zip(self.optimizers, units * (len(scales) // len(units)), strict=True):
            taken, norms = one.take(unit)
            squares = squares + norms**2
            for name, values in taken.items():
                parts[name] += values
        first = self.optimizers[0]
        clip = first.bound_of_step if len(scales) == 1 and first.keeps_claim(claim.clip) else None
        self.recorder.step_of_hooks(len(squares), norms=np.sqrt(squares[squares == squares]), clip=clip, **parts)


class FollowedOptimizer:
    """One optimizer of Opacus, of any of its modes: flat, by layers, adaptive, or ghost clipping."""

    def __init__(self, run: OpacusRun, optimizer: Any, module: Any, loss: Any) -> None:
        names = dir(optimizer)  # to read `grad_samples` raises an error before the first gradients
        if missing := [name for name in _NEEDED if name not in names]:
            raise InvalidArgument.of("optimizer", f"be an Opacus DPOptimizer, with `{missing[0]}`", optimizer)
        self.run, self.optimizer = run, optimizer
        self.is_ghost = "accumulate" in names
        if self.is_ghost and not hasattr(module, "get_norm_sample"):
            rule = "come from `make_private`: ghost clipping has the norms there; type attach(..., module=model)"
            raise InvalidArgument.of("module", rule, module)
        self.single = None if module is None or loss is None else SingleGradients(run, module, loss)
        self._module, self._first = module, self.bound
        self.bound_of_step, self.scale_of_step = self.bound, self.noise_scale
        self._norms: list[np.ndarray] = []
        self._left: bytes | None = None  # digest of the parameters where the last step left them
        self.released: list[np.ndarray] | None = None
        self._wrap(optimizer, "accumulate" if self.is_ghost else "clip_and_accumulate", self._clip, self._compare)
        self._wrap(optimizer, "add_noise", self._sum, self._add)
        self._wrap(optimizer.original_optimizer, "step", self._watch, self._leave)

    def _wrap(self, owner: Any, name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
        method, recorder = getattr(owner, name), self.run.recorder

        def follow(_: Any, *given: Any, **named: Any) -> Any:
            for part in (before, after):
                if recorder.stopped is None:
                    with recorder.guard(f"`{name}` of {type(owner).__name__}"):
                        part()
                if part is before:
                    done = method(*given, **named)
            return done

        setattr(owner, name, MethodType(follow, owner))  # schedulers of torch ask for a method

    @property
    def bound(self) -> float:
        """The clipping norm at present, of all layers together."""
        return float(self.optimizer.max_grad_norm)

    def keeps_claim(self, clip: float) -> bool:
        """Return whether the clipping norm began at the claimed one: from there on it may adapt."""
        return abs(self._first - clip) <= _SAME * clip

    @property
    def noise_scale(self) -> float:
        """The standard deviation that it says its noise has."""
        return float(self.optimizer.noise_multiplier) * self.bound

    def _clip(self) -> None:
        """Look at the gradients before they are clipped."""
        self._note_strays()
        self.bound_of_step, self.scale_of_step = self.bound, self.noise_scale  # which may adapt after the step
        if self.is_ghost:
            norms = array(self._module.per_sample_gradient_norms).astype(float)
            self._norms.append(np.minimum(norms, self.bound))
            self._due, self._row = None, None
            self._before = [None if p.summed_grad is None else np.array(array(p.summed_grad)) for p in self._params]
            return
        samples = self.optimizer.grad_samples
        self._due = self._row = None
        if not self.run.is_looked_at:
            self._norms.append(np.full(len(samples[0]), np.nan))  # only counted
            return
        norms = np.array([_norms(part) for part in samples])
        factors = self._factors(norms)
        self._norms.append(np.sqrt(np.sum((norms * factors) ** 2, axis=0)))
        self._is_coarse = any("16" in str(part.dtype) for part in samples)
        if size := norms.shape[1]:
            arrays = [array(part) for part in samples]
            pairs = zip(factors, arrays, strict=True)  # in their own precision: a copy of all would be as large again
            self._due = [np.tensordot(f.astype(part.dtype), part, axes=1) for f, part in pairs]
            self._before = [None if p.summed_grad is None else np.array(array(p.summed_grad)) for p in self._params]
            if self.single is not None and (place := self.single.place(size)) is not None:
                self._row = place, as_vector([f[place] * part[place] for f, part in zip(factors, arrays, strict=True)])

    def _factors(self, norms: np.ndarray) -> np.ndarray:
        """Return the factors of gradients, from their norms, each of shape (parameters, records)."""
        if (bounds := getattr(self.optimizer, "max_grad_norms", None)) is not None:  # by layers
            return np.minimum(1.0, np.asarray(bounds, dtype=float)[:, None] / (norms + 1e-6))
        whole = np.sqrt(np.sum(norms**2, axis=0))
        return np.broadcast_to(np.minimum(1.0, self.bound / (whole + 1e-6)), norms.shape)

    def _clip_one(self, gradient: list[np.ndarray]) -> np.ndarray:
        factors = self._factors(np.array([[np.linalg.norm(part)] for part in gradient]))
        return as_vector([factor * part for factor, part in zip(factors, gradient, strict=True)])

    def _compare(self) -> None:
        """Compare the sum with the sum that should be, and a contribution with that of the record beside others."""
        contributions, bound = self.run.recorder._contributions, self.bound
        if self.is_ghost:
            if self.single is not None and self.run.is_looked_at and (size := self._norms[-1].size):
                if (alone := self.single.of_each(self._params, size)) is None:
                    contributions.random += 1
                else:
                    due = sum((self._clip_one(gradient) for gradient in alone), np.zeros(1))
                    contributions.add_alone(self._read_sum() / bound, due / bound, None, size)
            return
        if self._due is not None:
            due = as_vector(self._due) / bound
            contributions.add_alone(self._read_sum() / bound, due, None, 0, is_coarse=self._is_coarse)
        if self._row is not None and self.single is not None:
            place, row = self._row
            gradient = self.single.beside_others(self._params, place)
            due, is_coarse = self._clip_one(gradient) / bound, self._is_coarse or self.single.is_coarse
            contributions.add_alone(row / bound, due, as_vector(gradient) / bound, is_coarse=is_coarse)

    def _read_sum(self) -> np.ndarray:
        """Return the vector that the last batch added to the sum."""
        pairs = zip(self._params, self._before, strict=True)
        return as_vector([array(p.summed_grad) - (0 if old is None else old) for p, old in pairs])

    def _sum(self) -> None:
        self._sums = copies(p.summed_grad for p in self._params)
        self._count = float(getattr(self.optimizer, "unclipped_num", 0))

    def _add(self) -> None:
        self._noisy = copies(p.grad for p in self._params)

    def _watch(self) -> None:
        """Read the input of torch's optimizer, after whatever else was registered to change it."""
        if register := getattr(self.optimizer.original_optimizer, "register_step_pre_hook", None):
            guard, where = self.run.recorder.guard, "a hook of the optimizer"

            def read(*_: Any) -> None:
                handle.remove()
                with guard(where):
                    self._read()

            handle = register(read)
        else:
            self._read()

    def _read(self) -> None:
        if self.released is not None:
            raise InvalidArgument("optimizers of one recorder must step in turn: use one recorder for each of them")
        self.released = [array(p.grad) for p in self._params]
        self.run.release()

    def _leave(self) -> None:
        self._left = self._digest()

    def take(self, unit: float) -> tuple[dict[str, list[np.ndarray]], np.ndarray]:
        """Return the sums, with noise and as released, and the norms of the contributions, in some unit."""
        optimizer, claim = self.optimizer, self.run.recorder.claim
        norms, size = np.concatenate(self._norms) if self._norms else np.zeros(0), sum(map(len, self._norms))
        parts = {"clipped_sum": self._sums, "noisy_sum": self._noisy, "released": self.released or []}
        if hasattr(optimizer, "unclipped_num_std"):  # the accountant's multiplier is that of gradients and a count
            multiplier, of_count = float(optimizer.noise_multiplier), float(optimizer.unclipped_num_std)
            unit *= math.sqrt(1 - (multiplier / (2 * of_count)) ** 2)
            counts = np.array([self._count, float(optimizer.unclipped_num)]) - size / 2
            counts *= self.scale_of_step / of_count
            parts = {name: [unit * part for part in arrays] for name, arrays in parts.items()}
            added = (counts[:1], counts[1:], counts[1:] / claim.divisor)
            parts = {name: [*arrays, own] for (name, arrays), own in zip(parts.items(), added, strict=True)}
            norms = np.hypot(unit * norms, self.scale_of_step / of_count / 2)
        elif unit != 1:
            parts = {name: [unit * part for part in arrays] for name, arrays in parts.items()}
            norms = unit * norms
        self._norms, self.released, self._sums, self._noisy = [], None, [], []
        return parts, norms

    @property
    def _params(self) -> list[Any]:
        return list(self.optimizer.params)

    def _digest(self) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        for parameter in self._params:
            digest.update(np.ascontiguousarray(array(getattr(parameter, "data", parameter))).tobytes())
        return digest.digest()

    def _note_strays(self) -> None:
        if self._left is not None:
            self.run.recorder._contributions.add_stray(self._left != self._digest())
            self._left = None


class SingleGradients:
    """Compute gradients of single records again, of the inputs that a module and its loss were called with."""

    def __init__(self, run: OpacusRun, module: Any, loss: Any) -> None:
        self._loss = getattr(loss, "criterion", loss)
        for name, value in (("module", module), ("loss", self._loss)):
            if not hasattr(value, "register_forward_pre_hook"):
                rule = "be the torch.nn.Module that the loop calls, such as torch.nn.CrossEntropyLoss()"
                raise InvalidArgument.of(name, f"{rule}; for a function leave it out, and give `gradient`", value)
        if not hasattr(module, "disable_hooks"):
            raise InvalidArgument.of("module", "be the module that `make_private` returned, not the one inside", module)
        self._run, self._module, self._is_mine = run, module, False
        self._is_random, self._drawn = False, 0
        self._inputs: Any = None
        self._targets: Any = None
        module.register_forward_pre_hook(self._note_call, with_kwargs=True)
        module.register_forward_hook(self._note_return)
        self._loss.register_forward_pre_hook(self._note_loss, with_kwargs=True)

    def __deepcopy__(self, memo: Any) -> SingleGradients:
        return self  # a copy of the module, such as a mean of its parameters, is not followed

    @property
    def is_coarse(self) -> bool:
        """Whether the module computes in numbers of 16 bits."""
        return bool(self._inputs[2][2])

    def _note_call(self, module: Any, given: Any, named: Any) -> None:
        self._note(module, lambda torch: setattr(self, "_inputs", (given, named, _states(torch))))

    def _note_return(self, module: Any, given: Any, output: Any) -> None:
        def note(torch: Any) -> None:
            self._is_random = not torch.equal(self._inputs[2][0], torch.get_rng_state())

        self._note(module, note)

    def _note_loss(self, loss: Any, given: Any, named: Any) -> None:
        self._note(self._module, lambda torch: setattr(self, "_targets", (given, named)))

    def _note(self, module: Any, note: Callable[[Any], None]) -> None:
        recorder = self._run.recorder
        if self._is_mine or module is not self._module or recorder.stopped is not None or not self._run.is_looked_at:
            return
        with recorder.guard("a hook of the module"):
            import torch  # type: ignore[import-not-found,unused-ignore]

            if torch.is_grad_enabled() and self._module.training:
                note(torch)

    def place(self, size: int) -> int | None:
        """Return the place of a record, drawn among those of the last call; None if the loss is not of records."""
        if self._inputs is None or self._targets is None:
            return None
        known = len(self._inputs[0][0])
        if len(self._targets[0][0]) != known or known > size or not known:
            return None
        self._drawn = int(self._run.recorder._rng.integers(known))
        return size - known + self._drawn

    def beside_others(self, parameters: list[Any], place: int) -> list[np.ndarray]:
        """Return the gradient of the drawn record beside copies of it, with the random numbers of the step."""
        return self._gradient(parameters, self._drawn, len(self._inputs[0][0]), self._drawn)

    def of_each(self, parameters: list[Any], size: int) -> Iterator[list[np.ndarray]] | None:
        """Return the gradients of each record alone, one at a time; None where the module draws random numbers."""
        if self._is_random or self.place(size) is None:
            return None
        return (self._gradient(parameters, place, 1, 0) for place in range(size))

    def _gradient(self, parameters: list[Any], record: int, copies_of_it: int, place: int) -> list[np.ndarray]:
        import torch

        given, named, states = self._inputs
        size, (targets, settings) = len(given[0]), self._targets

        def repeat(value: Any, times: int = copies_of_it) -> Any:
            is_batch = hasattr(value, "shape") and len(value.shape) > 0 and len(value) == size
            return value[[record] * times] if is_batch else value

        one = partial(repeat, times=1)
        buffers = [buffer.clone() for buffer in self._module.buffers()]
        self._is_mine = True
        self._module.disable_hooks()
        try:
            with torch.random.fork_rng(), torch.enable_grad(), states[1]():
                torch.set_rng_state(states[0])
                output = self._module(*map(repeat, given), **{key: repeat(part) for key, part in named.items()})
                named_targets = {key: one(part) for key, part in settings.items()}
                value = self._loss(output[place : place + 1], *map(one, targets[1:]), **named_targets)
                found = torch.autograd.grad(value.sum(), parameters, allow_unused=True)
        finally:
            self._module.enable_hooks()
            self._is_mine = False
            for buffer, old in zip(self._module.buffers(), buffers, strict=True):
                buffer.copy_(old)
        pairs = zip(found, parameters, strict=True)
        return [np.zeros(p.shape) if part is None else array(part).astype(float) for part, p in pairs]


def _states(torch: Any) -> tuple[Any, Callable[[], Any], bool]:
    """Return the state of the generator, a context of the present precision, and if it is mixed."""
    is_cast, dtype = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    return torch.get_rng_state(), lambda: torch.autocast("cpu", dtype=dtype, enabled=is_cast), is_cast


def _norms(sample: Any) -> np.ndarray:
    """Return the norms of the gradients of each record."""
    if not len(sample):
        return np.zeros(0)
    flat = sample.reshape(len(sample), -1)
    return np.asarray(array(flat.norm(2, dim=-1)) if hasattr(flat, "norm") else np.linalg.norm(flat, axis=1), float)
