"""Precision: does the arithmetic of floating-point numbers keep a privacy claim? A check, and a function to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from audit.base.arguments import integer, open_probability
from audit.base.defaults import DEFAULT_SIGNIFICANCE
from audit.base.errors import AuditError, InvalidArgument
from audit.checks.privacy.check import Method, PrivacyCheck
from audit.checks.privacy.result import PrivacyResult
from audit.checks.privacy.run import run_check
from audit.claims import Claim
from audit.game.bits import bit_scorers
from audit.game.scorers import SCORERS
from audit.subjects import BadLength, Block, Outputs, Stream, Subject, SubjectFailed
from audit.subjects.describe import name_of
from audit.subjects.workers import HERE, Place

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method != "fixed":
            raise InvalidArgument.of("method", "be 'fixed' for a precision check", self.method)
        if self.datasets is not None:
            raise InvalidArgument("`datasets` are not searched for a precision check: give `pairs`")
        if not (self.query is None or callable(self.query)):
            raise InvalidArgument.of("query", "be callable as (dataset)", self.query)


def examine_precision(
    check: PrecisionCheck, budget: int, significance: float, stream: Stream, place: Place = HERE
) -> PrivacyResult:
    """Run one check in this process; the check's own budget, when it has one, replaces `budget`.

    Raises
    ------
    NotFloatingPoint
        When the first outputs hold no floating-point number; before the budget is spent.
    """
    previewed = _require_floats(check, stream)
    scorers = (*SCORERS, *bit_scorers(check.claim.point.epsilon, check.query))
    result = run_check(check, budget, significance, stream, place, scorers=scorers)
    return replace(result, evidence=replace(result.evidence, samples=result.samples + previewed))


def check_precision(
    mechanism: Any,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    budget: int = DEFAULT_PRECISION_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    query: Callable[[Any], Any] | None = None,
    tolerance: float | None = None,
    workers: int = 1,
    name: str | None = None,
) -> PrivacyResult:
    """Audit one privacy claim by events on the bits of floating-point outputs; see `PrecisionCheck`.

    Parameters
    ----------
    mechanism, claim, pairs, query, tolerance
        As in `PrecisionCheck`.
    budget : int >= 2
        Outputs a side, training and certifying together.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence, for any number of workers.
    workers : int >= 1
        Processes that share the blocks of the certifying stage.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.

    Raises
    ------
    NotFloatingPoint
        When the first outputs hold no floating-point number; before the budget is spent.
    AuditError
        As `audit.check_privacy`.
    """
    check = PrecisionCheck(
        name=name or name_of(mechanism),
        mechanism=mechanism,
        claim=claim,
        pairs=pairs,
        query=query,
        budget=integer(budget, "budget", at_least=2),
        tolerance=tolerance,
    )
    significance = open_probability(significance, "significance")
    stream = Stream(integer(seed, "seed", at_least=0))
    place = Place(workers=integer(workers, "workers", at_least=1))
    return examine_precision(check, budget, significance, stream, place)


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
