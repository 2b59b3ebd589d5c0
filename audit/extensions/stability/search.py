"""Search for a pair of datasets that breaks a stability map, and shrink it: exact, without statistics."""

from __future__ import annotations

import copy
import math
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import HypothesisWarning, NoSuchExample
from hypothesis.strategies import SearchStrategy

from audit.api import InvalidArgument, Unusable, describe_error, is_of_subject, printable
from audit.extensions.stability.lengths import ZERO, Length, record_key
from audit.extensions.stability.neighbors import Plan, neighbors, plans
from audit.extensions.stability.stated_maps import KINDS, StabilityMap, Violation

ROUNDING = 1e-6  # excess that counts as rounding, in units of the map's bound at distance 1
_REPEATS = 8  # runs on each dataset of a pair before it is called a violation
_TEXT = 400  # characters of a value in a record


class Search:
    """Draw datasets and neighbors until enough pairs were compared, or one breaks the map.

    Parameters
    ----------
    transformation : callable (dataset) -> output
    stated : StabilityMap
    datasets : strategy
        Of datasets that the transformation admits.
    """

    def __init__(
        self, transformation: Callable[[Any], Any], stated: StabilityMap, datasets: SearchStrategy[Any]
    ) -> None:
        self.transformation, self.stated = transformation, stated
        self._plans = plans(datasets, stated.distance_in)
        self.pairs = self.unstable = self.unstated = 0  # as in the evidence of the check
        self.violation: Violation | None = None
        self.example = ""
        self.failure: str | None = None  # of a distance or a predicate
        self._wanted: tuple[str, ...] = ()
        self._limit = 0
        self._shrinking = False
        self._sized: bool | None = None
        self._sides: tuple[Any, ...] = ()  # of the last pair: both datasets and their outputs

    def run(self, pairs: int, seed: int, seconds: float | None = None) -> None:
        """Compare about `pairs` pairs; a violation by more than rounding is preferred to one by less.

        No comparison after `seconds` counts.
        """
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        source, self._limit = random.Random(seed), pairs
        for wanted in (KINDS, ("loss",)):
            first = self.violation
            if first is not None and first.kind != "rounding":
                break
            self._wanted, self._shrinking = wanted, False
            plan = self._find(source)
            if plan is None or self.failure:
                break
            self.violation = self._violation(plan) or first

    def _find(self, source: random.Random) -> Plan | None:
        """Return the smallest plan that shows the violation, or None."""
        while self.pairs < self._limit:
            before = self.pairs
            examples = max(20, (self._limit - before) // 6)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HypothesisWarning)  # of long columns, whose text it never shows
                    return find(self._plans, self._is_broken, settings=_settings(examples), random=source)
            except _OverError:
                return None
            except NoSuchExample:
                if self.pairs == before:  # the strategy has no further pair
                    return None
        return None

    def _is_broken(self, plan: Plan) -> bool:
        if not self._shrinking and self.pairs >= self._limit:
            return False
        if time.monotonic() > self._deadline and not self._shrinking:
            raise _OverError
        try:
            broken = self._violation(plan) is not None
        except (Unusable, InvalidArgument) as error:
            self.failure = str(error)
            raise _OverError from error
        self._shrinking = self._shrinking or broken
        return broken

    def _violation(self, plan: Plan) -> Violation | None:
        left, why_not = plan.dataset, self.stated.domain_in
        if why_not and why_not(left):
            return None
        output, sized = self._output(left), self._is_sized(left)
        if not self._are_alike(output, self._output(left)):
            self._count_unstable(left)
            return None
        for right in neighbors(plan, self.stated.distance_in, why_not is not None, sized):
            if not self._shrinking and self.pairs >= self._limit:
                break
            if why_not and why_not(right):
                continue
            found = self._compared(left, right, output)
            if found is not None and found.kind in self._wanted and self._is_repeated(left, right):
                return found
        return None

    def _count_unstable(self, dataset: Any) -> None:
        if not self._shrinking:
            self.unstable += 1
            self.example = self.example or _text(dataset)

    def _is_sized(self, dataset: Any) -> bool:
        """Return whether the domain refuses a dataset for one record less; asked once, of the first with records."""
        why_not = self.stated.domain_in
        if self._sized is None and why_not and isinstance(dataset, (list, tuple)) and dataset:
            self._sized = why_not(dataset[1:]) is not None and why_not(dataset) is None
        return bool(self._sized)

    def _output(self, dataset: Any) -> Any:
        """Return an output, or the exception in its place."""
        try:
            return self.transformation(copy.copy(dataset))
        except BaseException as error:
            if not is_of_subject(error):
                raise
            return _Raised(f"{type(error).__name__}: {describe_error(error)}")

    def _compared(self, left: Any, right: Any, output: Any) -> Violation | None:
        """Hold one pair to the contracts and to the map."""
        distance = self.stated.distance_in.between(left, right)
        if distance.raised == math.inf or (not distance.raised and record_key(left) == record_key(right)):
            return None
        other = self._output(right)
        self.pairs += not self._shrinking
        sides = self._sides = (left, right, output, other)
        if isinstance(output, _Raised) or isinstance(other, _Raised):
            return self._raised(sides, distance)
        why_not = self.stated.domain_out
        if why_not and (said := why_not(output) or why_not(other)):
            return _violation("domain", sides, distance, said=said)
        try:
            allowed = self.stated.allowed(as_number(distance))
        except Exception:  # a map may overflow, or state nothing about a distance
            self.unstated += not self._shrinking
            return None
        reached = self.stated.distance_out.between(output, other)
        if not reached.exceeds(allowed):
            return None
        kind = "rounding" if self._is_rounding(reached, float(allowed)) else "loss"
        return _violation(kind, sides, distance, reached, float(allowed))

    def _is_rounding(self, reached: Length, allowed: float) -> bool:
        """Return whether the excess is small against the change that one record may make."""
        try:
            unit = max(allowed, float(self.stated.allowed(1)))
        except Exception:
            unit = allowed
        return reached.rounded_up() - allowed <= ROUNDING * unit

    def _raised(self, sides: tuple[Any, ...], distance: Length) -> Violation | None:
        """A declared domain forbids exceptions; without one, an exception on one side only tells the sides apart."""
        texts = [side.text for side in sides[2:] if isinstance(side, _Raised)]
        if self.stated.domain_in is None and len(texts) == 2:
            return None
        return _violation("exception", sides, distance, said=texts[0])

    def _are_alike(self, one: Any, other: Any) -> bool:
        """Return whether two outputs are equal, or 0 apart by the declared distance: rows or keys in another order."""
        if _text(one) == _text(other):
            return True
        if isinstance(one, _Raised) or isinstance(other, _Raised):
            return False
        try:
            return not self.stated.distance_out.between(one, other).raised
        except Exception:  # of outputs that the distance does not know
            return False

    def _is_repeated(self, left: Any, right: Any) -> bool:
        """Return whether further runs give the same outputs; else the transformation is not a function of its input."""
        for dataset, output in zip((left, right), self._sides[2:], strict=True):
            for _ in range(2 if self._shrinking else _REPEATS):
                if not self._are_alike(output, self._output(dataset)):
                    self._count_unstable(dataset)
                    return False
        return True


class _OverError(Exception):
    """The time for comparing pairs is over, or a distance cannot be measured."""


@dataclass(frozen=True)
class _Raised:
    text: str

    def __repr__(self) -> str:
        return f"raised {self.text}"


def as_number(distance: Length) -> Any:
    """Return a distance in the form of a map's argument: a count as an int, others as a float that is not below."""
    if distance.power == 1 and isinstance(distance.raised, Fraction) and distance.raised.denominator == 1:
        return int(distance.raised)
    return distance.rounded_up()


def _violation(
    kind: str, sides: tuple[Any, ...], distance: Length, reached: Length = ZERO, bound: float = 0.0, said: str = ""
) -> Violation:
    left, right, one, other = map(_text, sides)
    return Violation(kind, left, right, one, other, distance.rounded_up(), reached.rounded_up(), bound, printable(said))


def _text(value: Any) -> str:
    text = printable(repr(value))
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}..."


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
