"""Declare what is compared: implementations of one claim, and the answer that they should be close to."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.base.arguments import integer, positive
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.privacy.check import Method, PrivacyCheck
from audit.claims import PrivacyClaim
from audit.runs.suite import listed_in

LEAST_SAMPLE = 200  # outputs; with fewer, too few are left after the training part and the margin for the coins


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """One implementation in a comparison.

    Parameters
    ----------
    name : str
        Unique within its comparison.
    mechanism : callable
        As for `PrivacyCheck`. All implementations of a comparison return outputs of the same form.
    note : str
        A sentence for the reader of the table.
    expected, budget, method, tolerance
        As for `PrivacyCheck`.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Implementation
    >>> new = Implementation(name="new", mechanism=lambda data, size, rng: data.sum() + rng.laplace(size=size))
    >>> new.expected.value
    'PASS'
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
    """Several implementations of one (epsilon, delta) claim.

    Parameters
    ----------
    name : str
        Unique within a run.
    claim : PrivacyClaim
        The claim of every implementation, with epsilon > 0.
    pairs : sequence of (left, right)
        Neighboring datasets. Errors, speed and laws are measured on the left dataset of the first pair.
    truth : callable
        Returns the answer without noise for a dataset: a number or a vector.
    implementations : sequence of Implementation
        At least two. The first one is the reference for the laws of the others.
    sample : int >= 200
        Outputs drawn from each implementation to estimate its error and compare its law.
    largest_error : float > 0
        Upper bound of the error of one output, if there is one. The mean error then gets an interval that holds in
        finite samples.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set, or `PrivacyCheck` refuses one.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Comparison, Implementation, PrivacyClaim
    >>> def laplace(data, size, rng):
    ...     return data.sum() + rng.laplace(size=size)
    >>> def two_exponentials(data, size, rng):
    ...     return data.sum() + rng.exponential(size=size) - rng.exponential(size=size)
    >>> comparison = Comparison(
    ...     name="noisy sum",
    ...     claim=PrivacyClaim(epsilon=1.0),
    ...     pairs=[(np.zeros(3), np.array([1.0, 0.0, 0.0]))],
    ...     truth=np.sum,
    ...     implementations=[
    ...         Implementation(name="old", mechanism=laplace),
    ...         Implementation(name="new", mechanism=two_exponentials),
    ...     ],
    ... )
    >>> [check.name for check in comparison.checks]
    ['noisy sum/old', 'noisy sum/new']
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
        if self.largest_error != math.inf:
            positive(self.largest_error, "largest_error")
        object.__setattr__(self, "implementations", tuple(self.implementations))
        object.__setattr__(self, "sample", integer(self.sample, "sample", at_least=LEAST_SAMPLE))
        if len(self.implementations) < 2:
            raise InvalidArgument.of("implementations", "hold at least two", self.implementations)
        _require_unique([implementation.name for implementation in self.implementations], "implementations")
        object.__setattr__(self, "pairs", self.checks[0].pairs)
        answer = np.asarray(self.answer)
        if answer.ndim > 1 or answer.dtype.kind not in "biuf":
            raise InvalidArgument.of("truth", "answer with a number or a vector of them", answer)

    @property
    def checks(self) -> list[PrivacyCheck]:
        """The privacy checks of the implementations, in their order."""
        own = ("mechanism", "expected", "budget", "method", "tolerance")
        return [
            PrivacyCheck(
                name=self.check_name(one),
                claim=self.claim,
                pairs=self.pairs,
                **{setting: getattr(one, setting) for setting in own},
            )
            for one in self.implementations
        ]

    @property
    def answer(self) -> Any:
        """The answer without noise on the first left dataset."""
        return self.truth(self.pairs[0][0])

    def check_name(self, one: Implementation) -> str:
        """Return the name of the check of an implementation."""
        return f"{self.name}/{one.name}"


def collect(targets: Sequence[str]) -> list[Comparison]:
    """Return the comparisons of importable packages or modules, `target.COMPARISONS`; raise UnknownTarget if none."""
    return require_comparisons(comparison for target in targets for comparison in listed_in(target, "COMPARISONS"))


def require_comparisons(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons as a list; raise unless there is at least one and their names are unique."""
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
