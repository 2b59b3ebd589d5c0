"""State the mechanism that an accountant assumes of a training run: noise, clipping, sampling and steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from scipy import linalg

from audit.api import InvalidArgument, validate

Sampling = Literal["poisson", "fixed", "shuffled", "all", "separated", "cyclic"]
SPACED = ("separated", "cyclic")  # a record returns after some steps, and noise may be correlated
_WORDS = {
    "poisson": "Poisson sampling at rate {rate:.4g}",
    "fixed": "{batch} records drawn without replacement at each step",
    "shuffled": "batches of {batch} from shuffled epochs",
    "all": "all records at each step",
    "separated": "each record at most once in {separation} steps",
    "cyclic": "Poisson sampling at rate {rate:.4g} from one of {separation} groups in turn",
}
_NEEDED: tuple[tuple[str, tuple[str, ...], str], ...] = (  # by which kinds of sampling, and what it is
    ("rate", ("poisson", "cyclic"), "the probability that a record enters a batch"),
    ("batch", ("fixed", "shuffled"), "the number of records in a batch"),
    ("separation", SPACED, "the least number of steps from one participation of a record to the next, or of groups"),
)


@dataclass(frozen=True, kw_only=True)
class TrainingClaim:
    """The mechanism that an accountant assumes: T noisy sums of clipped gradients over sampled batches.

    At each step a batch is sampled, the gradient of each of its records is clipped to the norm `clip`, and independent
    Gaussian noise of standard deviation `noise_multiplier * clip` is added to every coordinate of their sum. The noisy
    sum, divided by the public number `divisor`, is all that the optimizer sees.

    Parameters
    ----------
    noise_multiplier : float > 0, or one for each step
        Standard deviation of the noise on the sum, in units of `clip`; by a public schedule, that of each step.
    steps : int >= 1
        Noisy sums that are released.
    clip : float > 0
        Bound on the Euclidean norm of the gradient of one record.
    sampling : {"poisson", "fixed", "shuffled", "all", "separated", "cyclic"}
        Each record by a coin of its own; `batch` records without replacement; epochs that are shuffled and cut; no
        sampling; any batches in which a record returns after `separation` steps at the earliest; `separation` groups
        that take turns, from which each record enters by a coin.
    rate : float in (0, 1), or one for each step, optional
        The rate of Poisson sampling, cyclic or not, and of no other. In cyclic sampling, of the records of a group.
    batch : int >= 1, optional
        Records in a batch of fixed size or of a shuffled epoch; only there. The last batch of an epoch may be smaller.
    truncation : int >= 1, optional
        Most records of a Poisson batch, of which random ones stay where it is larger; only with one rate for all steps.
    separation : int >= 1, optional
        The least distance of separated batches, or the number of groups; for no other sampling.
    strategy : sequence of float >= 0, optional
        Of noise that is correlated over the steps, only with a separation: the coefficients of a lower triangular
        Toeplitz matrix C, from the diagonal on, none larger than the one before. C times the noise on the sums is
        independent, with the standard deviation `noise_multiplier * clip * sensitivity`. For cyclic sampling the
        sensitivity is that of one step, and C has at most `separation` bands.
    divisor : float > 0, default 1.0
        Public number by which the noisy sum is divided; for Poisson sampling usually `rate` times a public size.
    delta : float in (0, 1), default 1e-5
        The delta at which epsilons are stated.
    noise_schedule, rate_schedule : tuple of float
        The noise multiplier and the rate of each step where they were given so; the others are then the least ones.
    source : str
        Where the claim is made.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set, and for an event that is not one of DP-SGD.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy, algorithm 1. Chua et al. (2024), How private are
    DP-SGD implementations?: the differences of the kinds of sampling. Kalinin & Lampert (2024), Banded square root
    matrix factorization: the worst steps of a record are the first ones where coefficients fall.

    Examples
    --------
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.1, steps=300, clip=1.0, rate=0.05, divisor=64)
    >>> print(claim.summary)
    Poisson sampling at rate 0.05, clip 1, noise multiplier 1.1, 300 steps
    """

    noise_multiplier: Any
    steps: int
    clip: float
    sampling: Sampling = "poisson"
    rate: Any | None = None
    batch: int | None = None
    truncation: int | None = None
    separation: int | None = None
    strategy: tuple[float, ...] = ()
    divisor: float = 1.0
    delta: float = 1e-5
    noise_schedule: tuple[float, ...] = ()
    rate_schedule: tuple[float, ...] = ()
    source: str = field(default="", metadata={"recorded": False})  # beside the terms of a record

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", validate.integer(self.steps, "steps", at_least=1))
        for name, schedule in (("noise_multiplier", "noise_schedule"), ("rate", "rate_schedule")):
            self._read_schedule(name, schedule)
        for name in ("noise_multiplier", "clip", "divisor"):
            object.__setattr__(self, name, validate.positive(getattr(self, name), name))
        object.__setattr__(self, "delta", validate.open_probability(self.delta, "delta"))
        if self.sampling not in get_args(Sampling):
            raise InvalidArgument.of("sampling", f"be one of {', '.join(get_args(Sampling))}", self.sampling)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)
        for name, kinds, meaning in _NEEDED:
            if getattr(self, name) is None and self.sampling in kinds:
                raise InvalidArgument(f"sampling={self.sampling!r} needs `{name}`: {meaning}")
            if getattr(self, name) is not None and self.sampling not in kinds:
                others = " or ".join(f"sampling={kind!r}" for kind in kinds)
                raise InvalidArgument(f"sampling={self.sampling!r} takes no `{name}`: leave it out, or use {others}")
        if self.rate is not None:
            object.__setattr__(self, "rate", validate.open_probability(self.rate, "rate"))
        for name in ("batch", "truncation", "separation"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, validate.integer(value, name, at_least=1))
        self._read_strategy()
        for name, kinds in {"strategy": SPACED, "truncation": ("poisson",)}.items():
            if getattr(self, name) not in (None, ()) and self.sampling not in kinds:
                raise InvalidArgument(f"`{name}` needs sampling={kinds[0]!r}: give it, or leave `{name}` out")
        if self.truncation is not None and self.rate_schedule:
            raise InvalidArgument("`truncation` needs one rate for all steps: type rate=0.01, for example")
        if self.sampling == "cyclic" and (bands := np.count_nonzero(self.strategy)) > (self.separation or 1):
            rule = f"have at most {self.separation} bands for cyclic sampling from as many groups"
            raise InvalidArgument.of("strategy", rule, bands)

    def _read_strategy(self) -> None:
        found = np.array(self.strategy, dtype=float).ravel()
        is_falling = not found.size or (found[0] > 0 and found[-1] >= 0 and bool((np.diff(found) <= 0).all()))
        if not is_falling or not np.isfinite(found).all():
            rule = "hold coefficients of a Toeplitz matrix, from the diagonal on: the first above 0, none rising"
            raise InvalidArgument.of("strategy", rule, self.strategy, "type strategy=(1.0, 0.5, 0.375)")
        object.__setattr__(self, "strategy", tuple(found[: self.steps].tolist()))

    def _read_schedule(self, name: str, schedule: str) -> None:
        given = getattr(self, name) if np.ndim(getattr(self, name)) else getattr(self, schedule)
        values = tuple(validate.positive(each, name) for each in given)
        if values and len(values) != self.steps:
            raise InvalidArgument.of(name, f"be one number, or one for each of the {self.steps} steps", len(values))
        if values and self.sampling not in ("poisson", "all", "fixed"):
            raise InvalidArgument(
                f"a schedule of `{name}` needs one kind of step: give sampling='poisson', for example"
            )
        object.__setattr__(self, schedule, values)
        if values:
            object.__setattr__(self, name, min(values))

    @classmethod
    def of_event(
        cls, event: Any, *, clip: float, divisor: float = 1.0, delta: float = 1e-5, source: str = ""
    ) -> TrainingClaim:
        """Return the claim of a `dp_accounting.DpEvent`: Gaussian noise, sampled or not, composed in phases or not.

        Parameters
        ----------
        event : dp_accounting.DpEvent
            `SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise_multiplier)), steps)`, or with
            `SampledWithoutReplacementDpEvent(records, batch, ...)`, without sampling, or a
            `TruncatedSubsampledGaussianDpEvent`; a `ComposedDpEvent` of such phases is a schedule.
        clip, divisor, delta, source
            As for the class: an event does not say them.
        """
        phases = list(_phases(event))
        kinds = [(*sorted(settings), settings.get("truncation")) for settings, *_ in phases]
        if len({*kinds}) != 1 or any(settings != phases[0][0] for settings, *_ in phases if "rate" not in settings):
            raise InvalidArgument.of("event", "have steps of one kind of sampling", event)
        settings = phases[0][0] | {"clip": clip, "divisor": divisor, "delta": delta, "source": source}
        noises = [noise for _, noise, count in phases for _ in range(count)]
        settings["noise_multiplier"] = noises[0] if len({*noises}) == 1 else noises
        rates = [kind["rate"] for kind, _, count in phases if "rate" in kind for _ in range(count)]
        if rates:
            settings["rate"] = rates[0] if len({*rates}) == 1 else rates
        return cls(steps=sum(count for *_, count in phases), **settings)

    @property
    def summary(self) -> str:
        """The claim in a few words."""
        sampled = _WORDS[self.sampling].format(rate=self.rate, batch=self.batch, separation=self.separation)
        sampled += "" if self.truncation is None else f", truncated to {self.truncation}"
        noise = f", noise correlated in {np.count_nonzero(self.strategy)} bands" if self.strategy else ""
        steps = f"{self.steps} step{'s' if self.steps > 1 else ''}"
        steps += ", by a schedule" if self.noise_schedule or self.rate_schedule else ""
        return f"{sampled}, clip {self.clip:.4g}, noise multiplier {self.noise_multiplier:.4g}{noise}, {steps}"

    def __str__(self) -> str:
        return f"each step releases the sum of clipped gradients with Gaussian noise, divided by {self.divisor:.6g}"

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise on each coordinate of the sum, whitened where it is correlated."""
        return self.noise_multiplier * self.clip * self.sensitivity

    def noise_scale_at(self, step: int) -> float:
        """Return the standard deviation of the noise of one step."""
        factor = self.noise_schedule[step] / self.noise_multiplier if step < len(self.noise_schedule) else 1.0
        return self.noise_scale * factor

    def rate_at(self, step: int) -> float:
        """Return the rate of Poisson sampling at one step."""
        return float(self.rate_schedule[step] if step < len(self.rate_schedule) else self.rate or 0.0)

    @cached_property
    def sensitivity(self) -> float:
        """By how many clipping norms one record moves the whitened sums of all its steps together.

        Where records are sampled step by step, of one step alone: 1.0 unless the noise is correlated.
        """
        if self.sampling not in SPACED:
            return 1.0
        turns = slice(0, 1 if self.sampling == "cyclic" else None, self.separation)
        return float(np.linalg.norm(self.whitening[:, turns].sum(axis=1)))

    @property
    def whitening(self) -> np.ndarray:
        """The lower triangular matrix that makes the noise of the steps independent, shape (steps, steps)."""
        return linalg.toeplitz(np.r_[self.strategy or (1.0,), np.zeros(self.steps)][: self.steps], np.zeros(self.steps))

    def rate_among(self, records: int) -> float:
        """Return the probability that a record is in the batch of a step, for a number of records."""
        if self.sampling in ("all", "separated"):
            return 1.0
        return min(1.0, self.rate or (self.batch or 0) / max(1, records))


def _phases(event: Any) -> Iterator[tuple[dict[str, Any], float, int]]:
    """Yield the sampling, the noise multiplier and the number of successive steps of the phases of an event."""
    from dp_accounting import dp_event as events

    from audit.extensions.training.accountants.dp_events import list_releases

    for inner, times in list_releases(event):
        settings = dict[str, Any](sampling="all")
        if isinstance(inner, events.TruncatedSubsampledGaussianDpEvent):
            settings = {"rate": inner.sampling_probability, "truncation": inner.truncated_batch_size}
            inner = events.GaussianDpEvent(inner.noise_multiplier)
        if isinstance(inner, events.PoissonSampledDpEvent):
            settings, inner = {"rate": inner.sampling_probability}, inner.event
        elif isinstance(inner, events.SampledWithoutReplacementDpEvent):
            settings, inner = {"sampling": "fixed", "batch": inner.sample_size}, inner.event
        if not isinstance(inner, events.GaussianDpEvent):
            raise InvalidArgument.of("event", "be Gaussian noise, at most sampled and then composed", event)
        yield settings, inner.noise_multiplier, times
