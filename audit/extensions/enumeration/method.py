"""The method `Enumeration` of privacy checks: how far the code is followed, and how its laws are gathered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

from audit.api import (
    Allowance,
    Claim,
    InvalidArgument,
    Method,
    PrivacyCheck,
    PrivacyEvidence,
    integer,
    number,
    positive,
)
from audit.extensions.enumeration.code_replay import CodeReplay, replay_code
from audit.extensions.enumeration.domains import AllPairs
from audit.extensions.enumeration.enumerated import LARGEST, enumerate_pairs

Source = Literal["numpy", "random", "random_state", "bytes"]
_RESIDUAL = 2.0**-42  # so that what is left over on both sides stays within the tolerance of a judge


@dataclass(frozen=True, kw_only=True)
class Enumeration(Method):
    """Follow every random choice of the code: how far, and from which source it draws.

    `check_privacy(..., method=Enumeration(...))`; `method="enumerate"` is short for `method=Enumeration()`. The verdict
    rests on the law of the code, and no budget is needed.

    Parameters
    ----------
    residual : float > 0
        Probability that may be left over in each law. Above 2^-41 it may leave a claim without delta undecided.
    time_limit : float > 0
        Seconds of the processor for each law. What is enumerated by then is used: it may refute the claim.
    states : int >= 1
        Number of states in each law.
    rng : {"numpy", "random", "random_state", "bytes"}
        The type of the source that the mechanism is given.
    generator : str, optional
        Name of the attribute that holds the generator, where the mechanism is given none.

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
    states: int = 200_000
    rng: Source = "numpy"
    generator: str | None = None

    way: ClassVar[str] = "enumerate"

    def __post_init__(self) -> None:
        for name in ("residual", "time_limit"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        object.__setattr__(self, "states", integer(self.states, "states", at_least=1))
        if self.rng not in get_args(Source):
            raise InvalidArgument.of("rng", f"be one of {', '.join(get_args(Source))}", self.rng)
        if not (self.generator is None or isinstance(self.generator, str)):
            raise InvalidArgument.of("generator", "be the name of an attribute", self.generator)

    @property
    def words(self) -> str:
        said = "the output law of the code itself, by following every random choice"
        return f"{said}, up to a residual of {number(self.residual)}"

    def require_claim(self, claim: Claim) -> None:
        """Raise for a claim about a curve: one point of it would prove less than is claimed."""
        if claim.is_curve:
            raise InvalidArgument.of("claim", "be an (epsilon, delta) claim for method 'enumerate'", claim)
        epsilon = getattr(claim, "epsilon", 0.0)
        if epsilon > LARGEST:
            raise InvalidArgument.of("claim", f"have an epsilon of at most {LARGEST:g} for method 'enumerate'", epsilon)

    def list_pairs(self, datasets: Any, claim: Claim) -> AllPairs:
        """Return every neighboring pair of a list of datasets, or of the integers."""
        return AllPairs.of(datasets, claim)

    def gather(self, check: PrivacyCheck, allowance: Allowance) -> PrivacyEvidence:
        """Return the laws of all pairs."""
        found, runs = enumerate_pairs(check.mechanism, check.pairs, asdict(self))
        for part in found.laws:
            if part.law and all(output.startswith("raised ") for output, *_ in part.law):
                return PrivacyEvidence(runs, failure=f"the mechanism {part.law[0][0]}, whatever it drew")
        return PrivacyEvidence(runs, (found,))

    def replay_in_code(self, check: Any, record: Mapping[str, Any], seed: int) -> CodeReplay | None:
        """Return how the code of a check differs from the laws of a record; `check` is None where none is listed."""
        return replay_code(check, record, seed) if record["evidence"]["ways"] else None

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the largest epsilon at which the law of the code exceeds delta for certain."""
        return enumerate_pairs(mechanism, [pair], asdict(self))[0].epsilon_lower_bound(delta)
