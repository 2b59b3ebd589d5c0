"""Bracket the true epsilon of the releases of a training run, from both sides, to hold accountants to it.

`epsilon_bracket` takes an event of dp_accounting and a relation, or an event of this module that dp_accounting has
no word for: epochs of shuffled batches. A lower bound is the loss of one pair of datasets,
so that an accountant that says less is wrong. An upper bound holds for every pair.

* Noise without sampling: exact losses, from `audit.extensions.training.accountants.dp_events`.
* Poisson-sampled Gaussian noise, add/remove: the worst pair is known in both directions (Zhu, Dong & Wang 2022, theorem
  11), and its privacy loss is rounded down and up on a lattice, which dp_accounting convolves.
* Balls in bins: `audit.extensions.training.accountants.bins`.
* Zero-concentrated privacy: from below that of the Gaussian mechanism that has it, from above that of all that have it.
* The rest: from above dp_accounting's own accountants, or that no sampling can hurt; from below the probabilities of
  events "the largest of all steps is at least C" and of half-spaces under one pair (Chua et al. 2024, How private are
  DP-SGD implementations?, theorem 4.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from dp_accounting import dp_event as events
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as distributions
from dp_accounting.pld.pld_pmf import DensePLDPmf
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from scipy import special

from audit.api import (
    AddRemove,
    GaussianLoss,
    InvalidArgument,
    Substitution,
    ZeroConcentratedClaim,
    ZeroOut,
    integer,
    largest_refuted,
    open_probability,
    positive,
)
from audit.extensions.training.accountants.bins import BallsInBins, best_event, bins_bracket
from audit.extensions.training.accountants.dp_events import event_loss

_CELLS = 1e-2  # loss by which all steps together may be rounded, on either side
_FINEST, _COARSEST = 1e-6, 1e-4  # step of the lattice
_REACH = 9.0  # standard deviations of the noise, beyond which losses are not told apart
_SEARCHED = 1e-8  # relative and absolute error of an epsilon that is searched
_ROUNDING = 1e-10  # of a delta, in the Fourier transforms of a distribution
_THRESHOLDS = 4_000  # events that are tried
_BELOW, _ABOVE = -8, 12  # standard deviations of the noise, from the first event to the last
_KNOWN: dict[str, tuple[float, float]] = {}  # brackets, which take up to seconds each
_MOST_KNOWN = 1_000


@dataclass(frozen=True)
class ShuffledEpochs:
    """Epochs of Gaussian sums over batches of shuffled records: every record is in one batch of each epoch.

    Parameters
    ----------
    noise_multiplier : float > 0
    steps : int >= 1
        Batches of an epoch.
    epochs : int >= 1, default 1
    """

    noise_multiplier: float
    steps: int
    epochs: int = 1

    def __post_init__(self) -> None:
        positive(self.noise_multiplier, "noise_multiplier")
        for name in ("steps", "epochs"):
            integer(getattr(self, name), name, at_least=1)


def usual_events() -> list[Any]:
    """Return events for accountants of training, small and large, so that nobody need choose: Gaussian noise.

    One release; many; and Poisson sampling with rates from 0.001 to 0.5, few steps or many, much noise or little.
    """
    one, many = events.GaussianDpEvent(1.0), events.SelfComposedDpEvent(events.GaussianDpEvent(10.0), 100)
    sampled = ((1.0, 0.01, 1_000), (0.7, 0.001, 1_000), (2.0, 0.1, 100), (0.8, 0.5, 10))
    return [one, many] + [
        events.SelfComposedDpEvent(events.PoissonSampledDpEvent(rate, events.GaussianDpEvent(noise)), steps)
        for noise, rate, steps in sampled
    ]


def epsilon_bracket(event: Any, delta: float, relation: Any = None) -> tuple[float, float]:
    """Return bounds of the smallest epsilon at which an event is (epsilon, delta)-differentially private.

    Parameters
    ----------
    event : dp_accounting.DpEvent, ShuffledEpochs or BallsInBins
    delta : float in (0, 1)
    relation : relation, default AddRemove()
        ZeroOut() for shuffled epochs, where a record is blanked; Substitution() for batches of a fixed size; both
        default to these. Balls in bins take AddRemove() and ZeroOut(), which are the same there.

    Returns
    -------
    tuple of two floats
        The epsilon of one pair of datasets, and one that suffices for all.

    Raises
    ------
    InvalidArgument
        If nothing is known of the event under the relation.

    References
    ----------
    Chua et al. (2024), How private are DP-SGD implementations? Zhu, Dong & Wang (2022), Optimal accounting of
    differential privacy via characteristic function.

    Examples
    --------
    >>> from audit.extensions.training.accountants.brackets import ShuffledEpochs, epsilon_bracket
    >>> lower, upper = epsilon_bracket(ShuffledEpochs(0.7, steps=1_000), 1e-5)
    >>> round(lower, 2), round(upper, 2)
    (6.53, 6.65)
    """
    level = open_probability(delta, "delta")
    key = repr((event, level, relation))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _bracket(event, level, relation)
    return _KNOWN[key]


def _bracket(event: Any, level: float, relation: Any) -> tuple[float, float]:
    if isinstance(event, events.RepeatAndSelectDpEvent):
        _require(relation, AddRemove)
        return _best_of_runs(event, level)
    if isinstance(event, BallsInBins):
        _require(relation, AddRemove, ZeroOut)
        return bins_bracket(event, level)
    if isinstance(event, ShuffledEpochs):
        _require(relation, ZeroOut)
        return _shuffled(event, level)
    step, count = event, 1
    while isinstance(step, events.SelfComposedDpEvent):
        step, count = step.event, count * step.count
    if isinstance(step, events.SingleEpochTreeAggregationDpEvent):
        _require(relation, ZeroOut)  # of a record that is left out, all later ones move
        depth = int(np.max(step.step_counts)).bit_length()  # a record is in one tree, in a node of each level
        tree = GaussianLoss(math.sqrt(count * depth) / step.noise_multiplier)
        return tree.epsilon_lower_bound(level), tree.epsilon(level)
    if isinstance(step, events.ZCDpEvent) and not step.xi:
        rho = count * step.rho
        upper = largest_refuted(lambda epsilon: ZeroConcentratedClaim(rho).profile(epsilon) > level)
        return GaussianLoss(math.sqrt(2 * rho)).epsilon_lower_bound(level), upper * (1 + _SEARCHED) + _SEARCHED
    if isinstance(step, events.TruncatedSubsampledGaussianDpEvent):
        _require(relation, AddRemove)
        lower = _rounded_down([(step.noise_multiplier, _rate_of_truncated(step), count)], level)
        return max(0.0, lower), float(PLDAccountant().compose(event).get_epsilon(level))
    if isinstance(step, events.SampledWithoutReplacementDpEvent) and isinstance(step.event, events.GaussianDpEvent):
        _require(relation, Substitution)
        rate = step.sample_size / step.source_dataset_size
        accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(event)
        return _largest_step(step.event.noise_multiplier, rate, count, level), float(accountant.get_epsilon(level))
    neighbors = AddRemove() if relation is None else relation
    if (sampled := _poisson_parts(event)) is not None:
        return _poisson(sampled, level, neighbors)
    loss = event_loss(event, neighbors)
    return loss.epsilon_lower_bound(level), loss.epsilon(level)


def _require(relation: Any, *kinds: type) -> None:
    if relation is not None and not isinstance(relation, kinds):
        named = " or ".join(f"{kind.__name__}()" for kind in kinds)
        raise InvalidArgument.of("relation", f"be {named} for this event, or left out", relation)


def _poisson_parts(event: Any) -> list[tuple[float, float, int]] | None:
    """Return (noise multiplier, rate, count) of an event that is made of Poisson-sampled Gaussian noise, else None."""
    if isinstance(event, events.SelfComposedDpEvent):
        inner = _poisson_parts(event.event)
        return inner and [(noise, rate, count * event.count) for noise, rate, count in inner]
    if isinstance(event, events.ComposedDpEvent):
        parts = [_poisson_parts(inner) for inner in event.events]
        return None if None in parts else [part for inner in parts for part in inner or []]
    if isinstance(event, events.PoissonSampledDpEvent) and isinstance(event.event, events.GaussianDpEvent):
        return [(event.event.noise_multiplier, event.sampling_probability, 1)]
    return None


def _rate_of_truncated(event: events.TruncatedSubsampledGaussianDpEvent) -> float:
    """Return the probability that a record is in a truncated batch: beside records of zeros, nothing else shows."""
    others = np.arange(event.dataset_size)
    chances = np.exp(_log_binomial(others, event.dataset_size - 1, event.sampling_probability))
    kept = np.minimum(1.0, event.truncated_batch_size / (others + 1))
    return float(event.sampling_probability * (chances @ kept))


def _poisson(parts: list[tuple[float, float, int]], delta: float, relation: Any) -> tuple[float, float]:
    if isinstance(relation, Substitution):  # one record is +1 or -1
        lower = max(_largest_step(noise, rate, count, delta) for noise, rate, count in parts)
        accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE)
        for noise, rate, count in parts:
            accountant.compose(events.PoissonSampledDpEvent(rate, events.GaussianDpEvent(noise)), count)
        return lower, float(accountant.get_epsilon(delta))
    if not isinstance(relation, AddRemove):
        raise InvalidArgument.of("relation", "be AddRemove() or Substitution() for Poisson sampling", relation)
    return max(0.0, _rounded_down(parts, delta)), distribution_epsilon(parts, delta)


def distribution_epsilon(
    parts: list[tuple[float, float, int]], delta: float, direction: Literal["add", "remove"] | None = None
) -> float:
    """Return epsilon of Poisson-sampled Gaussian noise, add/remove, rounded up between the points of a lattice.

    Parameters
    ----------
    parts : list of (noise multiplier, sampling rate, count)
    delta : float in (0, 1)
    direction : "add" or "remove", optional
        One direction of the worst pair alone, which is not a bound of the truth from above; None takes both.
    """
    total = None
    for noise, rate, count in parts:
        one = distributions.from_gaussian_mechanism(
            noise, value_discretization_interval=_COARSEST, sampling_prob=rate, use_connect_dots=True
        )
        many = one.self_compose(count)
        total = many if total is None else total.compose(many)
    assert total is not None
    side = {None: total, "add": total._pmf_add, "remove": total._pmf_remove}[direction]
    return float(side.get_epsilon_for_delta(max(delta - _ROUNDING, 1e-300)))


def _rounded_down(parts: list[tuple[float, float, int]], delta: float) -> float:
    """Return epsilon of one direction, where a record is removed, with all losses rounded down to a lattice.

    The loss log(1 - q + q e^((2 x - 1) / (2 sigma^2))) of the output x increases, so that the masses of cells of losses
    are those of intervals of x, under (1 - q) N(0, sigma^2) + q N(1, sigma^2).
    """
    step = min(_COARSEST, max(_FINEST, 2 * _CELLS / sum(count for *_, count in parts)))
    total = None
    for sigma, rate, count in parts:
        ends = np.array([-_REACH * sigma, 1 + _REACH * sigma])
        losses = np.log1p(rate * np.expm1((2 * ends - 1) / (2 * sigma**2)))
        first, last = map(int, np.floor(losses / step))
        with np.errstate(divide="ignore"):
            odds = np.maximum(1 + np.expm1(step * np.arange(first, last + 1)) / rate, 0.0)
            x = sigma**2 * np.log(odds) + 0.5
        below = np.append((1 - rate) * special.ndtr(x / sigma) + rate * special.ndtr((x - 1) / sigma), 1.0)
        many = DensePLDPmf(step, first, np.diff(below), 0.0, pessimistic_estimate=False).self_compose(count)
        total = many if total is None else total.compose(many)
    assert total is not None
    return float(total.get_epsilon_for_delta(delta + _ROUNDING))


def _thresholds(largest: float, sigma: float) -> np.ndarray:
    """Return thresholds of events, where a sum is `largest` at most without its noise, and 0 in most steps."""
    return np.linspace(_BELOW * sigma, largest + _ABOVE * sigma, _THRESHOLDS)


def _shuffled(event: ShuffledEpochs, delta: float) -> tuple[float, float]:
    """Return the bracket of shuffled epochs: a blanked record moves one coordinate of each epoch from 2 to 1.

    All other records say -1, so that a batch with the record stands out by 2, and by 1 where it is blanked. For a known
    batch this is Gaussian noise, and not to know it is a mixture of such pairs.
    """
    sigma, others = event.noise_multiplier, event.steps - 1
    c = _thresholds(2, sigma)
    rest = others * special.log_ndtr(c / sigma)
    with_it = -np.expm1(special.log_ndtr((c - 2) / sigma) + rest)
    blanked = -np.expm1(special.log_ndtr((c - 1) / sigma) + rest)
    return best_event(with_it, blanked, delta), GaussianLoss(math.sqrt(event.epochs) / sigma).epsilon(delta)


def _best_of_runs(event: events.RepeatAndSelectDpEvent, delta: float) -> tuple[float, float]:
    """Return the bracket of the best of secretly many runs of Gaussian noise: from below by how large its statistic is.

    The largest of a random number of runs is below c with probability G(Phi(c)), G the generating function of the
    number. From above by dp_accounting's Renyi divergences (Papernot & Steinke 2022).
    """
    if not isinstance(event.event, events.GaussianDpEvent) or event.shape not in (1, math.inf):
        raise InvalidArgument.of("event", "repeat Gaussian noise, with shape 1 (geometric) or inf (Poisson)", event)
    sigma, mean = event.event.noise_multiplier, event.mean
    c = _thresholds(1, sigma)
    logs = [special.log_ndtr((c - shift) / sigma) for shift in (1, 0)]
    if event.shape == 1:
        logs = [-math.log(mean) + log - np.log1p(-(1 - 1 / mean) * np.exp(log)) for log in logs]
    else:
        logs = [mean * np.expm1(log) for log in logs]
    large = best_event(-np.expm1(logs[0]), -np.expm1(logs[1]), delta)
    small = best_event(np.exp(logs[1]), np.exp(logs[0]), delta)
    return max(large, small), float(RdpAccountant().compose(event).get_epsilon(delta))


def _largest_step(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return a lower bound from one record that says +1 or -1 in the steps that draw it, the others saying 0."""
    c = _thresholds(1, sigma)
    below = [np.logaddexp(math.log1p(-rate) + special.log_ndtr(c / sigma),
                          math.log(rate) + special.log_ndtr((c - sign) / sigma)) for sign in (1, -1)]  # fmt: skip
    best = best_event(-np.expm1(steps * below[0]), -np.expm1(steps * below[1]), delta)
    most = np.arange(steps + 1) if steps <= _THRESHOLDS else np.arange(int(steps * rate + 20 * math.sqrt(steps)))
    chance = np.exp(_log_binomial(most, steps, rate))
    spread = sigma * math.sqrt(steps)
    cuts = np.linspace(0, steps * rate + 8 * (spread + math.sqrt(steps)), 400)
    sums = [1 - chance @ special.ndtr((cuts - sign * most[:, None]) / spread) for sign in (1, -1)]
    floor = max(0.0, 1 - float(chance.sum())) + _ROUNDING  # the mass cut from the binomial law
    return max(best, best_event(sums[0] - floor, sums[1] + floor, delta))


def _log_binomial(k: np.ndarray, n: int, p: float) -> np.ndarray:
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(ways + k * math.log(p) + (n - k) * math.log1p(-p))
