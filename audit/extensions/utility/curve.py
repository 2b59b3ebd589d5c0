"""Common parts of claims about a curve over sample sizes: losses or an evaluator, the evidence, the comparison."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

from audit.api import (
    Allowance,
    Evidence,
    InvalidArgument,
    StatedCheck,
    bounds,
    call,
    call_number,
    errors,
    from_plain,
    validate,
    view,
)
from audit.extensions.utility.means import LossDrawer, Support, require_support
from audit.extensions.utility.pictures import mean_losses

T = TypeVar("T")


@dataclass(frozen=True)
class CurvePoint:
    """The observation at one sample size: an evaluator's value, or simulated losses."""

    size: validate.Natural
    exact: float | None
    sample: bounds.MeanSample | None
    reference: float | None  # value of the function that the claim states: a bound, or a scale

    def interval(self, significance: float) -> tuple[float, float]:
        """Return bounds of the mean, each wrong with probability at most `significance`; equal if it was computed."""
        if self.sample is not None:
            return self.sample.bounds(significance)
        assert self.exact is not None
        return self.exact, self.exact


@dataclass(frozen=True)
class CurveEvidence(Evidence):
    points: tuple[CurvePoint, ...] = ()
    beyond: tuple[CurvePoint, ...] = ()  # values of an evaluator at larger sizes, before a rate is refuted

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were observed."""
        return tuple(point.size for point in self.points)

    def intervals(self, significance: float) -> list[tuple[float, float]]:
        """Return bounds of all means, together right with probability at least 1 - significance."""
        share = significance / (2 * max(1, len(self.points)))
        return [point.interval(share) for point in self.points]

    def how(self) -> str:
        return "by simulation" if self.uses == "simulation" else "by an evaluator, without noise"


class CurveView(view.RecordView):
    """Show the losses over the sample sizes."""

    def draw_pictures(self) -> Iterator[view.Plot | None]:
        yield mean_losses(self.record, from_plain(CurveEvidence, self.record["evidence"]))


@dataclass(frozen=True, kw_only=True)
class CurveCheck(StatedCheck):
    """A claim about the mean loss as a function of the sample size; `ConsistencyCheck` documents its parameters."""

    losses: Callable[..., Any] | None = None
    evaluator: Callable[[int], float] | None = None
    sizes: Sequence[int]
    support: Support | Callable[[int], Support] = (0.0, 1.0)

    callables: ClassVar = {"evaluator": "(n)", "losses": "(n, replicates, rng)"}
    least_sizes: ClassVar[int] = 1
    evidence_type: ClassVar[type[Evidence]] = CurveEvidence
    record_view: ClassVar[type[view.RecordView]] = CurveView

    def _validate(self) -> None:
        if (self.losses is None) == (self.evaluator is None):
            raise InvalidArgument("give either `losses` or `evaluator`")
        object.__setattr__(self, "sizes", _checked_sizes(self.sizes, self.least_sizes))
        if self.losses is not None and not callable(self.support):
            self._convert(support=require_support)

    def reference(self, size: int) -> float | None:
        """Return the value at `size` of the function that the claim states, if it states one."""
        return None

    def bet_share(self, significance: float) -> float:
        """Return the significance for which bets are chosen; the bounds hold whatever it is."""
        return significance / (2 * len(self.sizes))

    def look_beyond(self, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
        """Return further values of an evaluator, if the kind of check needs any."""
        return ()

    def gather(self, allowance: Allowance) -> CurveEvidence:
        """Observe every size; a failure ends it, and earlier observations are kept."""
        drawer = LossDrawer(self.subject if self.losses is None else self.losses)
        count = allowance.budget // len(self.sizes)
        share = self.bet_share(allowance.significance)

        def draw(index: int, size: int) -> bounds.MeanSample:
            support = self.support
            if callable(support):
                try:
                    support = require_support(call(support, size, what=f"support({size})"))
                except InvalidArgument as error:
                    raise errors.Unusable(str(error)) from None
            return drawer.sample(count, support, allowance.stream.child(index), share, size)

        points: list[CurvePoint] = []
        beyond: tuple[CurvePoint, ...] = ()
        failure = None
        try:
            for index, size in enumerate(self.sizes):
                sample = draw(index, size) if self.evaluator is None else None
                points.append(CurvePoint(size, self._value(size), sample, self.reference(size)))
            beyond = self.look_beyond(tuple(points))
        except errors.Unusable as unusable:
            failure = str(unusable)
        values = 0 if self.evaluator is None else len(points) + len(beyond)
        return CurveEvidence(drawer.drawn + values, tuple(points), beyond, uses=self.uses, failure=failure)

    def _value(self, size: int) -> float | None:
        return None if self.evaluator is None else call_number(self.evaluator, "evaluator", size)


def exceeds(a: float, b: float) -> bool:
    """Return whether a > b by more than the rounding of an evaluator."""
    return a > b + bounds.ROUNDING * abs(b)


def require_argument(value: T | None, name: str) -> T:
    """Return an argument that must be given, although `losses` before it may be left out."""
    if value is None:
        raise InvalidArgument(f"`{name}` must be given")
    return value


def _checked_sizes(sizes: Any, least: int) -> tuple[int, ...]:
    try:
        listed = tuple(validate.integer(size, "sizes", at_least=1) for size in sizes)
    except TypeError:
        raise InvalidArgument.of("sizes", "be a sequence of integers", sizes) from None
    if len(listed) < least:
        raise InvalidArgument.of("sizes", f"hold at least {least} sample sizes", sizes)
    if any(b <= a for a, b in pairwise(listed)):
        raise InvalidArgument.of("sizes", "increase", sizes)
    return listed
