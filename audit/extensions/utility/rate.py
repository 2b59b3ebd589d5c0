"""Rates: the mean excess decays like a power of n, with the claimed exponent and constant, on a declared range."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

from audit import Result, Verdict
from audit.api import (
    UNNAMED,
    InvalidArgument,
    Judgment,
    call_number,
    defaults,
    document_from,
    errors,
    leave_open,
    run_alone,
    validate,
)
from audit.extensions.utility.curve import CurveCheck, CurveEvidence, CurvePoint, require_argument
from audit.extensions.utility.estimates import estimate_exponent
from audit.extensions.utility.means import Support
from audit.extensions.utility.rate_judge import RateTerms, judge_means, judge_values

Sense = Literal["equivalent", "at_least", "throughout"]
_LEAST_SPAN = 8  # largest size over smallest: three doublings
_BET_SHARE = 0.3  # found by trial: the joint region spends a few nats on each mean, whatever the significance
_LOOK, _LOOKS = 16, 5  # an evaluator is asked at this many sizes beyond the grid, each 16 times the one before
_LEAST_LOOK = 2**10  # how far beyond the grid, at least, before a FAIL; an evaluator may give up sooner
_MOST_BEYOND = 64  # values up to a horizon
_NO_SIMULATION = 0.5  # a significance, where values without noise are judged and it plays no part
_PATIENCE = 10.0  # seconds for a value beyond the grid; a slower evaluator has given up


@dataclass(frozen=True, kw_only=True)
class RateCheck(CurveCheck):
    """The claim that the mean excess is about constant * scale(n) ** -exponent on the declared range of sizes.

    FAIL if the exponent has certainly settled outside the margin; PASS if it certainly lies inside and is steady. A
    range that begins before the asymptotic law shows is INCONCLUSIVE.

    Parameters
    ----------
    losses, evaluator, sizes, support, budget
        As for `audit.ConsistencyCheck`, of the excess over the limit. The sizes, at least 3 over at least three
        doublings, are declared before anything is drawn as the range on which the asymptotic law is claimed to show.
    exponent : float
        Claimed exponent of decay; a negative one claims growth.
    margin : float > 0
        Largest allowed distance of the fitted exponent from `exponent`.
    sense : {"equivalent", "at_least", "throughout"}
        Whether the exponent is claimed to be this one, or at least this large (an upper bound of the risk), or this one
        between any two of the sizes: these alone then refute the claim, whatever comes later.
    constant : float > 0, optional
        Claimed factor; with "at_least" the excess is claimed to stay below it.
    constant_margin : float > 0
        Largest allowed distance of the factor at the largest size from `constant`, relative to it.
    scale : callable, optional
        `(n) -> float`: the decay is a power of this instead of n; positive and increasing.
    horizon : int, optional
        With an evaluator: largest size at which it may be asked if the declared range does not keep the claim. A
        FAIL needs the claim broken there too: a range that begins too early is INCONCLUSIVE. Unless given, the
        evaluator is asked up to 2^20 times the largest size, and only before a FAIL. A horizon at or below the largest
        size declares that there is nothing to look for: the range alone decides.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    `docs/utility.md` derives both judges. The bounds of the means are those of Waudby-Smith and Ramdas (2024),
    Estimating means of bounded random variables by betting, section 4.
    """

    exponent: float
    margin: float = 0.05
    sense: Sense = "equivalent"
    constant: float | None = None
    constant_margin: float = 0.1
    scale: Callable[[int], float] | None = None
    horizon: int | None = None

    kind: ClassVar[str] = "rate"
    callables: ClassVar = {**CurveCheck.callables, "scale": "(n)"}
    terms_type: ClassVar[type[Any]] = RateTerms
    least_sizes: ClassVar[int] = 3

    def _validate(self) -> None:
        super()._validate()
        self._convert(
            exponent=validate.real,
            margin=validate.positive,
            constant_margin=validate.positive,
            constant=validate.positive,
        )
        self._convert(horizon=partial(validate.integer, at_least=1))
        if not math.isfinite(self.exponent):
            raise InvalidArgument.of("exponent", "be finite", self.exponent)
        if self.sense not in get_args(Sense):
            raise InvalidArgument.of("sense", "be 'equivalent', 'at_least' or 'throughout'", self.sense)
        if self.sizes[-1] < _LEAST_SPAN * self.sizes[0]:
            raise InvalidArgument.of("sizes", "span at least three doublings", self.sizes)

    @property
    def summary(self) -> str:
        base = "n" if self.scale is None else "scale(n)"
        factor = "" if self.constant is None else f"{self.constant:.4g} "
        relation = "<=" if self.sense == "at_least" else "~"
        return f"excess {relation} {factor}{base}^{-self.exponent:.4g}, exponent within {self.margin:g}"

    def terms(self) -> RateTerms:
        look = min(self._last_look, self.sizes[-1] * _LEAST_LOOK) if self._may_look else 0
        return RateTerms(self.exponent, self.margin, self.sense, self.constant, self.constant_margin, look)

    def reference(self, size: int) -> float | None:
        if self.scale is None:
            return float(size)
        value = call_number(self.scale, "scale", size)
        if value <= 0:
            raise errors.Unusable(f"scale({size}) must return a positive number, got {value:g}")
        return value

    @staticmethod
    def decide(terms: RateTerms, evidence: CurveEvidence, significance: float) -> Judgment:
        scales = [point.reference or 0.0 for point in (*evidence.points, *evidence.beyond)]
        if any(b <= a for a, b in pairwise(scales)):
            return leave_open("the scale does not increase with n, so that there is no exponent to fit")
        judge = judge_values if evidence.uses == "evaluator" else judge_means
        return judge(terms, evidence, significance)

    def estimate(self, evidence: CurveEvidence, significance: float) -> Iterator[str]:
        """Yield a line with the exponent of a regression."""
        return estimate_exponent(self.terms(), evidence.points, significance)

    def bet_share(self, significance: float) -> float:
        return _BET_SHARE

    def look_beyond(self, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
        # none if the grid keeps the claim, and none without a horizon unless the grid refutes the claim
        if not self._may_look:
            return ()
        alone = replace(self.terms(), least_look=0)
        verdict = self.judge(alone, CurveEvidence(len(points), points, uses=self.uses), _NO_SIMULATION).verdict
        if verdict is Verdict.PASS or (self.horizon is None and verdict is not Verdict.FAIL):
            return ()
        step = _LOOK if self.horizon is None else 2
        found: list[CurvePoint] = []
        size = step * self.sizes[-1]
        while size <= self._last_look and len(found) < _MOST_BEYOND:
            started = time.perf_counter()
            try:
                point = CurvePoint(size, self._value(size), None, self.reference(size))
            except errors.Unusable:
                break
            if not (point.exact or 0.0) > 0 or time.perf_counter() - started >= _PATIENCE:
                break  # it has no logarithm, or the next one would take too long
            found.append(point)
            size *= step
        return tuple(found)

    @property
    def _may_look(self) -> bool:
        return self.evaluator is not None and self.sense != "throughout"

    @property
    def _last_look(self) -> int:
        return self.sizes[-1] * _LOOK**_LOOKS if self.horizon is None else self.horizon


@document_from(RateCheck)
def check_rate(
    losses: Callable[..., Any] | None = None,
    sizes: Sequence[int] = (),
    exponent: float | None = None,
    *,
    margin: float = 0.05,
    sense: Sense = "equivalent",
    constant: float | None = None,
    constant_margin: float = 0.1,
    scale: Callable[[int], float] | None = None,
    evaluator: Callable[[int], float] | None = None,
    support: Support | Callable[[int], Support] = (0.0, 1.0),
    horizon: int | None = None,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = defaults.DEFAULT_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Check that the mean excess decays with the claimed exponent on a declared range of sizes.

    Examples
    --------
    >>> from audit import check_rate
    >>> def losses(n, replicates, rng):
    ...     return rng.random(replicates) * n**-0.5
    >>> result = check_rate(losses, [64, 256, 1024], 0.5, margin=0.1, support=lambda n: (0, n**-0.5), budget=20_000)
    >>> print(result.verdict, result.bounds[0])
    PASS exponent in [0.4849, 0.5125]
    """
    return run_alone(
        RateCheck(
            name=name or UNNAMED, losses=losses, sizes=sizes, exponent=require_argument(exponent, "exponent"),
            margin=margin, sense=sense, constant=constant, constant_margin=constant_margin, scale=scale,
            evaluator=evaluator, support=support, horizon=horizon, source=source, statement=statement,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
