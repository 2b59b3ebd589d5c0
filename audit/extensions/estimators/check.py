"""Check that an estimator keeps the budget that it declares, as its users call it, in all that leaves a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, PrivacyResult, Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    AnyMethod,
    Evidence,
    InvalidArgument,
    PrivacyEvidence,
    PrivacyJudgment,
    claims,
    defaults,
    document_from,
    entropy_from,
    errors,
    run_alone,
    text,
    validate,
    walk,
)
from audit.extensions.estimators.fits import Fits, StatedFits, fit_copy, record_output, require_estimator
from audit.extensions.estimators.neighbors import PUBLIC, RELATIONS, dataset_of, named_pairs
from audit.extensions.estimators.properties import PropertiesReader, Property, statement_of

_EXAMINED = 70  # child of the check's stream
_DECIDING = 20.0  # nats: a pair that is told apart for sure is refuted at 1e-8 by this many over ln(1 + e^-epsilon)


@dataclass(frozen=True)
class EstimatorEvidence(PrivacyEvidence):
    """Findings of each property, beside the evidence of the game."""

    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class EstimatorResult(PrivacyResult):
    """The outcome of an estimator check; `properties` has a line for each property.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import audit
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> result = audit.check_estimator(GaussianNB(), X, y, audit.PrivacyClaim(1.0), budget=200)
    >>> print(result.verdict, result.properties[0].outcome)
    FAIL suspected
    """

    evidence: EstimatorEvidence

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties, each with its findings."""
        return self.evidence.properties

    def details(self) -> Iterator[str]:
        """Yield a line for each property, and the parts that were not examined."""
        yield from map(str, self.properties)
        yield "not examined: the time of a fit, and text that code in C prints"
        yield from super().details()


@dataclass(frozen=True, kw_only=True)
class EstimatorCheck(PrivacyCheck):
    """Audit the budget that a scikit-learn style estimator declares, by everything that leaves a fit.

    The estimator is fitted as users do, without a seed; the entropy of the operating system is replaced from outside,
    so that runs can be repeated. An output is the whole fitted object with attributes at any depth, the order of sets,
    its pickle, `predict`, `predict_proba`, `decision_function`, `transform` and `score_samples` at public points,
    warnings, exceptions and printed text. Time is left out.

    Neighbors are made from the data, and each stands for a property by name: an extreme record, a label, the order of
    the records, a rare class, a constant column. Beside them: two unseeded fits differ; public parameters do not follow
    the data; `set_params` after a fit changes no statement; refits add up; no seed is kept. A property that is computed
    is a fact and fails at once. Where places of the release tell two neighbors apart in all of 22 fits, the pair is
    suspected, and the guess game decides on it with fresh fits; else it is played on all pairs. Over its draws a true
    claim is refuted with probability at most `significance`, and judged FAIL with `confirmation`.

    Parameters
    ----------
    name : str
        Unique within a run.
    estimator : object with fit, get_params and set_params
        Unfitted. Parameters `random_state` are set to None.
    X : array, shape (n, d)
        Features; the fewer records, the cheaper the audit and the sharper its pairs.
    y : array, shape (n,), optional
        Labels or targets.
    claim : claim, optional
        The claim that it keeps. Unless given, `privacy_spent_` after a fit: epsilon, delta, and a relation by name, of
        `privacy_spent_` or of the attribute `relation` of the estimator. A local one is audited as a substitution.
    points : array, shape (m, d), optional
        Public points for the answers; unless given, the middle of the data and its two first records.
    public : sequence of {"classes", "constant columns"}
        Facts that the estimator may take from the data since they are public; these properties are then not tested.
    release : object, optional
        The output of a fit and its law, which then decides by a few thousand fits: `law(dataset)` of `audit.laws`;
        `reveal(fitted)`, a tuple of the part with this law and of None, or under label flip of noise left out; and
        `rebuild(unfitted, revealed, public)`, the fitted object that follows from both and from the public part: the
        features under label flip, else the number of records. A fit that is not rebuilt does not follow the law.
    budget : {"auto", "quick", "deep"} or int >= 2, optional
        Outputs, which are fits, per dataset of a pair, beside the few hundred fits that look at the properties.
    expected, tolerance, timeout
        See `audit.PrivacyCheck`.

    Raises
    ------
    InvalidArgument
        For an object without `fit`, for one that states no budget where no claim is given, and for other arguments
        outside their admissible sets.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), theorem 2.1. `sklearn.utils.estimator_checks` has the form.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from audit import EstimatorCheck, PrivacyClaim, run
    >>> check = EstimatorCheck(name="no noise", estimator=GaussianNB(), X=[[0.0], [1.0], [2.0], [3.0]], y=[0, 0, 1, 1],
    ...                        claim=PrivacyClaim(1.0))
    >>> print(run([check], budget=200, workers=0).verdict)
    FAIL
    """

    mechanism: Any = field(default=None, init=False)  # these four are made of the estimator and its data
    pairs: Any = field(default=(), init=False)
    datasets: Any = field(default=None, init=False)
    parameters: Any = field(default=None, init=False)
    claim: Any | None = None
    method: AnyMethod = "fixed"
    estimator: Any
    X: Any
    y: Any | None = None
    points: Any | None = None
    public: Sequence[str] = ()
    release: Any | None = None
    data: Any = field(default=None, init=False, repr=False)
    named: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    skipped: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    kind: ClassVar[str] = "estimator"
    noun: ClassVar[str] = "the estimator"
    unit: ClassVar[str] = "fits"
    evidence_type: ClassVar[type[Evidence]] = EstimatorEvidence
    result_type: ClassVar[type[Result]] = EstimatorResult

    def _validate(self) -> None:
        require_estimator(self.estimator)
        if unknown := [name for name in self.public if name not in PUBLIC]:
            raise InvalidArgument.of("public", f"name some of {', '.join(PUBLIC)}", unknown[0])
        data = dataset_of(self.X, self.y)
        features = np.asarray(self.X, dtype=float)
        usual = np.concatenate([features.mean(axis=0)[None].round(2), features[:2]])
        fits = Fits(self.estimator, np.array(usual if self.points is None else self.points))
        object.__setattr__(self, "mechanism", fits)
        if self.claim is None:
            object.__setattr__(self, "claim", _read_claim(fits, data))
        claim: Any = self.claim
        if self.release is not None:
            stated = StatedFits(fits.estimator, fits.points, self.release, claim.relation)
            object.__setattr__(self, "mechanism", stated)
            object.__setattr__(self, "method", "auto")
        pairs = named_pairs(data, claim.relation)
        object.__setattr__(self, "skipped", {PUBLIC[name]: f"{name} are public" for name in self.public})
        object.__setattr__(self, "named", {name: pair for name, pair in pairs.items() if name not in self.skipped})
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "pairs", tuple(self.named.values()))
        super()._validate()

    @property
    def usual_name(self) -> str:
        return type(self.estimator).__name__

    def gather(self, allowance: Allowance) -> EstimatorEvidence:
        """Test the properties, then play the game on the pair that is suspected, or on all pairs."""
        claim: Any = self.claim
        made: Any = self.mechanism
        rng = allowance.stream.child(_EXAMINED).rng()
        examined = PropertiesReader(made, self.data, claim.relation, rng)
        try:
            found = tuple(examined.run(self.named, self.skipped))
        except (walk.CannotKeep, errors.BadBatch) as error:
            return EstimatorEvidence(examined.used, failure=f"a fit left an object that cannot be examined: {error}")
        except Exception as error:
            said = f"the estimator raised {type(error).__name__}: {text.describe_error(error)}"
            return EstimatorEvidence(examined.used, failure=said)
        if any(each.outcome == "broken" for each in found):
            return EstimatorEvidence(examined.used, properties=found)
        check: EstimatorCheck = self
        if examined.suspects:
            pair = examined.suspects[0]
            check = self.complete(EstimatorEvidence(0, found_pair=pair))
            allowance = replace(allowance, budget=min(allowance.budget, _enough(claim.point.epsilon)))
        evidence = super(EstimatorCheck, check).gather(allowance)
        pairs = check.pairs[0] if examined.suspects else None
        return _whole(evidence, properties=found, samples=evidence.samples + examined.used, found_pair=pairs)

    def confirm(self, evidence: Any, allowance: Allowance, level: float) -> Iterator[EstimatorEvidence]:
        """Yield the game on fresh fits."""
        claim: Any = self.claim
        budget = min(allowance.budget, _enough(claim.point.epsilon)) if evidence.found_pair else allowance.budget
        return map(_whole, super().confirm(evidence, replace(allowance, budget=budget), level))

    def complete(self, evidence: PrivacyEvidence) -> Self:
        """Return the check of the pair that was suspected, on all that leaves its fits, whatever law is stated."""
        found = super().complete(evidence)
        if evidence.found_pair is not None:
            object.__setattr__(found, "mechanism", Fits(self.mechanism.estimator, self.mechanism.points))
            object.__setattr__(found, "method", "fixed")
        return found

    def observe_nothing(self, failure: str, cause: str = "error") -> EstimatorEvidence:
        """Return the evidence of a check that observed nothing."""
        return _whole(super().observe_nothing(failure, cause))

    @staticmethod
    def judge(terms: Any, evidence: Any, significance: float) -> PrivacyJudgment:
        """Judge the facts, then the game; a suspected or open property bars a PASS."""
        judged = PrivacyCheck.judge(terms, evidence, significance)
        broken = [each for each in evidence.properties if each.outcome == "broken"]
        doubts = [each for each in evidence.properties if each.outcome in ("suspected", "open")]
        if broken:
            return replace(judged, verdict=Verdict.FAIL, basis="computed", reason="; ".join(map(str, broken)))
        if not (evidence.ways or evidence.failure or "constant" in evidence.anomalies):
            judged = replace(judged, reason="not refuted, but too few fits to learn a score from: raise the budget")
        if not doubts or evidence.failure:
            return judged
        reason = f"{doubts[0]}; {judged.reason}"
        if judged.verdict is Verdict.PASS:
            return replace(judged, verdict=Verdict.INCONCLUSIVE, basis="none", reason=reason)
        return replace(judged, reason=reason)


def _enough(epsilon: float) -> int:
    return 400 + math.ceil(3 * _DECIDING / math.log1p(math.exp(-min(epsilon, 30.0))))


def _whole(evidence: PrivacyEvidence, **more: Any) -> EstimatorEvidence:
    return EstimatorEvidence(**{part.name: getattr(evidence, part.name) for part in fields(evidence)} | more)


def _read_claim(fits: Fits, data: Any) -> PrivacyClaim:
    """Return the claim that an estimator makes after a fit."""
    learner = fits.fresh()
    try:
        with entropy_from(np.random.default_rng(0)), record_output():
            stated = statement_of(fit_copy(learner, data))
    except Exception as error:
        said = f"`estimator` must be fitted by X and y, got {type(error).__name__}: {text.describe_error(error)}"
        raise InvalidArgument(said) from error
    name = type(learner).__name__
    if stated is None:
        raise InvalidArgument(
            f"`claim` must be given: {name} has no `privacy_spent_`; give audit.PrivacyClaim(1.0, 0.0)"
        )
    epsilon, delta, relation = stated
    known = RELATIONS.get(relation) if isinstance(relation, str) else relation
    if known is None:
        rule = f"name a relation, one of {', '.join(RELATIONS)}, or be one"
        raise InvalidArgument.of("privacy_spent_.relation", rule, relation, "or give `claim`")
    return PrivacyClaim(epsilon, delta, known, f"privacy_spent_ of {name}: {relation}")


@document_from(EstimatorCheck)
def check_estimator(
    estimator: Any,
    X: Any,
    y: Any | None = None,
    claim: claims.Claim | None = None,
    *,
    points: Any | None = None,
    public: Sequence[str] = (),
    release: Any | None = None,
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS, name: str | None = None, budget: validate.Budget = defaults.DEFAULT_BUDGET,
    significance: float = defaults.DEFAULT_SIGNIFICANCE, confirmation: float | None = defaults.DEFAULT_CONFIRMATION,
    seed: int = 0, timeout: float | None = None, workers: int | None = None,
) -> EstimatorResult:  # fmt: skip
    """Check the budget that an estimator declares, by everything that leaves its fits.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import audit
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> result = audit.check_estimator(GaussianNB(), X, y, audit.PrivacyClaim(1.0), budget=200)
    >>> print(result.verdict, len(result.properties))
    FAIL 10
    """
    return run_alone(
        EstimatorCheck(
            name=name or UNNAMED, estimator=estimator, X=X, y=y, claim=claim, points=points, public=public,
            release=release, tolerance=tolerance, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed, workers=workers,
    )  # fmt: skip
