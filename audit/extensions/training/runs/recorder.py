"""Record a training run: the loop hands over each step, and the data for the judge are kept as plain data."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from audit.api import Evidence, InvalidArgument, validate
from audit.extensions.training.jax_privacy import OptaxRun
from audit.extensions.training.opacus import OpacusRun
from audit.extensions.training.runs.batches import Batches, BatchEvidence
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.contributions import Contributions, as_vector, width_of
from audit.extensions.training.runs.noise import Noise, NoiseEvidence

RECORDED = "record of one run"
_PROBES = 2  # records of a step whose gradient is computed alone
_SAME = 1e-6  # relative difference of two gradients that is rounding
_SINGLE, _DOUBLE = 4, 8  # bytes of a number


@dataclass(frozen=True)
class TrainingEvidence(Evidence):
    """The record of one training run, as plain data: all that the verdict is computed from."""

    uses: str = field(default=RECORDED, kw_only=True)
    steps: int = 0
    batches: BatchEvidence = field(default_factory=lambda: BatchEvidence(0))
    contributions: Contributions = field(default_factory=Contributions)
    noise: NoiseEvidence = field(default_factory=NoiseEvidence)
    epsilon: float | None = None  # of the claim after these steps, by the accountant
    stopped: str = ""  # why the record ends before the run did

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
        The mechanism that the accountant assumes: noise is kept in its units.
    records : int >= 1
        Records in the training data.
    gradient : callable, optional
        `(parameters, record) -> gradient` of one record alone, before it is clipped. With it, contributions are
        compared with their right values: this finds a gradient that depends on the other records of its batch.
    contribution : callable, optional
        In its place, `(parameters, record) -> vector`, the contribution of this record alone after clipping: for
        clipping that is not that of the whole gradient, such as by groups. The clipping norm is tested all the same.
    update : callable, optional
        `(parameters, released) -> parameters`, the step of the optimizer, which may keep a state of its own. The
        parameters of each step are compared with it: this finds weight decay or momentum that depends on data.
    seed : int >= 0, default 0
        Chooses two records of each step that are compared so, and coordinates of the noise.

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
        self.claim, self.records = claim, validate.integer(records, "records", at_least=1)
        if claim.batch is not None and claim.batch > self.records:
            raise InvalidArgument.of("records", f"be at least the {claim.batch} records of a batch", records)
        self._gradient, self._contribution, self._update = gradient, contribution, update
        self._due: tuple[np.ndarray, np.ndarray] | None = None  # parameters of the last step, and those that are due
        self._rng = np.random.default_rng(validate.integer(seed, "seed", at_least=0))
        self._batches, self._contributions = Batches(claim, self.records), Contributions()
        self._noise = Noise(claim.steps, self._rng)
        self._whitening = claim.whitening if claim.strategy else None
        self._past: list[np.ndarray] = []  # noise of the steps, where the claim correlates it
        self.steps = 0
        self.stopped: str | None = None
        self.noted: deque[np.ndarray] = deque()  # records of batches that were drawn, and not yet trained on
        self._opacus = OpacusRun(self)

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
        """Record one step: the sum, the released vector, and their records.

        Vectors may be arrays, or lists and dicts of arrays, such as the leaves of a tree of parameters.

        Parameters
        ----------
        batch : array of int, mask of all records, or int
            The records of the step, or only how many they are.
        clipped : array-like, shape (batch, ...), optional
            Contribution of each of them to the sum, in the order of `batch`.
        clipped_sum, norms : array-like, optional
            In place of `clipped` where it is too large to hand over: its sum, and the norm of each row. A sum that is
            given beside `clipped` is the sum that got the noise.
        noisy_sum : array-like, optional
            The sum with its noise; `released * divisor` unless given.
        released : array-like, optional
            The optimizer's input: claimed to be `noisy_sum / divisor`. Numbers of 16 bits are not compared.
        parameters : object, optional
            The parameters at which the gradients were taken, for `gradient`, `contribution` and `update`.
        clip : float > 0, optional
            The clipping norm of this step where it adapts, chosen from earlier releases: contributions and
            noise are held against it, with the noise multiplier of the claim. The claim's unless given.

        Raises
        ------
        InvalidArgument
            For shapes that do not fit each other, and values that are not finite.
        """
        bound = self.claim.clip if clip is None else validate.positive(clip, "clip")
        unit = self.claim.clip / bound
        batch = self._batches.read(batch)
        size = batch if isinstance(batch, int) else batch.size
        self._batches.add(self._thin(batch))
        shown = None if released is None else _finite(as_vector(released), "released")
        noisy = None if noisy_sum is None else _finite(as_vector(noisy_sum), "noisy_sum")
        if noisy is None and shown is not None:
            noisy = shown * self.claim.divisor
        if not size:  # no records: whatever is given of them has no coordinates
            clipped, norms = None, None
            clipped_sum = np.zeros(0 if noisy is None else noisy.size) if clipped_sum is None else clipped_sum
        rows = None if clipped is None else _finite(as_vector(clipped, 2), "clipped")
        if rows is not None and len(rows) != size:
            raise InvalidArgument.of("clipped", f"have one row for each of the {size} records of the batch", rows.shape)
        total = clipped_sum if clipped_sum is not None or rows is None else rows.sum(axis=0)
        width = min(width_of(clipped), width_of(noisy_sum), width_of(released))
        of_noise = min(width_of(clipped_sum), width_of(released if noisy_sum is None else noisy_sum))
        if noisy is not None and total is not None and of_noise >= _SINGLE:  # rounding to 16 bits is no Gaussian noise
            self._add_noise(noisy * unit, _finite(as_vector(total), "clipped_sum") * unit, width < _DOUBLE)
        if noisy_sum is not None and shown is not None and noisy is not None and width >= _SINGLE:
            self._contributions.add_release(noisy, shown, size)
        if rows is not None:
            norms = np.linalg.norm(rows, axis=1)
        if norms is not None:
            scaled, is_coarse = _finite(as_vector(norms), "norms") * unit, width_of(clipped) < _SINGLE
            self._contributions.add_norms(scaled, self.claim.clip, is_coarse)
        if (self._gradient or self._contribution) and not isinstance(batch, int):
            if rows is not None:
                self._compare(batch, rows, parameters, bound)
            elif total is not None and self.steps & (self.steps + 1) == 0:  # steps 1, 2, 4, 8, ...
                self._compare_sum(batch, as_vector(total), parameters, bound)
        if self._update is not None and parameters is not None:
            self._follow(parameters, released)
        self.steps += 1

    def _thin(self, batch: int | np.ndarray) -> int | np.ndarray:
        """Return a batch; by a schedule, thinned by coins to the least rate of all steps.

        So it is a Poisson batch of that rate if and only if it was one of its own.
        """
        if not self.claim.rate_schedule:
            return batch
        keep = float(self.claim.rate or 0.0) / self.claim.rate_at(self.steps)
        if isinstance(batch, int):
            return int(self._rng.binomial(batch, keep))
        return batch[self._rng.random(batch.size) < keep]

    def _add_noise(self, noisy: np.ndarray, total: np.ndarray, is_coarse: bool = False) -> None:
        if noisy.shape != total.shape:
            raise InvalidArgument.of("noisy_sum", f"have as many coordinates as the sum, {total.size}", noisy.size)
        if self._noise.dimension not in (0, noisy.size):
            raise InvalidArgument.of("noisy_sum", f"keep its {self._noise.dimension} coordinates", noisy.size)
        scale = self.claim.noise_scale_at(self.steps)
        values = (noisy - total) / scale
        if self._whitening is not None:
            self._past.append(values)
            step = len(self._past) - 1
            if step >= len(self._whitening):
                return  # a step too many, which is a finding of its own
            weights = self._whitening[step]
            values = sum((weights[at] * self._past[at] for at in np.flatnonzero(weights)), np.zeros_like(values))
        self._noise.add(values, total / scale, is_coarse)

    def _alone(self, parameters: Any, record: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of a record alone, and its right contribution; equal where clipping is not ours."""
        if self._contribution is not None:
            due = as_vector(self._contribution(parameters, record))
            return due, due
        assert self._gradient is not None
        gradient = as_vector(self._gradient(parameters, record))
        norm = float(np.linalg.norm(gradient))
        return gradient, gradient * min(1.0, bound / norm) if norm else gradient

    def _is_function(self, parameters: Any, record: int, bound: float) -> bool:
        """Return whether the gradient of a record is the same when it is asked for twice; else note it."""
        first, second = (self._alone(parameters, record, bound)[0] for _ in range(2))
        if float(np.linalg.norm(first - second)) <= _SAME * max(bound, float(np.linalg.norm(first))):
            return True
        self._contributions.random += 1
        self._gradient = self._contribution = None
        return False

    def _compare(self, places: np.ndarray, rows: np.ndarray, parameters: Any, bound: float) -> None:
        for row in self._rng.permutation(len(rows))[:_PROBES]:
            record = int(places[row])
            gradient, due = self._alone(parameters, record, bound)
            is_apart = float(np.linalg.norm(rows[row] - due)) > _SAME * bound
            if is_apart and not self._is_function(parameters, record, bound):
                return
            self._contributions.add_alone(rows[row] / bound, due / bound, gradient / bound)

    def _compare_sum(self, places: np.ndarray, total: np.ndarray, parameters: Any, bound: float) -> None:
        """Compare the sum of a batch, where its rows are not known, with that of its records alone."""
        if not places.size or self._is_function(parameters, int(places[0]), bound):
            parts = [self._alone(parameters, int(place), bound)[1] for place in places]
            due = np.sum(parts, axis=0) if parts else np.zeros_like(total)
            self._contributions.add_alone(total / bound, due / bound, None, len(parts))

    def _follow(self, parameters: Any, released: Any) -> None:
        """Compare the parameters with those that the optimizer makes of the last step's released vector."""
        assert self._update is not None
        now = as_vector(parameters).copy()
        if self._due is not None:
            self._contributions.add_update(now, *self._due)
        self._due = None if released is None else (now, as_vector(self._update(parameters, released)).copy())

    def attach(self, optimizer: Any, *, module: Any = None, loss: Any = None, data: Any = None) -> None:
        """Follow an Opacus optimizer: each of its steps is recorded, by the per-sample gradients that it has.

        Call it once for each optimizer whose steps are one release, and before the first step.

        Parameters
        ----------
        optimizer : DPOptimizer
            The optimizer that `PrivacyEngine.make_private` returned, of any of its modes of clipping.
        module, loss : torch.nn.Module, optional
            The module that `make_private` returned, and the criterion that the loop calls: gradients of single records
            are computed again beside other records, with the random numbers of the step.
        data : DataLoader, optional
            The loader that `make_private` returned: the records of each batch are those that its batch sampler draws.
            For another source of batches use `batches`; only the size of a batch is known otherwise.

        Raises
        ------
        InvalidArgument
            For an object that cannot be followed. Nothing is raised later: an error of a hook is noted, the training
            goes on, and the verdict is INCONCLUSIVE.
        """
        if self.steps:
            rule = f"`attach` must come before the first step, not after {self.steps}: type it above the loop"
            raise InvalidArgument(rule)
        if data is not None and not hasattr(data, "batch_sampler"):
            rule = "be the DataLoader that `make_private` returned; for other batches type recorder.batches(...)"
            raise InvalidArgument.of("data", rule, data)
        self._opacus.attach(optimizer, module, loss)
        if data is not None:
            data.__dict__["batch_sampler"] = self.batches(data.batch_sampler)

    def batches(self, batches: Any) -> FollowedBatches:
        """Return an iterable of batches of indices that notes each one: steps are of these records in turn.

        Parameters
        ----------
        batches : iterable of array of int
            Such as a batch sampler of torch, or the `batch_iterator` of a batch selection of jax-privacy.
        """
        if not hasattr(batches, "__iter__"):
            raise InvalidArgument.of("batches", "be an iterable of arrays of indices", batches)
        return FollowedBatches(self, batches)

    def clipped_grad(self, function: Callable[..., Any]) -> Any:
        """Return the function of `jax_privacy.clipped_grad`, followed by this recorder, inside of `jax.jit` or not."""
        return self._optax.clipped_grad(function)

    def privatizer(self, transformation: Any) -> Any:
        """Return the optax transformation that adds noise to the sum, followed by this recorder."""
        return self._optax.privatizer(transformation)

    def optimizer(self, transformation: Any) -> Any:
        """Return the optax transformation that sees the released vectors, followed by this recorder."""
        return self._optax.optimizer(transformation)

    @cached_property
    def _optax(self) -> OptaxRun:
        return OptaxRun(self)

    @contextmanager
    def guard(self, where: str) -> Iterator[None]:
        """Note an error and end the record with it: the training goes on."""
        try:
            yield
        except Exception as error:
            said = f"the recorder stopped at step {self.steps + 1}, in {where}: {type(error).__name__}: {error}"
            self.stopped = self.stopped or said

    def step_of_hooks(self, batch: Any, **parts: Any) -> None:
        """Record a step that hooks have followed; `batch` is its size where nobody returns which records it has."""
        self.step(self._records_of(batch) if isinstance(batch, int) else batch, **parts)

    def _records_of(self, size: int) -> Any:
        """Return the noted records of a batch of some size: of several batches, if they were accumulated."""
        while self.noted and size and not self.noted[0].size:
            self.noted.popleft()  # an empty batch that the loop has skipped
        if not self.noted:
            return size
        taken = [self.noted.popleft()]
        while self.noted and sum(map(len, taken)) < size:
            taken.append(self.noted.popleft())
        found = np.concatenate(taken)
        return found if found.size == size else size  # of a batch that the loop has cut, nobody knows the records

    def evidence(self) -> TrainingEvidence:
        """Return the record of the run so far, as plain data, without the accountant's epsilon."""
        if self.__dict__.get("_optax"):
            self._optax.finish()
            if self._optax.is_apart:
                return TrainingEvidence(samples=self.steps, stopped=self.stopped or "")
        return TrainingEvidence(
            samples=self.steps,
            stopped=self.stopped or "",
            steps=self.steps,
            batches=self._batches.evidence(),
            contributions=replace(self._contributions),
            noise=self._noise.evidence(),
        )


class FollowedBatches:
    """Batches whose records are noted as they are drawn."""

    def __init__(self, recorder: Recorder, batches: Any) -> None:
        self._recorder, self._batches = recorder, batches

    def __iter__(self) -> Iterator[Any]:
        self._recorder.noted.clear()
        for batch in self._batches:
            with self._recorder.guard("the batches"):
                places = np.asarray(batch, dtype=np.int64).ravel()
                self._recorder.noted.append(places[places >= 0])  # jax_privacy pads with -1
            yield batch

    def __len__(self) -> int:
        return len(self._batches)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


def _finite(values: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise InvalidArgument.of(name, "hold finite numbers only", float(values[~np.isfinite(values)][0]))
    return values
