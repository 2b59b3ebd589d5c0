"""Events of dp_accounting as exact privacy losses.

A `DpEvent` describes a release by the parameters that accounting needs: noise relative to a bound C on the norm of a
record's value in a sum. Adding or removing a record moves the sum by C, replacing one moves it by 2 C. The loss is that
of the worst pair, where the noise is shifted by that much. Randomized response is about one record that is replaced.

Gaussian, Laplace and discrete Laplace noise, randomized response, and all compositions of these have exact losses; for
an adaptive composition the composed loss is still that of the worst pair (Zhu, Dong & Wang 2022, theorem 10). An event
that samples records has no exact loss here: `epsilon_bracket` bounds it from both sides.
"""

import math
from collections.abc import Callable
from typing import Any

from dp_accounting import dp_event as events

from audit import AddRemove, Local, Substitution
from audit.api import InvalidArgument, laws

Releases = list[tuple[Any, int]]  # events that are no compositions, and how often each is released
_NOISE: dict[type, Callable[[float], laws.PrivacyLoss]] = {
    events.GaussianDpEvent: laws.GaussianLoss,
    events.LaplaceDpEvent: laws.LaplaceLoss,
}


def event_loss(event: events.DpEvent, relation: Any) -> laws.PrivacyLoss:
    """Return the exact privacy loss of an event for the worst pair.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        Gaussian, Laplace, discrete Laplace, randomized response, no-op, non-private, and compositions of these.
    relation : AddRemove or Substitution; also Local for randomized response

    Examples
    --------
    >>> from audit import AddRemove
    >>> from audit.extensions.training.accountants.dp_events import event_loss
    >>> from dp_accounting import dp_event
    >>> event_loss(dp_event.LaplaceDpEvent(2.0), AddRemove()).epsilon(0.0)
    0.5
    """
    return laws.compose([_loss(release, relation) for release, count in list_releases(event) for _ in range(count)])


def list_releases(event: events.DpEvent) -> Releases:
    """Return the successive releases of an event, with how often each is repeated.

    Parameters
    ----------
    event : dp_accounting.DpEvent

    Examples
    --------
    >>> from audit.extensions.training.accountants.dp_events import list_releases
    >>> from dp_accounting import dp_event
    >>> list_releases(dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(1.0), 3))
    [(GaussianDpEvent(noise_multiplier=1.0), 3)]
    """
    if isinstance(event, events.ComposedDpEvent):
        return [part for inner in event.events for part in list_releases(inner)]
    if isinstance(event, events.SelfComposedDpEvent):
        parts, times = list_releases(event.event), int(event.count)
        return [(parts[0][0], times * parts[0][1])] if len(parts) == 1 else parts * times
    return [(event, 1)]


def _loss(event: events.DpEvent, relation: Any) -> laws.PrivacyLoss:
    kind = type(event)
    if kind is events.NoOpDpEvent:
        return laws.no_loss()
    if kind is events.NonPrivateDpEvent:
        return _told_apart()
    if kind is events.RandomizedResponseDpEvent:
        return _response(event, relation)
    if kind is events.DiscreteLaplaceDpEvent:
        shift = _steps(relation) * event.sensitivity
        return laws.geometric_loss(shift, math.exp(-event.noise_parameter)) if event.noise_parameter else _told_apart()
    if kind in _NOISE:
        steps = _steps(relation)
        return _NOISE[kind](steps / event.noise_multiplier) if event.noise_multiplier else _told_apart()
    sampled = "Sampled" in kind.__name__
    why = "its loss depends on the data or has no closed form" if sampled else "it states no law of outputs"
    name = kind.__name__
    raise InvalidArgument(f"`event` must have an exact loss, got {name}: {why}; give its epsilon in a PrivacyClaim")


def _steps(relation: Any) -> int:
    """Return by how many bounds C the sum may move."""
    for kind, steps in ((AddRemove, 1), (Substitution, 2)):
        if isinstance(relation, kind):
            return steps
    raise InvalidArgument.of("relation", "be AddRemove() or Substitution() for noise on a sum of records", relation)


def _response(event: Any, relation: Any) -> laws.PrivacyLoss:
    if not isinstance(relation, (Substitution, Local)):
        raise InvalidArgument.of("relation", "be Substitution() or Local() for randomized response", relation)
    other, buckets = event.noise_parameter / event.num_buckets, event.num_buckets
    if buckets == 1:
        return laws.no_loss()
    keep, rest = 1 - event.noise_parameter + other, 1 - event.noise_parameter + 2 * other
    elsewhere = [max(0.0, 1 - rest)] if buckets > 2 else [0.0]
    return laws.FiniteLoss([keep, other, *elsewhere], [other, keep, *elsewhere])


def _told_apart() -> laws.PrivacyLoss:
    """Return the loss without noise: the output tells the two datasets apart."""
    return laws.FiniteLoss([1.0, 0.0], [0.0, 1.0])
