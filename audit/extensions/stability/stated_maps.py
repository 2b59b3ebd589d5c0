"""Read maps, metrics and domains off the objects of OpenDP and Tumult Core, which need not be installed to ask."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audit.api import InvalidArgument
from audit.extensions.stability.lengths import exact
from audit.extensions.stability.metrics import Metric, PerPartition, metric_of

_OPENDP = {
    "SymmetricDistance": "symmetric",
    "InsertDeleteDistance": "insert_delete",
    "ChangeOneDistance": "change_one",
    "HammingDistance": "hamming",
    "DiscreteDistance": "discrete",
    "AbsoluteDistance": "absolute",
    "L1Distance": "l1",
    "L2Distance": "l2",
    "LInfDistance": "linf",
}
_TUMULT = {
    "SymmetricDifference": "symmetric",
    "HammingDistance": "change_one",  # of multisets, in Tumult's words
    "AbsoluteDifference": "absolute",
    "NullMetric": "discrete",
}


@dataclass(frozen=True)
class StatedMap:
    """Hold the statements of an object of a library."""

    allowed: Callable[[Any], Any]
    distance_in: Metric | None = None
    distance_out: Metric | None = None
    domain_in: Any = None
    domain_out: Any = None


def stated_map(bound: Any) -> StatedMap:
    """Return the map of a number, of a function, or of an object of OpenDP or Tumult Core.

    Parameters
    ----------
    bound : number >= 0, callable, or object
        A number c states distance_out <= c * distance_in; a function takes the distance of the inputs and returns the
        largest distance of the outputs; an OpenDP transformation has `map`, a Tumult one `stability_function`, and both
        their metrics and domains.

    Raises
    ------
    InvalidArgument
        For anything else, and for a metric of a library that is not known here.
    """
    if callable(getattr(bound, "map", None)) and hasattr(bound, "input_metric"):
        return _of_opendp(bound)
    if callable(getattr(bound, "stability_function", None)):
        return _of_tumult(bound)
    if callable(bound):
        return StatedMap(bound)
    try:
        factor = exact(bound)
    except InvalidArgument:
        factor = exact(-1)
    if factor < 0:
        message = "be a number >= 0, a function of the distance, or a transformation of OpenDP or Tumult Core"
        raise InvalidArgument.of("bound", message, bound)
    return StatedMap(lambda distance: factor * exact(distance))


def _of_opendp(transformation: Any) -> StatedMap:
    metrics = (_opendp_metric(transformation.input_metric), _opendp_metric(transformation.output_metric))
    domains = (_OpenDPDomain(transformation.input_domain), _OpenDPDomain(transformation.output_domain))
    return StatedMap(_asked(transformation), *metrics, *domains)


def _opendp_metric(metric: Any) -> Metric:
    name = re.match(r"\w*", str(metric))
    if name is None or name.group() not in _OPENDP:
        raise InvalidArgument(f"`distance` must be given, since {metric} of OpenDP is not known here")
    return metric_of(_OPENDP[name.group()])


def _asked(transformation: Any) -> Callable[[Any], Any]:
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


def _of_tumult(transformation: Any) -> StatedMap:
    metrics = (_tumult_metric(transformation.input_metric), _tumult_metric(transformation.output_metric))
    domains = (_validated(transformation.input_domain), _validated(transformation.output_domain))
    return StatedMap(lambda distance: _number(transformation.stability_function(distance)), *metrics, *domains)


def _tumult_metric(metric: Any) -> Metric:
    name = type(metric).__name__
    if name in ("SumOf", "RootSumOfSquared"):
        return PerPartition(_tumult_metric(metric.inner_metric), order=1 if name == "SumOf" else 2)
    if name not in _TUMULT:
        raise InvalidArgument(f"`distance` must be given, since {metric} of Tumult Core is not known here")
    return metric_of(_TUMULT[name])


def _validated(domain: Any) -> Callable[[Any], bool]:
    def contains(value: Any) -> bool:
        try:
            domain.validate(value)
        except Exception:
            return False
        return True

    return contains


def _number(exact_number: Any) -> Any:
    """Return one of Tumult's exact numbers as a number that is not below it."""
    if hasattr(exact_number, "to_float"):
        return exact_number.to_float(round_up=True)
    return exact_number
