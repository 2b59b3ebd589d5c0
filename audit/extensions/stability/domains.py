"""Contracts of values: the conditions of a domain on a number, or on the records of a dataset and on their number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import InvalidArgument
from audit.extensions.stability.lengths import exact


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Say which values a transformation admits, or returns.

    Anything but a list, tuple or array is held to the conditions of records. For others, such as the order of records,
    give a predicate in its place.

    Parameters
    ----------
    type : type, optional
        Of every record: `int`, `float`, `str`, ...; NumPy's scalars count as their Python types.
    bounds : tuple of two numbers, optional
        Inclusive.
    size : int >= 0, optional
        Number of records.
    nan : bool
        Whether a record may be NaN.

    Raises
    ------
    InvalidArgument
        For bounds that are not two finite numbers, the lower one first.

    References
    ----------
    Hay, Gaboardi and Vadhan (2020), A programming framework for OpenDP: domains and their members.

    Examples
    --------
    >>> from audit import Domain
    >>> Domain(type=float, bounds=(0, 1)).why_not([0.5, 1.5])
    'record 1 is 1.5, above 1'
    """

    type: type | None = None
    bounds: tuple[Any, Any] | None = None
    size: int | None = None
    nan: bool = False

    def __post_init__(self) -> None:
        if self.bounds is not None and not exact(self.bounds[0]) <= exact(self.bounds[1]):
            raise InvalidArgument.of("bounds", "be two finite numbers, the lower one first", self.bounds)

    def why_not(self, value: Any) -> str | None:
        """Return the reason why a value is outside the domain, or None."""
        if not isinstance(value, (list, tuple, np.ndarray)):
            return self._why_not_record(value, "it")
        if self.size is not None and len(value) != self.size:
            return f"it has {len(value)} records, not {self.size}"
        for place, record in enumerate(value):
            if reason := self._why_not_record(record, f"record {place}"):
                return reason
        return None

    def _why_not_record(self, record: Any, where: str) -> str | None:
        if isinstance(record, np.generic):
            record = record.item()
        if record is None:
            return f"{where} is None"
        if self.type is not None and type(record) is not self.type:
            return f"{where} is {record!r}, no {self.type.__name__}"
        if isinstance(record, float) and math.isnan(record):
            return None if self.nan else f"{where} is NaN"
        if self.bounds is not None and not self.bounds[0] <= record:
            return f"{where} is {record!r}, below {self.bounds[0]!r}"
        if self.bounds is not None and not record <= self.bounds[1]:
            return f"{where} is {record!r}, above {self.bounds[1]!r}"
        return None


def why_not_of(domain: Any, name: str) -> Callable[[Any], str | None] | None:
    """Return the test of a domain, of a `Domain`, of a predicate, or of None.

    Raises
    ------
    InvalidArgument
        For any other object.
    """
    if domain is None:
        return None
    if hasattr(domain, "why_not"):
        found: Callable[[Any], str | None] = domain.why_not
        return found
    if not callable(domain):
        raise InvalidArgument.of(name, "be an audit.Domain or a predicate (value) -> bool", domain)
    return lambda value: None if domain(value) else f"{name} refuses it"
