"""The method `Enumeration` of privacy checks: how far the code is followed, and how its laws are gathered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, ClassVar, get_args

from audit import PrivacyCheck
from audit.api import Allowance, InvalidArgument, Method, PrivacyEvidence, claims, text, validate
from audit.extensions.enumeration.enumerated import LARGEST, enumerate_pairs
from audit.extensions.enumeration.real_outputs import Source

_RESIDUAL = 2.0**-42  # so that the rest on both sides stays within the tolerance of a judge


@dataclass(frozen=True, kw_only=True)
class Enumeration(Method):
    """Follow every random choice of the code, with a limit and a source of randomness.

    `check_privacy(..., method=Enumeration(...))`; `method="enumerate"` is short for `method=Enumeration()`. The verdict
    rests on the law of the code, and no budget is needed.

    Parameters
    ----------
    residual : float > 0
        Probability that may be left over in each law. Above 2^-41 it may leave a claim without delta undecided.
    time_limit : float > 0
        Seconds of the processor for each law. The part enumerated by then is used: it may refute the claim.
    rng : {"numpy", "random", "random_state"}
        The type of the source that the mechanism is given.

    Raises
    ------
    InvalidArgument
        For an argument outside its admissible set.

    References
    ----------
    Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy: samplers with an exact law.

    Examples
    --------
    >>> import audit
    >>> def flipped(data, rng):
    ...     return data ^ (rng.getrandbits(2) == 0)
    >>> claim = audit.PrivacyClaim(1.1, relation=audit.Local())
    >>> method = audit.Enumeration(rng="random")
    >>> result = audit.check_privacy(audit.per_call(flipped), claim, [(False, True)], method=method)
    >>> result.verdict, result.basis
    (<Verdict.PASS: 'PASS'>, 'proof')
    """

    residual: float = _RESIDUAL
    time_limit: float = 60.0
    rng: Source = "numpy"

    way: ClassVar[str] = "enumerate"

    def __post_init__(self) -> None:
        for name in ("residual", "time_limit"):
            object.__setattr__(self, name, validate.positive(getattr(self, name), name))
        if self.rng not in get_args(Source):
            raise InvalidArgument.of("rng", f"be one of {', '.join(get_args(Source))}", self.rng)

    @property
    def words(self) -> str:
        said = "the output law of the code itself, by following every random choice"
        return f"{said}, up to a residual of {text.number(self.residual)}"

    def require_claim(self, claim: claims.Claim) -> None:
        """Raise for a claim about a curve: one point of it would prove less than is claimed."""
        if claim.is_curve:
            raise InvalidArgument.of("claim", "be an (epsilon, delta) claim for method 'enumerate'", claim)
        epsilon = getattr(claim, "epsilon", 0.0)
        if epsilon > LARGEST:
            raise InvalidArgument.of("claim", f"have an epsilon of at most {LARGEST:g} for method 'enumerate'", epsilon)

    def list_pairs(self, datasets: Any, claim: claims.Claim) -> Sequence[tuple[Any, Any]]:
        """Return every neighboring pair of a list of datasets."""
        if not isinstance(datasets, Sequence) or isinstance(datasets, (str, bytes)):
            raise InvalidArgument.of("datasets", "be a list of all datasets, for method 'enumerate'", datasets)
        relation = claim.relation
        pairs = [
            (left, right)
            for left, right in combinations(datasets, 2)
            if relation.why_not(left, right) is None or relation.why_not(right, left) is None
        ]
        if not pairs:
            raise InvalidArgument.of("datasets", f"hold two neighbors under {relation.name}", datasets)
        return pairs

    def gather(self, check: PrivacyCheck, allowance: Allowance) -> PrivacyEvidence:
        """Return the laws of all pairs."""
        found, runs = enumerate_pairs(check.mechanism, check.pairs, asdict(self))
        for part in found.laws:
            if part.law and all(output.startswith("raised ") for output, _ in part.law):
                return PrivacyEvidence(runs, failure=f"the mechanism {part.law[0][0]}, whatever it drew")
        return PrivacyEvidence(runs, (found,))

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the largest epsilon at which the law of the code exceeds delta for certain."""
        return enumerate_pairs(mechanism, [pair], asdict(self))[0].epsilon_lower_bound(delta)
