"""Read maps, metrics and domains off arguments, or off the transformations of OpenDP, which need not be installed."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.api import InvalidArgument, call
from audit.extensions.stability.lengths import Length, exact
from audit.extensions.stability.metrics import METRICS, AnyMetric

KINDS = ("loss", "domain", "exception", "rounding")  # of a violation


@dataclass(frozen=True)
class StabilityMap:
    """A claim about a transformation: how far apart outputs may be, by which distances, and between which domains."""

    allowed: Callable[[Any], Any]  # distance in -> largest distance out
    distance_in: Any = None  # metrics
    distance_out: Any = None
    domain_in: Any = None  # in a search, the tests of domains: `why_not_of`
    domain_out: Any = None


@dataclass(frozen=True)
class Violation:
    """A pair that breaks a map or a domain, with its outputs: the ground of a FAIL."""

    kind: str  # one of KINDS
    left: str  # the pair and its outputs as text
    right: str
    output_left: str
    output_right: str
    distance_in: float  # rounded up
    distance_out: float  # rounded up; 0 where none was measured
    bound: float  # of the map at this distance
    said: str = ""  # of a domain, an exception, or the step of a chain


def stated_map(bound: Any) -> StabilityMap:
    """Return the map of a number, of a function, or of a transformation of OpenDP, as `StabilityCheck` describes."""
    if callable(getattr(bound, "map", None)) and hasattr(bound, "input_metric"):
        return _of_opendp(bound)
    if callable(bound):
        return StabilityMap(bound)
    try:
        factor = exact(bound)
    except InvalidArgument:
        factor = exact(-1)
    if factor < 0:
        message = "be a number >= 0, a function of the distance, or a transformation of OpenDP"
        raise InvalidArgument.of("bound", message, bound)
    return StabilityMap(lambda distance: factor * exact(distance))


def why_not_of(domain: Any, name: str) -> Callable[[Any], str | None] | None:
    """Return the test of a domain of OpenDP, of a predicate, or of None: why a value is outside, or None."""
    if domain is None or hasattr(domain, "why_not"):
        return None if domain is None else domain.why_not
    if not callable(domain):
        raise InvalidArgument.of(name, "be a predicate (value) -> bool", domain)
    return lambda value: None if call(domain, value, what=name) else f"{name} refuses it"


def _of_opendp(transformation: Any) -> StabilityMap:
    metrics = (_opendp_metric(transformation.input_metric), _opendp_metric(transformation.output_metric))
    domains = (_OpenDPDomain(transformation.input_domain), _OpenDPDomain(transformation.output_domain))
    return StabilityMap(_ask(transformation), *metrics, *domains)


def broken_link(transformation: Any, left: Any, right: Any) -> str:
    """Return which step of a chained transformation of OpenDP breaks its own map on a pair; nothing without one."""
    steps = list(_links(transformation))
    if len(steps) > 1:
        with suppress(Exception):  # of a step without a map that is known here
            for place, step in enumerate(steps, 1):
                stated, before = _of_opendp(step), (left, right)
                left, right = step(left), step(right)
                allowed = stated.allowed(as_number(stated.distance_in.between(*before)))
                if stated.distance_out.between(left, right).exceeds(allowed):
                    return f"step {place} of {len(steps)}, {step.__opendp_dict__['__function__']}, breaks its own map"
    return ""


def _links(transformation: Any) -> Iterator[Any]:
    """Yield the steps of a chain, which OpenDP keeps beside each object."""
    made = getattr(transformation, "__opendp_dict__", {})
    if made.get("__function__") != "make_chain_tt":
        yield transformation
        return
    for name in ("transformation0", "transformation1"):
        yield from _links(made["__kwargs__"][name])


def as_number(distance: Length) -> Any:
    """Return a distance in the form of a map's argument: a count as an int, others as a float that is not below."""
    if distance.power == 1 and isinstance(distance.raised, Fraction) and distance.raised.denominator == 1:
        return int(distance.raised)
    return distance.rounded_up()


def _opendp_metric(metric: Any) -> AnyMetric:
    """Return the metric of a name such as `ChangeOneDistance` or `LInfDistance(T=f64)`."""
    words = re.findall(r"[A-Z][a-z]*\d?", str(metric).partition("Distance")[0])
    name = ("" if words[:1] in (["L1"], ["L2"], ["L"]) else "_").join(words).lower()
    if name not in METRICS:
        raise InvalidArgument(f"`distance` must be given, since {metric} of OpenDP is not known here")
    return METRICS[name]


def _ask(transformation: Any) -> Callable[[Any], Any]:
    """Return the map, asked with a whole number that is not below where the metric counts in integers."""
    if re.search(r"\([iu]\d+\)", str(transformation.input_metric)):
        return lambda distance: transformation.map(math.ceil(distance))
    if re.search(r"\(f\d+\)", str(transformation.input_metric)):
        return lambda distance: transformation.map(float(distance))
    found: Callable[[Any], Any] = transformation.map
    return found


@dataclass(frozen=True)
class _OpenDPDomain:
    """A domain of OpenDP as a contract."""

    domain: Any

    def why_not(self, value: Any) -> str | None:
        """Return why OpenDP says that a value is no member, or None."""
        try:
            with warnings.catch_warnings(action="ignore"):  # of numbers that its types do not hold
                return None if self.domain.member(value) else f"it is no member of {self.domain}"
        except Exception as error:  # OpenDP refuses values that it cannot convert to the type of the domain
            return f"it is no value of {self.domain}: {type(error).__name__}"
