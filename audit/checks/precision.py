"""Precision: does the arithmetic of floating-point numbers keep a privacy claim? A check, and a function to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from audit.base.defaults import DEFAULT_SIGNIFICANCE
from audit.base.errors import AuditError, InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Allowance
from audit.checks.privacy.check import Method, PrivacyCheck, PrivacyResult
from audit.checks.privacy.evidence import PrivacyEvidence
from audit.checks.running import checked
from audit.claims import Claim
from audit.game.bits import bit_scorers
from audit.game.scorers import SCORERS, Scorer
from audit.subjects import BadLength, Block, Outputs, Stream, Subject, SubjectFailed

DEFAULT_PRECISION_BUDGET = 10_000
_PREVIEW, _PREVIEW_SIZE = 30, 2  # child of the check's stream, and outputs a side, that show what the outputs are


class NotFloatingPoint(AuditError):
    """The outputs hold no floating-point number, so that there are no bits to examine."""


@dataclass(frozen=True, kw_only=True)
class PrecisionCheck(PrivacyCheck):
    """A privacy claim, examined by events on the bits of floating-point outputs.

    The ordinary scorers and those of `audit.game.bits` compete on training outputs; the winner is certified on
    fresh ones by the guess game, so that a true claim fails with probability at most the check's significance, whatever
    was tried. A stated law plays no part: it speaks of real numbers. A PASS speaks of the events that competed: other
    functions of the bits were not examined.

    Parameters
    ----------
    query : callable, optional
        dataset -> exact answer, number or vector of the shape of an output. Not trusted, only tried: it makes the
        events sharper. Unless given, simple statistics of the datasets are tried.

    Other parameters are those of `PrivacyCheck`, but `datasets`; the method is "fixed". Leaks are largest on pairs
    whose answers are small against the noise, such as 0 and 1; 10,000 outputs a side show the common ones.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy. Haney, Desfontaines,
    Hartman, Shrestha & Hay (2022), Precision-based attacks and interval refining.
    """

    method: Method = "fixed"
    query: Callable[[Any], Any] | None = None

    kind: ClassVar[str] = "precision"

    def _validate(self) -> None:
        super()._validate()
        if self.method != "fixed":
            raise InvalidArgument.of("method", "be 'fixed' for a precision check", self.method)
        if self.datasets is not None:
            raise InvalidArgument("`datasets` are not searched for a precision check: give `pairs`")
        if not (self.query is None or callable(self.query)):
            raise InvalidArgument.of("query", "be callable as (dataset)", self.query)

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The ordinary scorers and those of the bits."""
        return (*SCORERS, *bit_scorers(self.claim.point.epsilon, self.query))

    def gather(self, allowance: Allowance) -> PrivacyEvidence:
        """Look at a few outputs, then gather evidence as for a privacy check.

        Raises
        ------
        NotFloatingPoint
            If the first outputs hold no floating-point number; before the budget is spent.
        """
        previewed = _require_floats(self, allowance.stream)
        evidence = super().gather(allowance)
        return replace(evidence, samples=evidence.samples + previewed)


def check_precision(
    mechanism: Any,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    query: Callable[[Any], Any] | None = None,
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_PRECISION_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    workers: int = 1,
) -> PrivacyResult:
    """Audit one privacy claim by events on the bits of floating-point outputs; see `PrecisionCheck`.

    Parameters
    ----------
    mechanism, claim, pairs, query, tolerance, expected
        As in `PrecisionCheck`.
    budget : int >= 2
        Outputs per dataset of a pair, training and certifying together.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence, for any number of workers.
    timeout : float > 0, optional
        Run in a process of its own and stop it after this many seconds: for mechanisms that may hang or die.
    workers : int >= 1
        Processes that share the blocks of the certifying stage.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.

    Returns
    -------
    PrivacyResult

    Raises
    ------
    NotFloatingPoint
        If the first outputs hold no floating-point number; before the budget is spent.
    AuditError
        As `audit.check_privacy`.
    """
    result: PrivacyResult = checked(PrecisionCheck, locals())
    return result


def _require_floats(check: PrivacyCheck, stream: Stream) -> int:
    """Raise when two outputs a side of every pair hold no floating-point number; give the number of outputs drawn.

    A mechanism that raises or gives no batch is left to the audit, which records it.
    """
    subject = Subject(check.mechanism)
    kinds: list[str] = []
    for index, pair in enumerate(check.pairs):
        for side, dataset in enumerate(pair):
            block = Block(dataset, _PREVIEW_SIZE, stream.child(_PREVIEW, index, side).seed())
            try:
                outputs, _ = subject.draw(block)
            except (SubjectFailed, BadLength):
                return _PREVIEW_SIZE * len(kinds)
            kinds.append(_kind(outputs.raw))
            if holds_floats(outputs.raw) or _raised(outputs):
                return _PREVIEW_SIZE * len(kinds)
    raise NotFloatingPoint(
        f"`mechanism` must return floating-point numbers for a precision audit, got {', '.join(sorted(set(kinds)))}; "
        "outputs without them have no low-order bits: audit.check_privacy examines them"
    )


def holds_floats(raw: Any) -> bool:
    """Whether a batch holds at least one floating-point number, NaN included."""
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy()
    if isinstance(raw, np.ndarray) and raw.dtype.kind != "O":
        return raw.dtype.kind in "fc"
    if isinstance(raw, (list, tuple, np.ndarray)):
        return any(holds_floats(entry) for entry in raw)
    return isinstance(raw, (float, complex, np.floating, np.complexfloating))


def _raised(outputs: Outputs) -> bool:
    return outputs.symbols is not None and any(text.startswith("raised ") for text in outputs.symbols.table)


def _kind(raw: Any) -> str:
    return f"{raw.dtype} array" if isinstance(raw, np.ndarray) else f"list of {type(raw[0]).__name__}"
