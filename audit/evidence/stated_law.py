"""Look at a mechanism by the law that it states: bracket its divergence, test the sampler, trace its privacy profile.

The trade-off function of a pair follows from the profile of its stated law: every epsilon gives two lines below it
(Dong, Roth & Su 2022, proposition 2.12), so that nothing else needs to be recorded.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from audit.claims import Claim, CurveClaim, Point
from audit.errors import InvalidCertificate
from audit.evidence.base import Case, Finding, Judgment, Way, leave_open
from audit.execution.seeds import Stream
from audit.laws import ARITHMETIC_TOLERANCE
from audit.laws.outputs import dkw_distance
from audit.outputs.encode import Outputs
from audit.scorers.base import stated_log_likelihood
from audit.text import count, number
from audit.validate import Limits, Nonnegative, Probability
from audit.verdict import Verdict

LOOSEST_FIT = 0.25  # distance in distribution from a stated law that the outputs of a PASS must have excluded
_CONTRADICTION = 1e-8  # more than rounding: a law that claims to keep a claim, with bounds that break it
_POINTS = 25  # a certificate holds this many for each check, whatever the number of pairs
_BEYOND = 1.5  # the curve goes on to this multiple of the claimed and of the found epsilon
_FARTHEST = 40.0  # nothing can be audited beyond
_LOSS_GRID = 512  # thresholds at which the law of the loss is compared
_ABOVE = 1e-7  # a threshold lies this far above a loss value, so that rounding does not move an atom across it

UNEVALUATED = "the law that the mechanism states cannot be evaluated"  # which a certificate may say beside a game

Pairs = Sequence[tuple[Any, Any]]
Drawn = Sequence[tuple[Outputs, Outputs]]  # on the left and on the right dataset of each pair


@dataclass(frozen=True)
class PairLaw:
    """Hold the loss by the stated law of one pair, worse direction, and how the sampler agrees with it."""

    pair: int
    epsilon_upper_bound: Nonnegative  # at the tested delta
    epsilon_lower_bound: Nonnegative
    delta_upper_bound: Probability  # at the tested epsilon
    delta_lower_bound: Probability
    total_variation: Probability  # an upper bound
    mass_at_infinity: Probability  # probability of an output that the other dataset cannot give
    fit_pvalue: Probability | None  # finite-sample p-value of the sampler, both datasets; None when it was not tested
    fit_outputs: int  # per dataset, behind the p-value
    fit_resolution: Nonnegative | None  # least distance in distribution that the test of the sampler rejects
    keeps: bool | None = None  # of a claim about a curve; None when open
    detail: str = ""  # the numbers behind `keeps`

    def breaks_claim(self, case: Case) -> bool:
        """Return whether the law breaks an (epsilon, delta) claim by the brackets, or a curve by its own judgment."""
        epsilon, delta = case.point
        if case.terms.claim.is_curve:
            return self.keeps is False
        by_delta = self.delta_lower_bound > delta + ARITHMETIC_TOLERANCE * max(delta, 1e-3)
        return by_delta and self.epsilon_lower_bound > epsilon + ARITHMETIC_TOLERANCE * max(1.0, epsilon)

    def keeps_claim(self, case: Case) -> bool:
        """Return whether the law keeps the claim up to rounding; raise if it claims to, and its brackets deny it."""
        epsilon, delta = case.point
        if case.terms.claim.is_curve:
            if self.keeps and self.delta_lower_bound > delta + _CONTRADICTION:
                said = f"the law of pair {self.pair} both keeps {case.terms.claim.short} and breaks {case.point}"
                raise InvalidCertificate(said)
            return self.keeps is True
        by_delta = self.delta_upper_bound <= delta * (1 + ARITHMETIC_TOLERANCE)
        return by_delta or self.epsilon_upper_bound <= epsilon + ARITHMETIC_TOLERANCE * max(1.0, epsilon)


@dataclass(frozen=True)
class LossCurve:
    """Hold the privacy profile of the worst pair by its stated law, at a few points; no verdict rests on it."""

    pair: int
    profile: Annotated[
        tuple[tuple[Nonnegative, Probability, Probability], ...], Limits(shortest=2, longest=32)
    ]  # epsilon, and delta with the left and the right law on top
    tightness: Nonnegative | None  # epsilon of the law over the tested one; None unless both are finite and positive


@dataclass(frozen=True)
class StatedLaw(Way):
    """Hold the stated law of every pair, and the curve of the worst one."""

    laws: tuple[PairLaw, ...]
    curve: LossCurve | None = None

    way: ClassVar[str] = "stated law"
    spends: ClassVar[str] = "goodness of fit"  # which bars a verdict, and refutes no claim

    def finding(self, case: Case) -> Finding:
        """Return the epsilon of the worst pair, and the decision of the laws."""
        return Finding(exact=self._decide(case), upper_bound=max(part.epsilon_upper_bound for part in self.laws))

    def _decide(self, case: Case) -> Judgment | None:
        """Decide by the laws; None when the brackets leave the claim open."""
        (epsilon, delta), share, is_curve = case.point, case.significance / len(self.laws), case.terms.claim.is_curve
        for part in self.laws:
            if part.fit_pvalue is not None and part.fit_pvalue <= share:
                said = f"the sampler and its stated law disagree (p = {part.fit_pvalue:.2g}, pair {part.pair})"
                return leave_open(f"{said}, without the claim being refuted")
        is_untested = any(part.fit_pvalue is None for part in self.laws)
        if broken := [part for part in self.laws if part.breaks_claim(case)]:
            worst = max(broken, key=lambda part: part.epsilon_lower_bound)
            found = f"has epsilon >= {worst.epsilon_lower_bound:.6g} at delta = {delta:g}"
            found = f"breaks {worst.detail}" if is_curve else f"{found}, claimed {epsilon:g}"
            if is_untested:
                return leave_open(f"its stated law {found}; the sampler was not tested against it")
            said = f"its stated law {found} (pair {worst.pair}; taking the law for granted)"
            return Judgment(Verdict.FAIL, "law", said)
        if is_untested or not all(part.keeps_claim(case) for part in self.laws):
            return None
        worst = max(self.laws, key=lambda part: part.epsilon_upper_bound)
        found = f"epsilon = {worst.epsilon_upper_bound:.6g} at delta = {delta:g}"
        noticed = max(part.fit_resolution or math.inf for part in self.laws)
        if noticed > LOOSEST_FIT:
            more = f"{LOOSEST_FIT:g} is due, which takes {(noticed / LOOSEST_FIT) ** 2:.2g} times the budget"
            found = f"only samplers that are {noticed:.2g} from it in distribution would have been noticed; {more}"
            return leave_open(f"its stated law keeps the claim, but {found}")
        follows = f"by the stated law, which the sampler follows (within {noticed:.2g} in distribution)"
        return Judgment(Verdict.PASS, "law", f"{worst.detail if is_curve else found} {follows}")

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield how much of the claim the worst law uses, and how the sampler was tested against its law."""
        if (curve := way["curve"]) and curve["tightness"] is not None:
            which, all_of_it = "tested" if record["evidence"]["tested"] else "claimed", 0.995
            if (used := float(curve["tightness"])) > 2 - all_of_it:
                said = f"the law needs {number(used)} times the {which} ε"
            elif used >= all_of_it:
                said = f"all of the {which} ε is used"
            else:
                could = "noise whose scale is inverse to ε could shrink by this factor"
                said = f"{number(used)} of the {which} ε is used; {could}"
            yield "tightness", said
        law = max(way["laws"], key=lambda part: part["fit_outputs"])
        if law["fit_pvalue"] is None:
            yield "sampler against law", "not tested"
        else:
            noticed = f"a distance of {number(law['fit_resolution'])} would have been noticed"
            tested = f"p = {number(law['fit_pvalue'])} from {count(law['fit_outputs'])} outputs per dataset"
            yield "sampler against law", f"{tested}; {noticed}"


def stated_loss(mechanism: Any, left: Any, right: Any) -> Any:
    """Return the privacy-loss object of a pair: `privacy_loss(left, right)`, or derived from `law`."""
    if callable(getattr(mechanism, "privacy_loss", None)):
        return mechanism.privacy_loss(left, right)
    return mechanism.law(left).loss_against(mechanism.law(right))


def compare_with_law(
    mechanism: Any, claim: Claim, pairs: Pairs, drawn: Drawn, point: Point, stream: Stream, significance: float
) -> StatedLaw:
    """Bracket the divergence of every pair by its stated law, and test the drawn outputs against that law."""
    share = significance / len(pairs)
    compared = []
    for index, (pair, outputs) in enumerate(zip(pairs, drawn, strict=True)):
        loss, size = stated_loss(mechanism, *pair), min(map(len, outputs))
        judged = claim.judge_exactly(loss) if isinstance(claim, CurveClaim) else None
        fit = _fit(mechanism, loss, pair, outputs, stream.child(index))
        compared.append(
            PairLaw(
                pair=index,
                epsilon_upper_bound=float(loss.epsilon(min(1.0, point.delta * (1 + ARITHMETIC_TOLERANCE)))),
                epsilon_lower_bound=float(loss.epsilon_lower_bound(point.delta)),
                delta_upper_bound=float(loss.delta(point.epsilon)),
                delta_lower_bound=float(loss.delta_lower_bound(point.epsilon)),
                total_variation=float(loss.total_variation()),
                mass_at_infinity=max(float(loss.mass_at_infinity(side)) for side in ("left", "right")),
                fit_pvalue=fit.pvalue if fit else None,
                fit_outputs=size,
                fit_resolution=dkw_distance(size, share / fit.tests) if fit and size else None,
                keeps=judged.keeps if judged else None,
                detail=judged.detail if judged else "",
            )
        )
    return StatedLaw(tuple(compared), _trace_curve(mechanism, pairs, point, compared))


class Fit(NamedTuple):
    pvalue: float  # over both datasets, valid in finite samples
    tests: int  # factor on the p-value of one distance in distribution, by which the fit pays for all of its tests


def _fit(
    mechanism: Any, loss: Any, pair: tuple[Any, Any], outputs: tuple[Outputs, Outputs], stream: Stream
) -> Fit | None:
    """Compare the outputs with the stated law; None if nothing can be compared."""
    tests = 1
    if callable(getattr(mechanism, "law", None)):
        laws = [mechanism.law(data) for data in pair]
        values = [
            law.fit_pvalue(_as_array(side.raw), stream.child(number).rng())
            for number, (law, side) in enumerate(zip(laws, outputs, strict=True))
        ]
        tests = max(law.fit_tests for law in laws)
    elif any(side.symbols is not None and side.numbers.size and side.symbolic.any() for side in outputs):
        return None
    elif (stated := stated_log_likelihood(mechanism)) is not None:
        values = [_loss_fit(stated, loss, pair, *case) for case in zip(outputs, ("left", "right"), strict=True)]
    else:
        return None
    return Fit(float(min(1.0, 2 * min(values))), 2 * tests)


def _loss_fit(log_likelihood: Any, loss: Any, pair: tuple[Any, Any], outputs: Outputs, side: str) -> float:
    """Compare the observed privacy losses with their stated law (Dvoretzky-Kiefer-Wolfowitz-Massart)."""
    left, right = (np.asarray(log_likelihood(data, outputs.raw), dtype=float) for data in pair)
    observed = np.sort(left - right if side == "left" else right - left)
    if np.isnan(observed).any():
        return 0.0
    thresholds = np.unique(observed[np.linspace(0, len(observed) - 1, _LOSS_GRID).astype(int)])
    thresholds = thresholds[np.isfinite(thresholds)] + _ABOVE
    empirical = np.searchsorted(observed, thresholds, side="right") / len(observed)
    stated = np.array([1.0 - loss.tails(t, side)[0] for t in thresholds])
    distance = float(np.max(np.abs(empirical - stated), initial=0.0))
    return float(min(1.0, 2 * np.exp(-2 * len(observed) * distance**2)))


def _as_array(raw: Any) -> np.ndarray:
    try:
        array = np.asarray(raw)
        return np.array(raw, dtype=object) if array.ndim > 1 and array.dtype.kind in "US" else array  # numbers in text
    except ValueError:  # ragged
        array = np.empty(len(raw), dtype=object)
        array[:] = raw
        return array


def _trace_curve(mechanism: Any, pairs: Pairs, point: Point, laws: Sequence[PairLaw]) -> LossCurve | None:
    """Return the curve of the pair with the largest epsilon; None when its law gives none."""
    worst = max(laws, key=lambda part: part.epsilon_upper_bound)
    claimed, found = point.epsilon, worst.epsilon_upper_bound
    kept = {claimed, min(found, _FARTHEST)}  # on the grid: curves bend there
    regular = np.linspace(0.0, _BEYOND * max(*kept, 0.1), _POINTS - 2)
    try:
        loss = stated_loss(mechanism, *pairs[worst.pair])
        profile = tuple(
            (epsilon, _round(loss.delta(epsilon, "left")), _round(loss.delta(epsilon, "right")))
            for epsilon in sorted({0.0, *kept, *map(_round, regular)})
        )
    except Exception:  # the statement is the subject's code; its verdict was reached without a curve
        return None
    tightness = _round(found / claimed) if claimed > 0 and np.isfinite(found) else None
    return LossCurve(worst.pair, profile, tightness)


def _round(value: float) -> float:  # enough digits to draw, and the same on other machines
    return float(f"{value:.6g}")
