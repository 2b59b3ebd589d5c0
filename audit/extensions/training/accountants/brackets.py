"""Bracket the true epsilon of the releases of a training run, from both sides, to hold accountants to it.

A lower bound is the loss of one pair of datasets, so that an accountant that says less is wrong. An upper bound holds
for every pair. `docs/accounting.md` says how either is computed for each kind of event, with the theorems.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from dp_accounting import dp_event as events
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as distributions
from dp_accounting.pld.pld_pmf import DensePLDPmf, create_pmf_pessimistic_connect_dots_fixed_gap
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from scipy import special, stats

from audit import AddRemove, Substitution, ZeroConcentratedClaim
from audit.api import InvalidArgument, bounds, laws, validate
from audit.extensions.training.accountants.discrete_gaussians import DiscreteGaussians, bracket_counts
from audit.extensions.training.accountants.dp_events import Releases, event_loss, list_releases

_CELLS = 1e-2  # loss by which all steps together are rounded down, in parts of epsilon where that is above 1
_FINEST, _COARSEST = 1e-6, 1e-4  # step of the lattice
_LOOSE = 4e-4  # the same of a fixed size, where epsilon moves by 1e-6 of itself
_REACH = 8.0  # standard deviations of the noise, beyond which losses are not told apart
_SELDOM = 1e-3  # part of a delta, over all steps, that is given away to events that are seldom
_HALVINGS = 45  # of an interval of outputs in which a loss is searched
_ALONE = (
    events.SingleEpochTreeAggregationDpEvent, events.ZCDpEvent, events.TruncatedSubsampledGaussianDpEvent,
    events.SampledWithoutReplacementDpEvent,
)  # fmt: skip
_SAMPLED = (events.PoissonSampledDpEvent, events.MixtureOfGaussiansDpEvent)
_SEARCHED = 1e-8  # relative and absolute error of an epsilon that is searched
_ROUNDING = 1e-10  # of a delta, in the Fourier transforms of a distribution
_THRESHOLDS = 4_000  # events that are tried
_BELOW, _ABOVE = -8, 12  # standard deviations of the noise, from the first event to the last
_KNOWN: dict[str, tuple[float, float]] = {}  # brackets, which take up to seconds each
_SLOW = 0.2  # CPU seconds of a bracket that is kept on disk
_ELIDED = "..."  # in the text of an event whose arrays are long, which is no key


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
        validate.positive(self.noise_multiplier, "noise_multiplier")
        for name in ("steps", "epochs"):
            validate.integer(getattr(self, name), name, at_least=1)


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
    event : dp_accounting.DpEvent or ShuffledEpochs
    delta : float in (0, 1)
    relation : relation, default AddRemove()
        None for shuffled epochs and trees, where a record is blanked; Substitution() for batches of a fixed size, also
        unless given.

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
    level = validate.open_probability(delta, "delta")
    key = repr((event, level, relation))
    if _ELIDED in key:
        return _bracket(event, level, relation)
    if key not in _KNOWN and key not in _read_cache():
        began = time.process_time()
        _KNOWN[key] = _bracket(event, level, relation)
        if time.process_time() - began > _SLOW:
            _keep(key, _KNOWN[key])
    return _KNOWN[key]


@lru_cache(maxsize=1)
def _locate_cache() -> Path:
    """Return the file of brackets of earlier processes, by this code and this version of dp_accounting."""
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))))
    name = f"brackets-{version('dp-accounting')}-{code.hexdigest()[:12]}.jsonl"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dp-audit" / name


def _read_cache() -> dict[str, tuple[float, float]]:
    """Add the brackets on disk to those that are known; a line that another process has not ended waits."""
    with suppress(OSError, RuntimeError):  # a user without a home
        for line in _locate_cache().read_text().splitlines():
            with suppress(ValueError):
                key, lower, upper = json.loads(line)
                _KNOWN.setdefault(key, (lower, upper))
    return _KNOWN


def _keep(key: str, found: tuple[float, float]) -> None:
    """Append a bracket to those on disk, if there is a disk to write to."""
    with suppress(OSError, RuntimeError):
        _locate_cache().parent.mkdir(parents=True, exist_ok=True)
        with _locate_cache().open("a") as file:
            file.write(json.dumps([key, *found]) + "\n")


def _bracket(event: Any, level: float, relation: Any) -> tuple[float, float]:
    if isinstance(event, events.RepeatAndSelectDpEvent):
        _require(relation, AddRemove)
        return _best_of_runs(event, level)
    if isinstance(event, DiscreteGaussians):
        _require(relation, AddRemove, Substitution)
        return bracket_counts(event, level, cells=2 if isinstance(relation, Substitution) else 1)
    if isinstance(event, ShuffledEpochs):
        _require(relation)
        return _bracket_epochs(event, level)
    releases = list_releases(event)
    (step, count), rest = releases[0], releases[1:]
    if isinstance(step, _ALONE) and not rest:
        return _one_kind(event, step, count, level, relation)
    neighbors = AddRemove() if relation is None else relation
    if any(isinstance(release, _SAMPLED) for release, _ in releases):
        return _bracket_sampling(event, releases, level, neighbors)
    loss = event_loss(event, neighbors)
    return loss.epsilon_lower_bound(level), loss.epsilon(level)


def _one_kind(event: Any, step: Any, count: int, level: float, relation: Any) -> tuple[float, float]:
    """Return the bracket of one release, or of several of the same, of which only together something is known."""
    if isinstance(step, events.SingleEpochTreeAggregationDpEvent):
        _require(relation)  # of a record that is left out, all later ones move
        depth = int(np.max(step.step_counts)).bit_length()  # a record is in one tree, in a node of each level
        tree = laws.GaussianLoss(math.sqrt(count * depth) / step.noise_multiplier)
        return tree.epsilon_lower_bound(level), tree.epsilon(level)
    if isinstance(step, events.ZCDpEvent):
        if step.xi:
            raise InvalidArgument.of("event", "have xi = 0 to have a bracket", step)
        rho = count * step.rho
        upper = bounds.invert_test(lambda epsilon: ZeroConcentratedClaim(rho).profile(epsilon) > level)
        return laws.GaussianLoss(math.sqrt(2 * rho)).epsilon_lower_bound(level), upper * (1 + _SEARCHED) + _SEARCHED
    if isinstance(step, events.TruncatedSubsampledGaussianDpEvent):
        _require(relation, AddRemove)
        rate = events.PoissonSampledDpEvent(_rate_of_truncation(step), events.GaussianDpEvent(step.noise_multiplier))
        upper = float(PLDAccountant().compose(event).get_epsilon(level))
        return _rounded_down([(rate, count)], level, upper), upper
    _require(relation, Substitution)
    if not isinstance(step.event, events.GaussianDpEvent):
        raise InvalidArgument.of("event", "sample for Gaussian noise to have a bracket", step)
    return _bracket_replacement(step.event.noise_multiplier, step.sample_size / step.source_dataset_size, count, level)


def _require(relation: Any, *kinds: type) -> None:
    if relation is not None and not isinstance(relation, kinds):
        named = " or ".join([*(f"{kind.__name__}()" for kind in kinds), "left out"])
        raise InvalidArgument.of("relation", f"be {named} for this event", relation)


def _rate_of_truncation(event: events.TruncatedSubsampledGaussianDpEvent) -> float:
    """Return the probability that a record is in a truncated batch: beside records of zeros, nothing else shows."""
    others = np.arange(event.dataset_size)
    chances = stats.binom.pmf(others, event.dataset_size - 1, event.sampling_probability)
    kept = np.minimum(1.0, event.truncated_batch_size / (others + 1))
    return float(event.sampling_probability * (chances @ kept))


def _bracket_sampling(event: Any, releases: Releases, level: float, relation: Any) -> tuple[float, float]:
    """Return the bracket of Poisson-sampled noise and mixtures, composed with noise that is not sampled."""
    if isinstance(relation, Substitution):  # one record is +1 or -1
        if any(isinstance(release, events.MixtureOfGaussiansDpEvent) for release, _ in releases):
            _require(relation, AddRemove)
        upper = float(PLDAccountant(NeighboringRelation.REPLACE_ONE).compose(event).get_epsilon(level))
        gaussian = [(part, count) for part, count in releases if isinstance(part, events.PoissonSampledDpEvent)
                    and isinstance(part.event, events.GaussianDpEvent)]  # fmt: skip
        return max((
            _largest_step(part.event.noise_multiplier, part.sampling_probability, count, level)
            for part, count in gaussian
        ), default=0.0), upper  # fmt: skip
    if not isinstance(relation, AddRemove):
        raise InvalidArgument.of("relation", "be AddRemove() or Substitution() for Poisson sampling", relation)
    upper = float(PLDAccountant().compose(event).get_epsilon(max(level - _ROUNDING, 1e-300)))
    return _rounded_down(releases, level, upper), upper


def _rounded_down(releases: Releases, delta: float, upper: float) -> float:
    """Return epsilon of one direction, where a record is removed, with all losses rounded down to a lattice."""
    steps = sum(count for _, count in releases)
    step = min(_COARSEST, max(_FINEST, 2 * _CELLS * max(1.0, upper) / steps)) if math.isfinite(upper) else _COARSEST
    total = None
    for release, count in releases:
        many = _round_down_removal(release, step).self_compose(count)
        total = many if total is None else total.compose(many)
    assert total is not None
    return max(0.0, float(total.get_epsilon_for_delta(delta + _ROUNDING)))


def _round_down_removal(release: Any, step: float) -> Any:
    """Return the distribution of the privacy loss of one release, where a record is removed, rounded down.

    The loss log(sum of p e^((2 s x - s^2) / (2 sigma^2))) of the output x increases, so that the masses of cells of
    losses are those of intervals of x, under the mixture of N(s, sigma^2) with probabilities p.
    """
    rate, noise = 1.0, release
    if isinstance(release, events.PoissonSampledDpEvent):
        rate, noise = release.sampling_probability, release.event
    if isinstance(noise, events.LaplaceDpEvent):
        settings = {"value_discretization_interval": step, "sampling_prob": rate, "use_connect_dots": False}
        scale = noise.noise_multiplier
        return distributions.from_laplace_mechanism(scale, pessimistic_estimate=False, **settings)._pmf_remove
    if isinstance(noise, events.MixtureOfGaussiansDpEvent):
        sigma, moves, shares = noise.standard_deviation, np.array(noise.sensitivities), np.array(noise.sampling_probs)
    elif isinstance(noise, events.GaussianDpEvent):
        sigma, moves, shares = noise.noise_multiplier, np.array([0.0, 1.0]), np.array([1 - rate, rate])
    else:
        raise InvalidArgument.of("event", "be Gaussian or Laplace noise or a mixture, sampled or not", release)

    def loss(x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.logaddexp.reduce([np.log(p) + (2 * s * x - s**2) / (2 * sigma**2)
                                        for s, p in zip(moves, shares, strict=True)])  # fmt: skip

    ends = np.array([-_REACH * sigma, moves.max() + _REACH * sigma])
    first, last = map(int, np.floor(loss(ends) / step))
    marks = step * np.arange(first, last + 1)
    if isinstance(noise, events.MixtureOfGaussiansDpEvent):
        low, high = np.full(marks.shape, ends[0]), np.full(marks.shape, ends[1])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_above = loss(middle) >= marks
            low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    else:  # the loss, log(1 - rate + rate e^((2 x - 1) / (2 sigma^2))), inverted
        with np.errstate(divide="ignore", invalid="ignore"):
            high = sigma**2 * (marks + np.log(-np.expm1(np.log1p(-rate) - marks)) - np.log(rate)) + 0.5
    high[0] = -math.inf
    below = shares @ special.ndtr((high - moves[:, None]) / sigma)
    return DensePLDPmf(step, first, np.diff(np.append(below, 1.0)), 0.0, pessimistic_estimate=False)


def _thresholds(largest: float, sigma: float) -> np.ndarray:
    """Return thresholds of events, where a sum is `largest` at most without its noise, and 0 in most steps."""
    return np.linspace(_BELOW * sigma, largest + _ABOVE * sigma, _THRESHOLDS)


def _bracket_epochs(event: ShuffledEpochs, delta: float) -> tuple[float, float]:
    """Return the bracket of shuffled epochs: a blanked record moves one coordinate of each epoch from 2 to 1.

    All other records say -1, so that a batch with the record stands out by 2, and by 1 where it is blanked. For a known
    batch this is Gaussian noise, and not to know it is a mixture of such pairs.
    """
    sigma, others = event.noise_multiplier, event.steps - 1
    c = _thresholds(2, sigma)
    rest = others * special.log_ndtr(c / sigma)
    with_it = -np.expm1(special.log_ndtr((c - 2) / sigma) + rest)
    blanked = -np.expm1(special.log_ndtr((c - 1) / sigma) + rest)
    return _best_event(with_it, blanked, delta), laws.GaussianLoss(math.sqrt(event.epochs) / sigma).epsilon(delta)


def _best_event(first: np.ndarray, second: np.ndarray, delta: float) -> float:
    """Return the largest epsilon with P(E) > e^epsilon Q(E) + delta over some events."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.log((first - delta) * (1 - 1e-9) / second)
    found = found[(first > delta) & (second > 1e-14) & np.isfinite(found)]
    return float(max(0.0, found.max(initial=0.0)))


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
    large = _best_event(-np.expm1(logs[0]), -np.expm1(logs[1]), delta)
    small = _best_event(np.exp(logs[1]), np.exp(logs[0]), delta)
    return max(large, small), float(RdpAccountant().compose(event).get_epsilon(delta))


def _largest_step(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return a lower bound from one record that says +1 or -1 in the steps that draw it, the others saying 0."""
    c = _thresholds(1, sigma)
    below = [np.logaddexp(math.log1p(-rate) + special.log_ndtr(c / sigma),
                          math.log(rate) + special.log_ndtr((c - sign) / sigma)) for sign in (1, -1)]  # fmt: skip
    best = _best_event(-np.expm1(steps * below[0]), -np.expm1(steps * below[1]), delta)
    most = np.arange(steps + 1) if steps <= _THRESHOLDS else np.arange(int(steps * rate + 20 * math.sqrt(steps)))
    chance = stats.binom.pmf(most, steps, rate)
    spread = sigma * math.sqrt(steps)
    cuts = np.linspace(0, steps * rate + 8 * (spread + math.sqrt(steps)), 400)
    sums = [1 - chance @ special.ndtr((cuts - sign * most[:, None]) / spread) for sign in (1, -1)]
    floor = max(0.0, 1 - float(chance.sum())) + _ROUNDING  # the mass cut from the binomial law
    return max(best, _best_event(sums[0] - floor, sums[1] + floor, delta))


def _bracket_replacement(sigma: float, rate: float, steps: int, delta: float) -> tuple[float, float]:
    """Return the bracket where a record is replaced that is drawn with a rate.

    From below: it says 1 in place of -1, as all others do, which moves the sum by 2. From above: a step is
    (log(1 + rate (e^epsilon - 1)), rate delta)-private, delta that of Gaussian noise which is moved by 2. This holds in
    both directions, so that delta(-epsilon) = 1 - e^-epsilon + e^-epsilon delta(epsilon), and the curve is that of a
    pair that dominates.
    """
    largest = min(600.0, laws.GaussianLoss(2 / sigma).epsilon(_SELDOM * delta / steps))
    most = int(math.log1p(rate * math.expm1(largest)) / _LOOSE) + 1
    stated = _LOOSE * np.arange(most + 1)
    inner, shift = np.log1p(np.expm1(stated) / rate), 2 / sigma
    parts = special.ndtr(shift / 2 - inner / shift) - np.exp(inner + special.log_ndtr(-shift / 2 - inner / shift))
    curve = np.minimum.accumulate(np.clip(rate * np.maximum(parts, 0.0), 0.0, 1.0))
    deltas = np.r_[(-np.expm1(-stated) + np.exp(-stated) * curve)[:0:-1], curve]
    loss = create_pmf_pessimistic_connect_dots_fixed_gap(_LOOSE, -most, most, deltas).self_compose(steps)
    upper = float(loss.get_epsilon_for_delta(max(delta - _ROUNDING, 1e-300)))
    pair = events.PoissonSampledDpEvent(rate, events.GaussianDpEvent(sigma / 2))
    return _rounded_down([(pair, steps)], delta, upper), upper
