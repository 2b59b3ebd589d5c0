"""Record a training run: the loop hands over each step, and what a judge needs of it is kept as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from audit.api import Evidence, InvalidArgument, integer, positive
from audit.extensions.training.runs.batches import Batches, BatchEvidence
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.contributions import ContributionEvidence, Contributions, as_vector, is_coarse
from audit.extensions.training.runs.hooks import OpacusHook, OptaxHook
from audit.extensions.training.runs.noise import Noise, NoiseEvidence

RECORDED = "record of one run"
_PROBES = 2  # records of a step whose gradient is computed alone


@dataclass(frozen=True)
class TrainingEvidence(Evidence):
    """The record of one training run, as plain data: all that the verdict is computed from."""

    uses: str = field(default=RECORDED, kw_only=True)
    steps: int = 0
    batches: BatchEvidence = field(default_factory=lambda: BatchEvidence(0))
    contributions: ContributionEvidence = field(default_factory=ContributionEvidence)
    noise: NoiseEvidence = field(default_factory=NoiseEvidence)
    # epsilon after some steps, by the accountant: steps, of the claim, of what was run
    epsilons: tuple[tuple[int, float, float | None], ...] = ()

    @property
    def is_final(self) -> bool:
        """A run that is over cannot be drawn again."""
        return True

    @property
    def is_drawn(self) -> bool:
        """A run has the steps that it has."""
        return False

    @property
    def spends(self) -> tuple[str, ...]:
        return ("laws of the record",)


class Recorder:
    """Record a training run, step by step.

    Parameters
    ----------
    claim : TrainingClaim
        What the accountant is told: noise is kept in its units.
    records : int >= 1
        Records in the training data.
    gradient : callable, optional
        `(parameters, record) -> gradient` of one record alone, before it is clipped. With it, contributions are
        compared with what they should be: a gradient that depends on the other records of its batch is found.
    contribution : callable, optional
        In its place, `(parameters, record) -> vector`, what this record alone contributes after clipping: for clipping
        that is not that of the whole gradient, such as by groups. The clipping norm is tested all the same.
    update : callable, optional
        `(parameters, released) -> parameters`, the step of the optimizer, which may keep a state of its own. The
        parameters of each step are compared with it: weight decay or momentum that depends on data is found.
    probes : int >= 1, default 2
        Records of each step that are compared so.
    seed : int >= 0, default 0
        Chooses these records, and coordinates of the noise.

    Raises
    ------
    InvalidArgument
        For an argument outside its admissible set.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.0, steps=50, clip=1.0, rate=0.1)
    >>> recorder, rng = audit.extensions.training.Recorder(claim, records=500), np.random.default_rng(0)
    >>> for step in range(50):
    ...     batch = np.flatnonzero(rng.random(500) < 0.1)
    ...     clipped = np.full((len(batch), 20), 20**-0.5)
    ...     recorder.step(batch, clipped=clipped, noisy_sum=clipped.sum(axis=0) + rng.normal(size=20))
    >>> recorder.evidence().noise.dimension
    20
    """

    def __init__(
        self,
        claim: TrainingClaim,
        records: int,
        *,
        gradient: Callable[[Any, int], Any] | None = None,
        contribution: Callable[[Any, int], Any] | None = None,
        update: Callable[[Any, Any], Any] | None = None,
        probes: int = _PROBES,
        seed: int = 0,
    ) -> None:
        if not isinstance(claim, TrainingClaim):
            raise InvalidArgument.of("claim", "be a TrainingClaim", claim)
        for name, function in (("gradient", gradient), ("contribution", contribution), ("update", update)):
            if function is not None and not callable(function):
                of = "released" if name == "update" else "record"
                raise InvalidArgument.of(name, f"be callable as (parameters, {of})", function)
        if gradient is not None and contribution is not None:
            raise InvalidArgument("give either `gradient` or `contribution`, not both")
        self.claim, self.records = claim, integer(records, "records", at_least=1)
        if claim.batch is not None and claim.batch > self.records:
            raise InvalidArgument.of("records", f"be at least the {claim.batch} records of a batch", records)
        self._gradient, self._contribution, self._update = gradient, contribution, update
        self._due: tuple[np.ndarray, np.ndarray] | None = None  # parameters of the last step, and those that are due
        self._probes = integer(probes, "probes", at_least=1)
        self._rng = np.random.default_rng(integer(seed, "seed", at_least=0))
        self._batches, self._contributions = Batches(claim, self.records), Contributions(claim)
        self._noise = Noise(claim.steps, self._rng)
        self._whitening = None if claim.strategy is None else claim.strategy.whitening(claim.steps)
        self._past: list[np.ndarray] = []  # noise of the steps, where the claim correlates it
        self.steps = 0

    def step(
        self,
        batch: Any,
        *,
        clipped: Any = None,
        clipped_sum: Any = None,
        norms: Any = None,
        noisy_sum: Any = None,
        released: Any = None,
        parameters: Any = None,
        clip: float | None = None,
    ) -> None:
        """Record one step: what is summed, what is released, and of which records.

        Vectors may be arrays, or lists and dicts of arrays, such as the leaves of a tree of parameters.

        Parameters
        ----------
        batch : array of int, mask of all records, or int
            The records of the step, or only how many they are.
        clipped : array-like, shape (batch, ...), optional
            What each of them contributes to the sum, in the order of `batch`.
        clipped_sum, norms : array-like, optional
            In place of `clipped` where it is too large to hand over: its sum, and the norm of each row. A sum that is
            given beside `clipped` is what the noise was added to.
        noisy_sum : array-like, optional
            The sum with its noise; `released * divisor` unless given.
        released : array-like, optional
            What the optimizer sees: claimed to be `noisy_sum / divisor`. Numbers of 16 bits are not compared.
        parameters : object, optional
            The parameters at which the gradients were taken, for `gradient`, `contribution` and `update`.
        clip : float > 0, optional
            The clipping norm of this step where it adapts, chosen from what was released before: contributions and
            noise are held against it, with the noise multiplier of the claim. The claim's unless given.

        Raises
        ------
        InvalidArgument
            For shapes that do not fit each other, and values that are not finite.
        """
        bound = self.claim.clip if clip is None else positive(clip, "clip")
        unit = self.claim.clip / bound
        size = self._batches.add(batch)
        rows = None if clipped is None else _finite(as_vector(clipped, 2), "clipped")
        if rows is not None and len(rows) != size:
            raise InvalidArgument.of("clipped", f"have one row for each of the {size} records of the batch", rows.shape)
        total = clipped_sum if clipped_sum is not None or rows is None else rows.sum(axis=0)
        shown = None if released is None else _finite(as_vector(released), "released")
        noisy = None if noisy_sum is None else _finite(as_vector(noisy_sum), "noisy_sum")
        if noisy is None and shown is not None:
            noisy = shown * self.claim.divisor
        if noisy is not None and total is not None:
            self._add_noise(noisy * unit, _finite(as_vector(total), "clipped_sum") * unit)
        is_exact = not (is_coarse(noisy_sum) or is_coarse(released))
        if noisy_sum is not None and shown is not None and noisy is not None and is_exact:
            self._contributions.add_released(noisy, shown, size)
        if rows is not None:
            norms = np.linalg.norm(rows, axis=1)
        if norms is not None:
            self._contributions.add_norms(_finite(as_vector(norms), "norms") * unit)
        if (self._gradient or self._contribution) and not isinstance(batch, (int, np.integer)):
            places = np.asarray(batch)
            places = np.flatnonzero(places) if places.dtype == bool else places
            if rows is not None:
                self._compare(places, rows, parameters, bound)
            elif total is not None and self.steps & (self.steps + 1) == 0:  # steps 1, 2, 4, 8, ...
                self._compare_sum(places, as_vector(total), parameters, bound)
        if self._update is not None and parameters is not None:
            self._follow(parameters, released)
        self.steps += 1

    def _add_noise(self, noisy: np.ndarray, total: np.ndarray) -> None:
        if noisy.shape != total.shape:
            raise InvalidArgument.of("noisy_sum", f"have as many coordinates as the sum, {total.size}", noisy.size)
        if self._noise.dimension not in (0, noisy.size):
            raise InvalidArgument.of("noisy_sum", f"keep its {self._noise.dimension} coordinates", noisy.size)
        scale = self.claim.noise_scale
        values = (noisy - total) / scale
        if self._whitening is not None:
            self._past.append(values)
            step = len(self._past) - 1
            if step >= len(self._whitening):
                return  # a step too many, which is a finding of its own
            weights = self._whitening[step, : step + 1]
            values = sum((weights[at] * self._past[at] for at in np.flatnonzero(weights)), np.zeros_like(values))
        self._noise.add(values, total / scale)

    def _alone(self, parameters: Any, record: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of a record alone, and what it should contribute; equal where clipping is not ours."""
        if self._contribution is not None:
            due = as_vector(self._contribution(parameters, record))
            return due, due
        assert self._gradient is not None
        gradient = as_vector(self._gradient(parameters, record))
        norm = float(np.linalg.norm(gradient))
        return gradient, gradient * min(1.0, bound / norm) if norm else gradient

    def _compare(self, places: np.ndarray, rows: np.ndarray, parameters: Any, bound: float) -> None:
        for row in self._rng.permutation(len(rows))[: self._probes]:
            gradient, due = self._alone(parameters, int(places[row]), bound)
            self._contributions.add_alone(rows[row] / bound, due / bound, gradient / bound)

    def _compare_sum(self, places: np.ndarray, total: np.ndarray, parameters: Any, bound: float) -> None:
        """Compare the sum of a batch, where its rows are not known, with that of its records alone."""
        parts = [self._alone(parameters, int(place), bound)[1] for place in places]
        due = np.sum(parts, axis=0) if parts else np.zeros_like(total)
        self._contributions.add_alone(total / bound, due / bound, None, len(parts))

    def _follow(self, parameters: Any, released: Any) -> None:
        """Compare the parameters with those that the optimizer makes of what was released at the last step."""
        assert self._update is not None
        now = as_vector(parameters).copy()
        if self._due is not None:
            self._contributions.add_update(now, *self._due)
        self._due = None if released is None else (now, as_vector(self._update(parameters, released)).copy())

    def attach(self, optimizer: Any, *, batch: Callable[[], Any] | None = None) -> None:
        """Follow an Opacus `DPOptimizer`: each of its steps is recorded, by the per-sample gradients that it has.

        Its sum is compared with that of these gradients, clipped here to `max_grad_norm`. `batch`, if given, returns
        the records of the step as in `step`; only their number is known otherwise.
        """
        OpacusHook(self, optimizer, batch)

    def clipped_grad(self, function: Callable[..., Any], *, batch: Callable[[], Any] | None = None) -> Any:
        """Return what `jax_privacy.clipped_grad` returned, followed by this recorder, to be called outside of jit."""
        return self._hook.clipped_grad(function, batch)

    def privatizer(self, transformation: Any) -> Any:
        """Return the optax transformation that adds noise to the sum, followed by this recorder."""
        return self._hook.privatizer(transformation)

    def optimizer(self, transformation: Any) -> Any:
        """Return the optax transformation that sees what is released, followed by this recorder."""
        return self._hook.optimizer(transformation)

    @cached_property
    def _hook(self) -> OptaxHook:
        return OptaxHook(self)

    def step_of_sum(self, batch: Any, rows: np.ndarray, total: Any, **parts: Any) -> None:
        """Record a step whose sum is known beside the rows that it should be of: it may not be their sum."""
        sums, bound = as_vector(total), self.claim.clip
        self._contributions.add_alone(sums / bound, rows.sum(axis=0) / bound, None, 0)
        self.step(batch, clipped=rows, clipped_sum=sums, **parts)

    def evidence(self) -> TrainingEvidence:
        """Return the record of the run so far, as plain data, without the accountant's epsilons."""
        return TrainingEvidence(
            samples=self.steps,
            steps=self.steps,
            batches=self._batches.evidence(),
            contributions=self._contributions.evidence(),
            noise=self._noise.evidence(self._batches.sizes),
        )


def _finite(values: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise InvalidArgument.of(name, "hold finite numbers only", float(values[~np.isfinite(values)][0]))
    return values
