"""Compare the contributions of records, and the optimizer's input from the noisy sum, with the claim: without noise.

A contribution is compared with that of the record alone, clipped here, and its norm with the bound. The released vector
is compared with the noisy sum divided by the public number. Rounding is all that is tolerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import text
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.findings import Finding, Missing

ROUNDING = 1e-3  # relative; sums of float32 in other orders differ by less, and epsilon moves by no more than this
COARSE = 2.0**-6  # of numbers of 16 bits, which hold 8 to 11 binary digits

APART = 1e-2  # of two gradients of one record, in clipping norms: products of 10 binary digits differ by less
APART_COARSE = 2.0**-4  # the same of gradients of 16 bits
_STORED = 1e-6  # relative: parameters that are kept in float32
_SAME = 1e-5  # relative difference of divisors that is rounding of float32; one record of 100,000 shows


@dataclass
class Contributions:
    """Evidence of the contributions of records, and of the released vectors, collected step by step."""

    norms: int = 0  # of contributions that were looked at
    largest_norm: float = 0.0
    beyond: int = 0  # norms beyond the bound
    alone: int = 0  # contributions that were compared with that of the record alone
    apart: float = 0.0  # largest distance of the two, in units of the bound
    released: int = 0  # steps at which the released vector was compared with the noisy sum
    divisors: tuple[float, float] = (0.0, 0.0)  # least and largest, of the noisy sum over the released vector
    per_record: tuple[float, float] = (0.0, 0.0)  # the same, over the size of the batch
    residual: float = 0.0  # largest part of a released vector that no divisor explains, relative
    shrunk: float = 0.0  # largest distance where each coordinate of the gradient became smaller, and no other one
    updates: int = 0  # steps whose parameters were compared with those that the optimizer makes
    moved: float = 0.0  # largest difference of the two, in lengths of a step
    followed: int = 0  # steps at which a hook saw where the optimizer left the parameters
    strayed: int = 0  # steps at which they were elsewhere when the next gradients were taken
    random: int = 0  # gradients of a record that differ when they are computed twice
    is_coarse: bool = False  # contributions are numbers of 16 bits

    def add_norms(self, norms: np.ndarray, bound: float, is_coarse: bool = False) -> None:
        """Compare the norms of contributions with the clipping norm."""
        self.is_coarse |= is_coarse
        if norms.size:
            self.norms += norms.size
            self.largest_norm = max(self.largest_norm, float(norms.max()))
            rounding = COARSE if is_coarse else ROUNDING
            self.beyond += int((norms > bound * (1 + rounding)).sum())

    def add_alone(
        self,
        contribution: np.ndarray,
        due: np.ndarray,
        gradient: np.ndarray | None,
        records: int = 1,
        is_coarse: bool = False,
    ) -> None:
        """Compare a contribution with that of the record alone; all in units of the bound.

        Where it is the gradient with smaller coordinates, it is clipped otherwise, and may be so rightly.
        """
        self.alone += records
        apart = float(np.linalg.norm(contribution - due)) * (APART / APART_COARSE if is_coarse else 1.0)
        least = ROUNDING * float(np.abs(due).max(initial=0.0))
        is_shrunk = gradient is not None and bool(
            np.all(contribution * np.sign(gradient) >= -least)
            and np.all(np.abs(contribution) <= np.abs(gradient) * (1 + ROUNDING) + least)
        )
        if is_shrunk:
            self.shrunk = max(self.shrunk, apart)
        else:
            self.apart = max(self.apart, apart)

    def add_stray(self, has_strayed: bool) -> None:
        """Note whether the parameters were elsewhere than the optimizer had left them."""
        self.followed += 1
        self.strayed += has_strayed

    def add_update(self, now: np.ndarray, before: np.ndarray, due: np.ndarray) -> None:
        """Compare parameters with those that are due after a step."""
        self.updates += 1
        step = max(float(np.linalg.norm(due - before)), 1e-300)
        off = float(np.linalg.norm(now - due)) - _STORED * float(np.linalg.norm(due))
        self.moved = max(self.moved, off / step)

    def add_release(self, noisy_sum: np.ndarray, released: np.ndarray, size: int) -> None:
        """Compare the optimizer's input with the noisy sum: the one should be a multiple of the other."""
        squared = float(released @ released)
        factor = float(noisy_sum @ released) / squared if squared else float("inf")
        rest = float(np.linalg.norm(noisy_sum - factor * released)) if squared else float(np.linalg.norm(noisy_sum))
        self.residual = max(self.residual, rest / max(float(np.linalg.norm(noisy_sum)), 1e-300))
        self.divisors = _widen(self.divisors, factor, is_first=not self.released)
        if size:
            self.per_record = _widen(self.per_record, factor / size, is_first=self.per_record == (0.0, 0.0))
        self.released += 1


def _widen(interval: tuple[float, float], value: float, is_first: bool) -> tuple[float, float]:
    return (value, value) if is_first else (min(interval[0], value), max(interval[1], value))


def contribution_findings(claim: TrainingClaim, found: Contributions) -> Iterator[Finding]:
    """Yield where contributions contradict the claim."""
    longer = (
        f"{found.beyond} of {found.norms} contributions are longer than the clipping norm {text.number(claim.clip)}; "
        f"the longest is {text.number(found.largest_norm / claim.clip)} times as long"
    )
    apart = (
        f"the contribution of a record is off by {text.number(found.apart)} clipping norms from its own gradient, "
        "clipped: it depends on the other records of the batch, is clipped otherwise, or `gradient` is another "
        "function than that of the loop"
    )
    moved = (
        f"the parameters are off by {text.number(found.moved)} of a step from the optimizer's result on the released "
        f"vectors: something else moves them"
    )
    parts = ("clipping", found.beyond, longer), ("contribution of a record", found.apart > APART, apart)
    for part, is_off, said in (*parts, ("update of the parameters", found.moved > ROUNDING, moved)):
        if is_off:
            yield Finding(part, 0.0, said)


def release_findings(claim: TrainingClaim, found: Contributions) -> Iterator[Finding]:
    """Yield where the optimizer's input is not the noisy sum divided by the public number."""
    if not found.released:
        return
    if found.residual > ROUNDING:
        said = f"the release is not a multiple of the noisy sum: {text.number(found.residual)} of it is something else"
        yield Finding("released vector", 0.0, said)
        return
    (low, high), (least, most) = found.divisors, found.per_record
    if max(abs(low - claim.divisor), abs(high - claim.divisor)) <= _SAME * claim.divisor:
        return
    if least > 0 and most <= least * (1 + _SAME) and high > low * (1 + _SAME):
        by = (
            "the size of each batch"
            if abs(least - 1) <= _SAME
            else f"{text.number(least)} times the size of each batch"
        )
    else:
        by = text.number(low) if high <= low * (1 + _SAME) else f"{text.number(low)} to {text.number(high)}"
    why = f"the noisy sum is divided by {by}, not by the public number {claim.divisor:.6g}"
    yield Finding("divisor", 0.0, why)


def contribution_gaps(found: Contributions) -> Iterator[Missing]:
    """Yield which facts were not recorded."""
    if not found.norms:
        yield Missing("clipping", "give `clipped`, or `clipped_sum` with `norms`")
    if found.shrunk > APART:
        yield Missing("alone", "gradients are clipped otherwise than as a whole: give `contribution` for `gradient`")
    elif found.random:
        yield Missing("alone", "the gradient of a record is random, as with dropout: hand over its key")
    elif not found.alone:
        yield Missing("alone", "give the recorder `gradient`, and each step its `parameters`")
    if not found.released:
        yield Missing("released", "give `released`, the vector that the optimizer sees, beside `noisy_sum`")
    if found.strayed:
        yield Missing("update", f"something besides the optimizer moved them at {found.strayed} steps: give `update`")
    elif not (found.updates or found.followed):
        yield Missing("update", "give the recorder `update`, and each step its `parameters`")


def as_vector(value: Any, axes: int = 1) -> np.ndarray:
    """Return an array, or all arrays of a nested list or dict, as one vector; with two axes, as one row per record."""
    flat = [np.asarray(part, dtype=float) for part in _leaves(value)]
    joined = [part.reshape(len(part), math.prod(part.shape[1:])) if axes == 2 else part.ravel() for part in flat]
    return np.concatenate(joined, axis=-1) if len(joined) != 1 else joined[0]


def width_of(value: Any) -> int:
    """Return the bytes of the narrowest numbers: the rounding of 2 is beyond the tolerance."""
    return min((getattr(getattr(part, "dtype", None), "itemsize", 8) for part in _leaves(value)), default=8)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)) and any(
        hasattr(part, "shape") or isinstance(part, (list, tuple, dict)) for part in value
    ):
        for part in value:
            yield from _leaves(part)
    else:
        yield value
