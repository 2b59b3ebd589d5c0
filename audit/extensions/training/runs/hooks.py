"""Hooks by which a recorder follows the loop of a framework: Opacus' optimizer, jax-privacy's gradients, optax.

They rely on the methods and attributes that are named here, and import neither torch nor jax. Each hands one step to
`Recorder.step`, once the optimizer is about to move the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.api import InvalidArgument

Batch = Callable[[], Any]
_OPACUS = ("params", "grad_samples", "max_grad_norm", "clip_and_accumulate", "add_noise", "scale_grad")


def array(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor as an array, from whatever device it is on."""
    for move in ("detach", "cpu"):
        tensor = getattr(tensor, move)() if hasattr(tensor, move) else tensor
    return np.array(tensor)


class OpacusHook:
    """Follow an Opacus `DPOptimizer`: its methods are wrapped on the instance.

    `clip_and_accumulate` reads `grad_samples` and adds to `summed_grad` of each parameter, `add_noise` makes of it the
    `grad`, and `scale_grad` divides that. Several batches may be accumulated before the noise.
    """

    def __init__(self, recorder: Any, optimizer: Any, batch: Batch | None) -> None:
        names = dir(optimizer)  # to read `grad_samples` raises an error before the first gradients
        if missing := [name for name in _OPACUS if name not in names]:
            raise InvalidArgument.of("optimizer", f"be an Opacus DPOptimizer, with `{missing[0]}`", optimizer)
        self._recorder, self._optimizer, self._batch = recorder, optimizer, batch
        self._rows: list[np.ndarray] = []
        self._noisy: list[np.ndarray] = []
        for name, hook in (("clip_and_accumulate", self._clip), ("add_noise", self._add), ("scale_grad", self._scale)):
            setattr(optimizer, name, self._wrapped(getattr(optimizer, name), hook))

    @staticmethod
    def _wrapped(method: Callable[..., Any], hook: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: hook(lambda: method(*given, **named))

    def _clip(self, method: Callable[[], Any]) -> Any:
        parts = [array(part) for part in self._optimizer.grad_samples]
        rows = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1).astype(float)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        bound = float(self._optimizer.max_grad_norm)
        self._rows.append(rows * np.minimum(1.0, bound / np.maximum(norms, 1e-300)))
        return method()

    def _add(self, method: Callable[[], Any]) -> Any:
        self._sums = [array(parameter.summed_grad) for parameter in self._optimizer.params]
        done = method()
        self._noisy = [array(parameter.grad) for parameter in self._optimizer.params]
        return done

    def _scale(self, method: Callable[[], Any]) -> Any:
        done, rows = method(), np.concatenate(self._rows)
        self._rows = []
        released = [array(parameter.grad) for parameter in self._optimizer.params]
        self._recorder.step_of_sum(
            len(rows) if self._batch is None else self._batch(),
            rows,
            self._sums,
            noisy_sum=self._noisy,
            released=released,
            parameters=[array(getattr(parameter, "data", parameter)) for parameter in self._optimizer.params],
        )
        return done


class OptaxHook:
    """Follow clipped gradients, their noise and the optimizer, of jax-privacy and optax, outside of `jax.jit`."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._step: dict[str, Any] = {}
        self._has_optimizer = False

    def clipped_grad(self, function: Callable[..., Any], batch: Batch | None) -> Callable[..., Any]:
        """Return the function that sums clipped gradients, which also tells what each record contributes."""
        from audit.extensions.training.jax_privacy import contributions

        def followed(parameters: Any, *arrays: Any, **named: Any) -> Any:
            total = function(parameters, *arrays, **named)
            padding = named.get("is_padding_example")
            kept = slice(None) if padding is None else ~array(padding)
            rows = contributions(function, parameters, *(np.asarray(part)[kept] for part in arrays))
            self._step = {
                "batch": len(rows) if batch is None else batch(),
                "clipped": rows,
                "total": total,
                "parameters": parameters,
            }
            return total

        return followed

    def privatizer(self, transformation: Any) -> Any:
        """Return the transformation that adds noise to the sum."""

        def update(updates: Any, state: Any, params: Any = None, **named: Any) -> Any:
            noisy, state = transformation.update(updates, state, params, **named)
            self._step["noisy_sum"] = noisy
            if not self._has_optimizer:
                self._finish()
            return noisy, state

        return _transformation(transformation, update)

    def optimizer(self, transformation: Any) -> Any:
        """Return the transformation that sees what is released."""
        self._has_optimizer = True

        def update(updates: Any, state: Any, params: Any = None, **named: Any) -> Any:
            self._finish(released=updates)
            return transformation.update(updates, state, params, **named)

        return _transformation(transformation, update)

    def _finish(self, released: Any = None) -> None:
        if missing := [part for part in ("clipped", "noisy_sum") if part not in self._step]:
            what = {"clipped": "clipped_grad", "noisy_sum": "privatizer"}[missing[0]]
            raise InvalidArgument(f"a step was taken without `{what}`: use what `recorder.{what}(...)` returned")
        step, self._step = self._step, {}
        batch, rows, total = step.pop("batch"), step.pop("clipped"), step.pop("total")
        self._recorder.step_of_sum(batch, rows, _leaves(total), released=_leaves(released), **_with_leaves(step))


def _transformation(transformation: Any, update: Callable[..., Any]) -> Any:
    """Return a transformation of the same type, with another `update`."""
    if not (hasattr(transformation, "init") and hasattr(transformation, "update")):
        raise InvalidArgument.of("transformation", "be one of optax, with `init` and `update`", transformation)
    return type(transformation)(transformation.init, update)


def _leaves(tree: Any) -> Any:
    """Return the leaves of a tree in the order of jax, which sorts the keys of dicts, as float64 on this machine."""
    if isinstance(tree, dict):
        return {key: _leaves(part) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_leaves(part) for part in tree]
    return tree if tree is None else array(tree)


def _with_leaves(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "noisy_sum": _leaves(step["noisy_sum"])}
