"""Evidence of followed noise: plain data of the runs, and the upper bounds that follow from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy import special

from audit import Verdict
from audit.api import Case, Finding, Judgment, Way, bounds, claims, from_plain, laws, text, validate, view
from audit.extensions.following.ledger import DRAWS, OBSERVATIONS, NoiseLedger

LEFT_OUT = 0.05  # the largest delta' of a PASS
_SLOW_LEFT_OUT = 0.2  # the same where calls are slow, and the shift is one for all runs
FEWEST = "fewest"  # runs that are planned for slow calls, none of which may be bad
_UNLIKE = 1e-3  # share of bad runs, or one, beyond the claimed delta, with which a claim may PASS
SLACK = 1e-6  # relative, of a claim: costs are computed with roundings
_COINS = 20_270_101  # seed of the coins that round losses
# of the error probability, in each direction: an exact law adds up the shares of both, and where the pairs of runs of
# a rule are too unlike, each run is followed
LEVELS = {"exact": 0.5, "constant": 0.9, "output": 0.9, "path": 0.1}
ROWS = 100_000  # of a vectorized replay
_ROUNDED = 1e-9  # relative, of the log ratios of an exact law
_LARGEST = 2.0  # epsilon of laws that are held to as many runs as bound delta' as well as that of a shift

Law = tuple[tuple[validate.Probability, validate.Probability], ...]  # of every output, its probabilities


def plan_runs(claim: claims.Claim, significance: float, pairs: int, left_out: float) -> dict[str, int]:
    """Return the runs in a direction, by kind of shift, that bound delta' by `left_out`, also where one is bad."""
    routes = 2 if claim.point.delta and not claim.is_curve else 1
    levels = {shift: share * significance / pairs / routes for shift, share in LEVELS.items()}
    plans = {shift: math.ceil(special.gammainccinv(2, level) / left_out) for shift, level in levels.items()}
    fewest = math.log(levels["constant"]) / math.log1p(-_find_most(left_out, "constant"))
    return plans | {FEWEST: math.ceil(fewest)}


def _find_most(left_out: float, shift: str) -> float:
    """Return the largest delta' of a PASS: larger than usual where few runs of slow calls have one shift."""
    return _SLOW_LEFT_OUT if left_out == LEFT_OUT and shift == "constant" else left_out


def weigh_runs(runs: float, epsilon: float) -> float:
    """Return the runs that are held to exact laws: delta' weighs those that are unlike by their largest ratio."""
    return runs * (1 + math.exp(min(epsilon, _LARGEST)))


def measure_law(law: Law, claimed: float | None) -> tuple[float, float | None]:
    """Return the largest log ratio of an exact law, and delta at the claimed epsilon where one is claimed."""
    ratios = [abs(math.log(p) - math.log(q)) if p > 0 and q > 0 else math.inf if p != q else 0.0 for p, q in law]
    delta = None if claimed is None else max(_sum_excess(law, claimed), _sum_excess([(q, p) for p, q in law], claimed))
    return max(ratios, default=0.0) * (1 + _ROUNDED), delta


def _sum_excess(law: Iterable[tuple[float, float]], epsilon: float) -> float:
    return min(1.0, math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in law))


def is_kept(claim: claims.Claim, epsilon: float, mu: float) -> bool:
    """Return whether a claim follows from a pure bound and one of Gaussian noise.

    Gaussian kernels are exchanged first (Smith & Thakurta 2022, fully adaptive composition), then the others. Of a
    curve, one of the two alone is judged: by randomized response, which dominates a pure bound, or by Gaussian noise.
    """
    if not math.isfinite(epsilon + mu):
        return False
    if not claim.is_curve:
        point, rest = claim.point, claim.point.epsilon * (1 + SLACK) - epsilon
        return rest >= 0 and (not mu or laws.GaussianLoss(mu).delta(rest) <= point.delta * (1 + SLACK))
    if mu and epsilon:
        return False
    right = float(special.expit(epsilon / (1 + SLACK)))
    loss = (
        laws.GaussianLoss(mu / (1 + SLACK)) if mu else laws.FiniteLoss(np.r_[right, 1 - right], np.r_[1 - right, right])
    )
    return bool(claim.judge_exactly(loss).keeps)  # type: ignore[attr-defined]


@dataclass
class Direction:
    """Runs from one dataset to the other: the cost of the worst good run, bad runs by reason, losses of good runs."""

    runs: int = 0
    cost: float = 0.0
    square: float = 0.0
    losses: list[np.ndarray] = field(default_factory=list)
    bad: Counter[str] = field(default_factory=Counter)

    def add(self, costs: np.ndarray, squares: np.ndarray, losses: np.ndarray) -> None:
        """Add good runs."""
        self.runs += len(losses)
        self.cost = max(self.cost, float(np.max(costs, initial=-math.inf)))
        self.square = max(self.square, float(np.max(squares, initial=0.0)))
        self.losses.append(losses)

    def join(self, other: Direction) -> None:
        """Add the runs of another direction."""
        self.runs += other.runs
        self.cost, self.square = max(self.cost, other.cost), max(self.square, other.square)
        self.losses += other.losses
        self.bad += other.bad

    def add_bad(self, reason: str, count: int = 1) -> None:
        """Add bad runs."""
        if count:
            self.runs += count
            self.bad[reason] += count

    def count_excess(self, epsilon: float) -> int:
        """Return bad runs and hits, whose share has the mean of (1 - exp(epsilon - loss))+, bad runs counted as 1.

        Each value is rounded to 0 or 1 by a coin that keeps its mean, so that the exact binomial bound applies.
        """
        losses = np.concatenate([np.zeros(0), *self.losses])
        excess = -np.expm1(np.minimum(epsilon - losses, 0.0))
        return self.bad.total() + int((np.random.default_rng(_COINS).random(len(excess)) < excess).sum())


@dataclass(frozen=True)
class Bound:
    """An upper confidence bound of the privacy of code on one pair of datasets, in both directions.

    The mechanism is (`epsilon`, delta')-indistinguishable on the pair, as real numbers, given that generators draw from
    the requested laws and that calls do not depend on earlier ones. With Gaussian noise the bound is `epsilon` together
    with `mu`-GDP: (epsilon + e, delta' + delta_mu(e)) for every e.

    Attributes
    ----------
    epsilon : float
        Infinite where the noise was not followed.
    mu : float
        Of the Gaussian noise; 0 without any.
    shift : {"exact", "constant", "output", "path", ""}
        Source of the law or the shift: the whole law of finite randomness; a shift that is the same in all runs,
        depends on the output, or on the observations on the way; empty where nothing was followed.
    reason : str
        Why there is no bound; else empty.
    runs, bad, excess : (int, int)
        In each direction: runs, those without the same output, and those that count for delta at the claimed epsilon.
    exact_delta : float, optional
        Delta at the claimed epsilon, where the law is exact.
    good : (int, int)
        In each direction: runs with the same output.
    costs, squares : (float, float)
        In each direction: epsilon of the worst good run, and the square of its mu.
    law : tuple of (float, float)
        The probabilities of every output on both datasets, where the law is exact.
    outputs_per_call : int
        Of the calls that were certified. A vectorized mechanism whose rows are not followed is certified by calls of
        one output, and may behave differently in larger ones.
    """

    epsilon: validate.Nonnegative = math.inf
    mu: validate.Nonnegative = 0.0
    shift: Annotated[str, validate.Limits(pattern="|exact|constant|output|path")] = ""
    reason: str = ""
    runs: tuple[validate.Count, validate.Count] = (0, 0)
    bad: tuple[validate.Count, validate.Count] = (0, 0)
    excess: tuple[validate.Count, validate.Count] = (0, 0)
    exact_delta: validate.Probability | None = None
    outputs_per_call: validate.Number = 1
    good: tuple[validate.Count, validate.Count] = (0, 0)
    costs: tuple[validate.Nonnegative, validate.Nonnegative] = (0.0, 0.0)
    squares: tuple[validate.Nonnegative, validate.Nonnegative] = (0.0, 0.0)
    law: Law = ()
    confidence: float = field(default=0.95, compare=False, metadata={"recorded": False})

    @property
    def is_followed(self) -> bool:
        """True if there is a bound."""
        return not self.reason

    @property
    def delta(self) -> float:
        """Delta' with the confidence of the bound: never 0."""
        return self.left_out(1 - self.confidence)

    def left_out(self, significance: float) -> float:
        """Return delta', the share of runs that the bound leaves out, at a probability of error."""
        if self.reason:
            return 1.0
        shares = self._bound(self.bad, significance)
        if self.shift != "exact":
            return max(shares)
        weight = math.exp(min(self.epsilon, 50.0))
        return min(1.0, max(shares[0] + weight * shares[1], shares[1] + weight * shares[0]))

    def loss_delta(self, significance: float) -> float:
        """Return the bound of delta at the claimed epsilon, by exact losses, at a probability of error."""
        if self.reason or self.exact_delta is not None:
            return min(1.0, self.left_out(significance) + (self.exact_delta or 0.0))
        return max(self._bound(self.excess, significance))

    def _bound(self, counts: tuple[int, int], significance: float) -> list[float]:
        level = significance * LEVELS.get(self.shift, LEVELS["path"])
        both = zip(counts, self.runs, strict=True)
        return [bounds.proportion_upper_bound(count, runs, level) if runs else 1.0 for count, runs in both]

    def has_many_bad(self, delta: float) -> bool:
        """Return whether more runs were bad than by the claimed delta, and by rounding: they may be leaks."""
        both = zip(self.bad, self.runs, strict=True)
        return any(bad > max(1.0, (delta + _UNLIKE) * runs) for bad, runs in both)

    def keeps(self, claim: claims.Claim, significance: float) -> bool:
        """Return whether the claim holds up to delta'."""
        if self.reason:
            return False
        delta = 0.0 if claim.is_curve else claim.point.delta
        if is_kept(claim, self.epsilon, self.mu):
            return True
        return delta > 0 and self.loss_delta(significance) <= delta * (1 + SLACK)

    def contradictions(self, claimed: float | None, plans: Mapping[str, int]) -> Iterator[str]:
        """Yield where a bound does not follow from the runs or the law that it was computed from."""
        if any(np.add(self.good, self.bad) != self.runs):
            yield "its good and bad runs are other than its runs"
        if self.shift == "exact":
            sums = [math.fsum(side) for side in zip(*self.law, strict=True)]
            is_law = len(sums) == 2 and all(abs(total - 1) < _ROUNDED for total in sums)
            if not is_law or self.mu or measure_law(self.law, claimed) != (self.epsilon, self.exact_delta):
                yield "its law has another epsilon or delta"
        elif self.epsilon != max(self.costs) or self.mu not in (math.sqrt(max(self.squares)), math.inf):
            yield "its runs cost other than their bound"
        planned = plans.get(self.shift, math.inf)
        most = weigh_runs(planned, self.epsilon) if self.shift == "exact" else planned
        if max(self.runs) > (ROWS if self.outputs_per_call > 1 else most):
            yield "it was followed in more runs than are made"

    def __str__(self) -> str:
        return f"not followed: {self.reason}" if self.reason else self.describe(1 - self.confidence)

    def describe(self, significance: float) -> str:
        """Return the bound in words, never without delta'."""
        parts = [f"epsilon <= {self.epsilon:.4g}"] if self.epsilon > 0 or not self.mu else []
        parts += [f"mu <= {self.mu:.4g}"] if self.mu else []
        unlike = f"{sum(self.bad):,} of {sum(self.runs):,} runs unlike"
        return f"{', '.join(parts)} but for delta' = {self.left_out(significance):.2g} ({unlike})"


@dataclass(frozen=True)
class Followed(Way):
    """Hold the bounds of all pairs, and the ledger of the worst run."""

    bounds: Annotated[tuple[Bound, ...], validate.Limits(shortest=1)]
    ledger: NoiseLedger | None = None
    most_left_out: validate.Probability = LEFT_OUT

    way: ClassVar[str] = "noise followed"

    @property
    def largest_call(self) -> int:
        """The outputs of the calls that were certified, on the pair where they are fewest."""
        return min(int(bound.outputs_per_call) for bound in self.bounds)

    def finding(self, case: Case) -> Finding:
        """Return PASS where every bound keeps the claim and leaves out few runs; it never refutes a claim."""
        claim, routes = case.terms.claim, 1 if case.terms.claim.is_curve or not case.point.delta else 2
        significance = case.significance / len(self.bounds) / routes
        delta = 0.0 if claim.is_curve else case.point.delta
        kept = all(bound.keeps(claim, significance) and not bound.has_many_bad(delta) for bound in self.bounds)
        if not kept or "constant" in case.evidence.anomalies:
            return Finding(doubt=self._describe_doubt(claim))
        worst = max(self.bounds, key=lambda bound: (bound.epsilon + bound.mu, bound.left_out(significance)))
        if any(bound.left_out(significance) > _find_most(self.most_left_out, bound.shift) for bound in self.bounds):
            return Finding()
        pairs = f", worst of {len(self.bounds)} pairs" if len(self.bounds) > 1 else ""
        reason = f"noise followed{pairs}: {worst.describe(significance)}"
        calls = f"in calls of {worst.outputs_per_call:,} output{'s' * (worst.outputs_per_call > 1)}"
        game, trusted = case.evidence.game, "the generator is trusted to draw the stated laws"
        if game is not None and game.floats == "real":
            reason += "; floating point: not audited"
            calls += ", read as real numbers; set floats='audit'"
        scope = f"confidence {1 - case.significance:g}", calls, trusted
        return Finding(exact=Judgment(Verdict.PASS, "noise followed", reason, scope=scope))

    def _describe_doubt(self, claim: claims.Claim) -> str:
        """Return by how much an exact law, or the worst run, costs more than is claimed; empty where it does not."""
        exact = max((bound.epsilon for bound in self.bounds if bound.shift == "exact"), default=0.0)
        if exact and not is_kept(claim, exact, 0.0):
            return f"the randomness that was followed costs epsilon {exact:.4g}, more than is claimed"
        if self.ledger is None or self.ledger.reason or is_kept(claim, self.ledger.epsilon, self.ledger.mu):
            return ""
        return f"the noise that was followed costs {self.ledger.cost}, more than is claimed: rarer outputs may break it"

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield where the bounds fit neither their method nor the ledger."""
        if len(self.bounds) != len(record["pairs"]):
            yield "its noise was followed on other pairs"
        if any(bound.is_followed != bool(bound.shift) for bound in self.bounds):
            yield "a bound of its noise has no source, or one where nothing was followed"
        if any(bad > excess for bound in self.bounds for bad, excess in zip(bound.bad, bound.excess, strict=True)):
            yield "bad runs are not in the excess of its noise"
        followed = [bound for bound in self.bounds if bound.is_followed and bound.outputs_per_call != 1]
        if any(set(bound.runs) != {bound.outputs_per_call} for bound in followed):
            yield "its noise was followed in calls of other sizes than were certified"
        claim, settings = claims.claim_of(record["claim"]), record["settings"]
        stated = settings.get("method")
        if self.most_left_out != (stated.get("left_out", LEFT_OUT) if isinstance(stated, Mapping) else LEFT_OUT):
            yield "its settings leave out another share of runs"
        is_searched = any(way["way"] == "search" for way in record["evidence"]["ways"])  # which has a share of its own
        plans: dict[str, int] = {}
        if record["kind"] == "privacy" and not is_searched:
            plans = plan_runs(claim, settings["significance"], len(self.bounds), self.most_left_out)
        claimed = None if claim.is_curve else claim.point.epsilon
        for bound in filter(lambda bound: bound.is_followed, self.bounds):
            yield from bound.contradictions(claimed, plans)
        is_constant = all(bound.shift == "constant" for bound in self.bounds)  # all runs cost the same
        if is_constant and self.ledger is not None and not self.ledger.reason:
            worst = max(self.bounds, key=lambda bound: bound.epsilon + bound.mu)
            stated, spent = (worst.epsilon, worst.mu), (self.ledger.epsilon, self.ledger.mu)
            if not all(map(partial(math.isclose, rel_tol=SLACK), stated, spent)):
                yield f"its ledger spends {spent}, its bound is {stated}"
        if self.ledger is not None and not self.ledger.reason and self.ledger.exceeds:
            yield "the lines of its ledger spend more than their sum"

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the bound of the worst pair, or why the noise was not followed."""
        reasons = [bound["reason"] for bound in way["bounds"] if bound["reason"]]
        if reasons:
            yield "noise", f"not followed: {reasons[0]}"
        else:
            worst = max(way["bounds"], key=lambda bound: float(bound["epsilon"]) + float(bound["mu"]))
            mu = f", μ ≤ {text.number(worst['mu'])}" if worst["mu"] else ""
            yield "noise followed", f"ε ≤ {text.number(worst['epsilon'])}{mu} in {sum(worst['runs']):,} runs"

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[view.Part]:
        """Yield the two tables of the ledger."""
        if way["ledger"] is None or way["ledger"]["reason"]:
            return
        ledger = from_plain(NoiseLedger, way["ledger"])
        said = f"The lines that draw noise, in the run whose shift costs most. {ledger.left_out}".strip()
        yield view.Part("Ledger of the code", said, head=DRAWS, rows=[entry.cells for entry in ledger.draws])
        said = "The lines where noise becomes a number or a decision."
        seen = [entry.cells for entry in ledger.observations]
        yield view.Part("Observations of the noise", said, head=OBSERVATIONS, rows=seen)
