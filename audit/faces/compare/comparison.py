"""What is compared: implementations of one claim, with the answer that they should be near."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.base.arguments import integer, positive, real
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.privacy.check import Method, PrivacyCheck
from audit.claims.approximate import PrivacyClaim
from audit.runs.targets import listed_in

LEAST_SAMPLE = 200  # outputs; below it too few are left once the training part and the coins' margin are taken


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """One implementation of the claim.

    Parameters
    ----------
    name : str
        Unique within its comparison.
    mechanism : callable
        As for `audit.PrivacyCheck`; its outputs in the form that all implementations share.
    note : str
        What is released, or how.
    expected, budget, method, tolerance
        As for `audit.PrivacyCheck`.
    """

    name: str
    mechanism: Any
    note: str = ""
    expected: Verdict = Verdict.PASS
    budget: int | None = None
    method: Method = "auto"
    tolerance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One (epsilon, delta) claim on several implementations.

    Parameters
    ----------
    name : str
        Unique within a run.
    claim : PrivacyClaim
        What every implementation promises, with epsilon > 0.
    pairs : sequence of (left, right)
        Neighboring datasets; errors, speed and laws are looked at on the first left one.
    truth : callable
        dataset -> the answer without noise: a number or a vector.
    implementations : sequence of Implementation
        At least two; of equal laws the first one's name is shown.
    sample : int >= 200
        Outputs of each implementation for errors and laws.
    largest_error : float > 0
        Bound on the error of one output, if there is one: the mean error then gets a finite-sample interval.

    Raises
    ------
    InvalidArgument
        When a parameter lies outside its admissible set, and for whatever `audit.PrivacyCheck` refuses.
    """

    name: str
    claim: PrivacyClaim
    pairs: Sequence[tuple[Any, Any]]
    truth: Callable[[Any], Any]
    implementations: Sequence[Implementation]
    sample: int = 20_000
    largest_error: float = math.inf

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if not (isinstance(self.claim, PrivacyClaim) and self.claim.epsilon > 0):
            raise InvalidArgument.of("claim", "be a PrivacyClaim with epsilon > 0", self.claim)
        if not callable(self.truth):
            raise InvalidArgument.of("truth", "be a function of the dataset", self.truth)
        object.__setattr__(self, "implementations", tuple(self.implementations))
        object.__setattr__(self, "sample", integer(self.sample, "sample", at_least=LEAST_SAMPLE))
        if real(self.largest_error, "largest_error") != math.inf:
            positive(self.largest_error, "largest_error")
        if len(self.implementations) < 2:
            raise InvalidArgument.of("implementations", "hold at least two", self.implementations)
        _require_unique([implementation.name for implementation in self.implementations], "implementations")
        object.__setattr__(self, "pairs", self.checks[0].pairs)
        answer = np.asarray(self.truth(self.pairs[0][0]))
        if answer.ndim > 1 or answer.dtype.kind not in "biuf":
            raise InvalidArgument.of("truth", "answer with a number or a vector of them", answer)

    @property
    def checks(self) -> list[PrivacyCheck]:
        """The privacy check of every implementation."""
        return [
            PrivacyCheck(
                name=f"{self.name}/{one.name}",
                mechanism=one.mechanism,
                claim=self.claim,
                pairs=self.pairs,
                expected=one.expected,
                budget=one.budget,
                method=one.method,
                tolerance=one.tolerance,
            )
            for one in self.implementations
        ]


def collect(targets: Sequence[str]) -> list[Comparison]:
    """The comparisons of importable packages or modules, `target.COMPARISONS`.

    Raises
    ------
    UnknownTarget
        When a target cannot be imported or has no `COMPARISONS`.
    """
    return require_comparisons(comparison for target in targets for comparison in listed_in(target, "COMPARISONS"))


def require_comparisons(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons as a list; raise unless there is one at least, and names are unique."""
    listed = list(comparisons)
    if not listed:
        raise InvalidArgument("`comparisons` must hold at least one comparison, got none")
    for comparison in listed:
        if not isinstance(comparison, Comparison):
            raise InvalidArgument.of("comparisons", "hold instances of Comparison", comparison)
    _require_unique([comparison.name for comparison in listed], "comparisons")
    return listed


def _require_unique(names: Sequence[str], what: str) -> None:
    for name, count in Counter(names).items():
        if not (isinstance(name, str) and name) or count > 1:
            raise InvalidArgument.of(what, "have names, each different", name)
