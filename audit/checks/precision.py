"""Check whether the arithmetic of floating-point numbers keeps a privacy claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from audit.checks.allowance import Allowance
from audit.checks.base import UNNAMED
from audit.checks.judge import PrivacyEvidence
from audit.checks.methods import AnyMethod
from audit.checks.privacy import PrivacyCheck
from audit.checks.privacy_view import PrecisionView
from audit.checks.result import PrivacyResult
from audit.checks.run import documented, run_alone
from audit.checks.view import RecordView
from audit.claims import Claim
from audit.defaults import DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE
from audit.errors import AuditError, InvalidArgument
from audit.execution.seeds import Block, Stream
from audit.mechanism.call import Subject
from audit.mechanism.per_call import SubjectFailed
from audit.outputs.encode import BadLength
from audit.scorers import SCORERS, Scorer
from audit.scorers.float_bits import bit_scorers
from audit.validate import Budget
from audit.verdict import Verdict

DEFAULT_PRECISION_BUDGET = 10_000
_PREVIEW, _PREVIEW_SIZE = 30, 2  # child of the check's stream, and outputs per dataset that show their type


class NotFloatingPoint(AuditError):
    """The outputs hold no floating-point number: there are no bits to examine."""


@dataclass(frozen=True, kw_only=True)
class PrecisionCheck(PrivacyCheck):
    """A privacy claim, tested by events on the bits of floating-point outputs.

    The ordinary scorers and those of `audit.scorers.float_bits` compete on training outputs. The winner is certified on
    fresh ones by the guess game, so a true claim fails with probability at most the check's significance, whatever
    was tried. A stated law is not used, because it is about real numbers. A PASS is about the events that competed:
    other functions of the bits were not examined.

    Parameters
    ----------
    query : callable, optional
        dataset -> exact answer, number or vector of the shape of an output. It makes the events sharper and need not be
        right. Unless given, simple statistics of the datasets are tried.
    budget : int >= 2, optional
        Outputs per dataset of a pair, training and certifying together; None takes the run's budget. 10,000 show the
        common leaks, which are largest on pairs whose answers are small against the noise, such as 0 and 1.
    name, mechanism, claim, pairs, tolerance, expected, timeout
        See `audit.PrivacyCheck`. `datasets` are not searched, and the method is "fixed".

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.
    NotNeighboring
        For a pair that is not neighboring under the claim's relation.
    NotFloatingPoint
        If the first outputs hold no floating-point number; before the budget is spent.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy. Haney, Desfontaines,
    Hartman, Shrestha and Hay (2022), Precision-based attacks and interval refining.

    Examples
    --------
    >>> from audit import Local, PrecisionCheck, PrivacyClaim
    >>> def textbook(record, size, rng):
    ...     return record + rng.laplace(size=size)
    >>> check = PrecisionCheck(
    ...     name="textbook", mechanism=textbook, claim=PrivacyClaim(1.0, relation=Local()), pairs=[(0.0, 1.0)])
    >>> len(check.scorers) > 10
    True
    """

    method: AnyMethod = "fixed"
    query: Callable[[Any], Any] | None = None

    kind: ClassVar[str] = "precision"
    record_view: ClassVar[type[RecordView]] = PrecisionView

    def _validate(self) -> None:
        super()._validate()
        if self.method != "fixed":
            raise InvalidArgument.of("method", "be 'fixed' for a precision check", self.method, "leave it out")
        if self.datasets is not None:
            raise InvalidArgument("a precision check needs `pairs`: it does not search `datasets`")
        if not (self.query is None or callable(self.query)):
            raise InvalidArgument.of("query", "be callable as (dataset)", self.query)

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The ordinary scorers and those of the bits."""
        return (*SCORERS, *bit_scorers(self.claim.point.epsilon, self.query))

    @property
    def audits_floats(self) -> bool:
        """True: scores of the bits compete."""
        return True

    def gather(self, allowance: Allowance) -> PrivacyEvidence:
        """Look at a few outputs, then gather evidence as for a privacy check.

        Raises
        ------
        NotFloatingPoint
            If the first outputs hold no floating-point number; before the budget is spent.
        """
        if self.parameters is not None:  # a search comes first, and then the check that it found
            return super().gather(allowance)
        previewed = _require_floats(self, allowance.stream)
        evidence = super().gather(allowance)
        return replace(evidence, samples=evidence.samples + previewed)


@documented(PrecisionCheck)
def check_precision(
    mechanism: Any,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    query: Callable[[Any], Any] | None = None,
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS, name: str | None = None, budget: Budget = DEFAULT_PRECISION_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE, confirmation: float | None = DEFAULT_CONFIRMATION, seed: int = 0,
    timeout: float | None = None, workers: int | None = None,
) -> PrivacyResult:  # fmt: skip
    """Test a privacy claim by events on the bits of floating-point outputs.

    Examples
    --------
    >>> from audit import Local, PrivacyClaim, check_precision
    >>> def textbook(record, size, rng):  # 1-differentially private over the real numbers only
    ...     return record + rng.laplace(size=size)
    >>> result = check_precision(textbook, PrivacyClaim(1.0, relation=Local()), [(0.0, 1.0)], budget=500)
    >>> print(result.verdict, result.epsilon_lower_bound > 4)
    FAIL True
    """
    return run_alone(
        PrecisionCheck(
            name=name or UNNAMED, mechanism=mechanism, claim=claim, pairs=pairs, query=query, tolerance=tolerance,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed, workers=workers,
    )  # fmt: skip


def _require_floats(check: PrivacyCheck, stream: Stream) -> int:
    """Return the number of outputs drawn until one holds a floating-point number; raise if none does."""
    subject = Subject(check.mechanism)
    types: list[str] = []
    for (index, pair), side in product(enumerate(check.pairs), (0, 1)):
        block = Block(pair[side], _PREVIEW_SIZE, stream.child(_PREVIEW, index, side).seed())
        try:
            outputs, found = subject.draw(block)
        except (SubjectFailed, BadLength):  # left to the check, which records it
            return _PREVIEW_SIZE * len(types)
        raw = outputs.raw
        types.append(f"{raw.dtype} array" if isinstance(raw, np.ndarray) else f"list of {type(raw[0]).__name__}")
        if _holds_floats(raw) or found["raised"]:
            return _PREVIEW_SIZE * len(types)
    raise NotFloatingPoint(
        f"`mechanism` must return floating-point numbers for a precision audit, got {', '.join(sorted(set(types)))}; "
        "outputs without them have no low-order bits: audit.check_privacy examines them"
    )


def _holds_floats(raw: Any) -> bool:
    """Return whether a batch holds at least one floating-point number, NaN included."""
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy()
    if isinstance(raw, np.ndarray) and raw.dtype.kind != "O":
        return raw.dtype.kind in "fc"
    if isinstance(raw, (list, tuple, np.ndarray)):
        return any(_holds_floats(entry) for entry in raw)
    return isinstance(raw, (float, complex, np.floating, np.complexfloating))
