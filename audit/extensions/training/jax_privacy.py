"""Follow a loop of jax-privacy and optax: its clipped gradients, their noise, and the optimizer; under jit or not.

Callbacks in the traced code report to the recorder; each kind of message comes once a step, and the k-th of all kinds
are step k. jax-privacy clips inside of the function that sums: a record's contribution is its sum with all other
records masked as padding.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from audit.api import InvalidArgument
from audit.extensions.training.runs.contributions import as_vector

_LOOKED_AT_FIRST, _LOOKED_EACH = 3, 8  # steps at which one contribution is computed alone
_LATE = 16  # steps by which the parts of a step may be apart
_SINGLE = 4  # bytes of a number
_STRAYED = 1e-5  # relative difference of parameters that is rounding


class OptaxRun:
    """The functions of one loop, followed."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._tree: Any = None  # the parameters of the step, where it is not traced
        recorder._update = None  # the optimizer is followed as it is
        self._heard: dict[str, deque[dict[str, Any]]] = {"clipped_grad": deque(), "privatizer": deque()}
        self._asked, self._unit, self._released_unit = 0, 1.0, 0.0
        self._due: np.ndarray | None = None  # parameters after the last step
        self._width = 8  # bytes of the narrowest numbers of a sum
        self._returned: list[Any] = []  # functions that report
        self.is_apart = False  # parts of steps are missing, so that the others cannot be matched

    def clipped_grad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that sums clipped gradients, and reports them."""
        self._refuse_twice("clipped_grad", function)
        if not callable(function):
            raise InvalidArgument.of("function", "be that of jax_privacy.clipped_grad", function)
        inner = getattr(function, "__wrapped__", function)
        if bound := float(getattr(inner, "l2_norm_bound", 0.0)):
            self._unit = self._recorder.claim.clip / bound
        has_aux = bool(getattr(inner, "has_aux", False))
        looked_at = import_module("jax").jit(partial(_contributions, function, has_aux))

        def follow(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            with self._recorder.guard("`clipped_grad`"):
                total = result[0] if has_aux else result
                self._tell("clipped_grad", self._gradient_parts(total, looked_at, arguments, named))
            return result

        self._returned.append(follow)
        return follow

    def privatizer(self, transformation: Any) -> Any:
        """Return the transformation that adds noise to the sum."""
        return self._wrap("privatizer", transformation, lambda _, noisy: {"noisy": noisy})

    def optimizer(self, transformation: Any) -> Any:
        """Return the transformation that sees the released vectors."""
        return self._wrap("optimizer", transformation, lambda given, moves: {"released": given, "moves": moves})

    def _wrap(self, kind: str, transformation: Any, parts: Callable[[Any, Any], dict[str, Any]]) -> Any:
        """Return a transformation of the same type that tells parts of what it is given and returns."""
        self._refuse_twice(kind, getattr(transformation, "update", None))
        if not (hasattr(transformation, "init") and hasattr(transformation, "update")):
            raise InvalidArgument.of("transformation", "be one of optax, with `init` and `update`", transformation)
        self._heard.setdefault(kind, deque())

        def update(updates: Any, state: Any, params: Any = None, **named: Any) -> Any:
            found, state = transformation.update(updates, state, params, **named)
            with self._recorder.guard(f"`{kind}`"):
                self._tell(kind, parts(updates, found))
            return found, state

        self._returned.append(update)
        return type(transformation)(transformation.init, update)  # of optax, a named tuple

    def _refuse_twice(self, kind: str, function: Any) -> None:
        if any(function is one for one in self._returned):
            raise InvalidArgument(f"`{kind}` is followed already: leave out the second recorder.{kind}(...)")

    def _gradient_parts(self, total: Any, looked_at: Any, arguments: tuple[Any, ...], named: Any) -> dict[str, Any]:
        """Return the sum, how many records it is of, and at some steps the contribution of one of them, twice."""
        jax: Any = import_module("jax")
        self._width = min(leaf.dtype.itemsize for leaf in jax.tree.leaves(total))
        padding = named.get("is_padding_example")
        leaves = [leaf for leaf in jax.tree.leaves(arguments[1:]) if getattr(leaf, "ndim", 0)]
        size = len(leaves[0] if padding is None else padding)
        padding = jax.numpy.zeros(size, bool) if padding is None else jax.numpy.asarray(padding)
        parts = {"total": total, "size": size - padding.sum(), "parameters": arguments[0]}
        if not size:
            return parts

        def skip(*_: Any) -> tuple[Any, Any]:
            return (jax.tree.map(jax.numpy.zeros_like, total),) * 2

        if _is_traced((total, arguments[0])):
            from jax.experimental import io_callback

            self._recorder._gradient = self._recorder._contribution = None  # asked in a callback, it waits for itself
            seed = io_callback(self._ask, jax.ShapeDtypeStruct((), np.int32))
            return {**parts, "seed": seed, "alone": jax.lax.cond(
                seed >= 0, looked_at, skip, seed, padding, arguments, named
            )}  # fmt: skip
        self._tree, seed = arguments[0], self._ask()
        return parts if seed < 0 else {**parts, "seed": seed, "alone": looked_at(seed, padding, arguments, named)}

    def _ask(self) -> Any:
        """Return a seed by which a record is drawn, or -1 at steps without one."""
        self._asked += 1
        is_looked_at = self._asked <= _LOOKED_AT_FIRST or self._asked % _LOOKED_EACH == 0
        return np.int32(self._asked if is_looked_at else -1)

    def _tell(self, kind: str, parts: dict[str, Any]) -> None:
        """Hand over some parts of a step, from the machine that computes them if they are traced."""
        if _is_traced(parts):
            from jax.experimental import io_callback

            io_callback(partial(self._hear, kind), None, parts)
        else:
            self._hear(kind, parts)

    def _hear(self, kind: str, parts: dict[str, Any]) -> None:
        recorder = self._recorder
        if recorder.stopped is not None:
            return
        with recorder.guard(f"`{kind}`"):
            self._heard[kind].append({name: _leaves(part) for name, part in parts.items()})
            while all(self._heard.values()):
                self._record({key: value for part in self._heard.values() for key, value in part.popleft().items()})
            self._require_all(_LATE)

    def _require_all(self, late: int) -> None:
        if max(map(len, self._heard.values())) > late:
            self.is_apart = True
            kind = next(kind for kind, parts in self._heard.items() if not parts)
            called = f"a step was taken without `{kind}`: use the return value of `recorder.{kind}(...)`"
            raise InvalidArgument(f"{called}, and call each of them once a step")

    def _record(self, parts: dict[str, Any]) -> None:
        recorder, unit, bound = self._recorder, self._unit, self._recorder.claim.clip
        size, norms = int(parts["size"][0]), []
        if "alone" in parts and int(parts["seed"][0]) >= 0 and size:
            half = len(parts["alone"]) // 2
            row, alone = (unit * as_vector(part) for part in (parts["alone"][:half], parts["alone"][half:]))
            recorder._contributions.add_alone(row / bound, alone / bound, None)
            norms = [float(np.linalg.norm(row))]
        noisy = [unit * part for part in parts["noisy"]]
        is_coarse = self._width < _SINGLE  # of 16 bits: neither noise nor release can be compared
        released = None if is_coarse else parts.get("released")
        if released is not None:
            released = [self._released_by(noisy, released) * part for part in released]
        recorder._contributions.add_norms(np.array(norms), bound, is_coarse)
        self._follow(as_vector(parts["parameters"]), parts.get("moves"))
        recorder.step_of_hooks(
            size, clipped_sum=None if is_coarse else [unit * part for part in parts["total"]],
            noisy_sum=None if is_coarse else noisy,
            released=released, parameters=self._tree,
        )  # fmt: skip

    def _released_by(self, noisy: list[np.ndarray], released: list[np.ndarray]) -> float:
        """Return the unit of released vectors: that of the sum, or that of the library's bound, as at the first step.

        A sum that the library divides, or rescales to a bound of 1, is a public multiple of the claimed one.
        """
        if not self._released_unit:
            first, second = as_vector(noisy), as_vector(released)
            factor = float(first @ second) / max(float(second @ second), 1e-300)
            fits = {each: abs(factor / each / self._recorder.claim.divisor - 1) for each in (1.0, self._unit)}
            self._released_unit = min(fits, key=lambda each: fits[each])
        return self._released_unit

    def _follow(self, parameters: np.ndarray, moves: Any) -> None:
        """Note whether parameters are where the optimizer's last step took them."""
        if self._due is not None and self._due.shape == parameters.shape:
            off = float(np.linalg.norm(parameters - self._due))
            self._recorder._contributions.add_stray(off > _STRAYED * float(np.linalg.norm(self._due)))
        self._due = None if moves is None or len(as_vector(moves)) != len(parameters) else parameters + as_vector(moves)

    def finish(self) -> None:
        """Wait for the calls under way, and note parts of steps that were never reported."""
        import_module("jax").effects_barrier()
        with self._recorder.guard("the last step"):
            if self._recorder.stopped is None:
                self._require_all(0)


def _contributions(
    function: Callable[..., Any], has_aux: bool, seed: Any, padding: Any, arguments: tuple[Any, ...], named: Any
) -> tuple[Any, Any]:
    """Return the contribution of a record, drawn by the seed, beside the others, and beside copies of itself."""
    jax: Any = import_module("jax")
    jnp, size = jax.numpy, len(padding)
    drawn = jax.random.uniform(jax.random.PRNGKey(seed), (size,))
    place = jnp.argmax(jnp.where(padding, -1.0, drawn))
    masked = {**named, "is_padding_example": padding | (jnp.arange(size) != place)}

    def repeat(leaf: Any) -> Any:
        is_batch = getattr(leaf, "ndim", 0) and len(leaf) == size and not _is_key(leaf)
        return jnp.broadcast_to(jnp.asarray(leaf)[place], leaf.shape) if is_batch else leaf

    parameters, rest = arguments[0], arguments[1:]
    both = function(*arguments, **masked), function(parameters, *jax.tree.map(repeat, rest), **masked)
    return (both[0][0], both[1][0]) if has_aux else both


def _is_traced(tree: Any) -> bool:
    jax: Any = import_module("jax")
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def _is_key(leaf: Any) -> bool:
    """Return whether an argument is a key of a generator, which belongs to no record."""
    return "key" in str(leaf.dtype) or (str(leaf.dtype) == "uint32" and leaf.shape == (2,))


def _leaves(tree: Any) -> list[np.ndarray]:
    """Return the leaves of a tree as arrays of this machine; keys of a generator tell nothing."""
    import jax

    found = [np.asarray(leaf) for leaf in jax.tree.leaves(tree) if "key" not in str(getattr(leaf, "dtype", ""))]
    return [part.astype(np.float32) if "bfloat16" in str(part.dtype) else part for part in found]
