"""Audit outputs that were drawn elsewhere: hand them out in an order of their own, each once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audit import Neighbors, PrivacyCheck, PrivacyResult, SubjectFailed, Verdict
from audit.api import BLOCK, DRAWN_BEFORE, InvalidArgument, claims, defaults, run_alone

FEWEST = 1_000  # outputs of a side
_LONG_CALL = 6 * BLOCK  # outputs from which a budget has such a call, as `LONG_SHARE` of the game says
_LONG = 12  # significant digits from which independent numbers do not repeat
_ATOM = 0.01  # share of the numbers that are equal, from which they are an atom of the law
_REPEATED, _ALMOST_ALL = 0.01, 0.999  # share of long numbers that repeat; of neighbors in order in a sorted list


@dataclass(frozen=True, repr=False)
class DrawnOutputs:
    """The outputs of one side, in the order in which they were drawn."""

    outputs: Any
    source: str
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = np.asarray(self.outputs).tobytes() if self._is_numeric else repr(list(self.outputs)).encode()
        object.__setattr__(self, "digest", hashlib.sha256(content).hexdigest())

    @property
    def _is_numeric(self) -> bool:
        return isinstance(self.outputs, np.ndarray) and not self.outputs.dtype.hasobject

    @property
    def is_floating(self) -> bool:
        """Whether the outputs are an array of floating-point numbers."""
        return self._is_numeric and np.issubdtype(self.outputs.dtype, np.floating)

    def __len__(self) -> int:
        return len(self.outputs)

    def __deepcopy__(self, memo: Any) -> DrawnOutputs:
        return self  # never changed, and as long as the file

    def __reduce__(self) -> Any:
        return str, (self.digest,)  # compared by its digest

    def __repr__(self) -> str:
        return f"{len(self):,} outputs of {self.source}, SHA-256 {self.digest[:16]}"


class Handout:
    """A mechanism `(drawn, size, rng)` that hands each output out once, in an order that the seed has fixed before."""

    uses = DRAWN_BEFORE
    own_randomness = True  # the same seed does not give the same outputs again

    def __init__(self, sides: Sequence[DrawnOutputs], seed: int) -> None:
        seeds = np.random.SeedSequence(seed).spawn(len(sides))
        orders = [np.random.default_rng(s).permutation(len(side)) for side, s in zip(sides, seeds, strict=True)]
        self._order = {id(side): order for side, order in zip(sides, orders, strict=True)}
        self._next = {id(side): 0 for side in sides}

    def __call__(self, dataset: DrawnOutputs, size: int, rng: np.random.Generator) -> Any:
        start = self._next[id(dataset)]
        places = self._order[id(dataset)][start : start + size]
        if len(places) < size:
            raise SubjectFailed("exhausted", f"has no more than {len(dataset):,} outputs of {dataset.source}")
        self._next[id(dataset)] = start + size
        outputs = dataset.outputs
        return outputs[places] if isinstance(outputs, np.ndarray) else [outputs[place] for place in places]


def check_outputs(
    left: Any,
    right: Any,
    claim: claims.Claim,
    *,
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float = defaults.DEFAULT_CONFIRMATION,
    seed: int = 0,
) -> PrivacyResult:
    """Test a privacy claim by outputs that were drawn elsewhere, on two neighboring datasets.

    Nothing can be drawn again to confirm a suspicion, so a claim is refuted at `confirmation` or not at all. The seed
    decides, before anything is read, which outputs choose the events and which certify them.

    Parameters
    ----------
    left, right : array, tensor or frame of shape (n,) or (n, d), or list of outputs of any type
        Independent outputs of one mechanism on either dataset, one for each run, in the order in which they were
        drawn; at least 1,000 of each. That the two datasets are neighbors is taken for granted.
    claim : PrivacyClaim, GaussianClaim, RenyiClaim or ZeroConcentratedClaim
        The claim under which they are neighbors.
    tolerance : float > 0, optional
        As for `audit.check_privacy`.
    expected : Verdict
        Verdict that `result.met` compares with.
    name : str, optional
        Shown in messages.
    significance : float in (0, 1)
        Probability that a true claim is suspected; a PASS resolves the claim at it.
    confirmation : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed splits the outputs in the same way.

    Returns
    -------
    PrivacyResult

    Raises
    ------
    InvalidArgument
        For too few outputs, and for lists that no independent runs give: sorted ones, and ones with outputs that were
        drawn from the list again.

    References
    ----------
    The guess game of `audit.check_privacy`; see docs/method.md.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.laplace(0, 0.5, 100_000), rng.laplace(1, 0.5, 100_000)
    >>> result = audit.check_outputs(left, right, audit.PrivacyClaim(1.0))
    >>> print(result.verdict)
    FAIL
    """
    sides = DrawnOutputs(_read_outputs(left, "left"), "left"), DrawnOutputs(_read_outputs(right, "right"), "right")
    check, budget = make_check(*sides, claim, tolerance, expected, name or "outputs", seed)
    spent = {"significance": significance, "confirmation": confirmation}
    found: PrivacyResult = run_alone(check, budget=budget, **spent, seed=seed, workers=0)
    return found


def _read_outputs(outputs: Any, name: str) -> Any:
    """Return frames, tensors and lists of numbers of one type as arrays: what holds the outputs is none of them."""
    if hasattr(outputs, "__array__") and not isinstance(outputs, np.ndarray):
        outputs = np.asarray(outputs)
        outputs = outputs[:, 0] if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs
    if not isinstance(outputs, (np.ndarray, list, tuple)) or getattr(outputs, "ndim", 1) == 0:
        raise InvalidArgument.of(name, "be an array, a frame, or a list of outputs", outputs)
    kinds = set() if isinstance(outputs, np.ndarray) else set(map(type, outputs))
    is_of_numbers = len(kinds) == 1 and all(kind in (int, float) or issubclass(kind, np.number) for kind in kinds)
    return np.array(outputs) if is_of_numbers else outputs


def make_check(
    left: DrawnOutputs, right: DrawnOutputs, claim: claims.Claim, tolerance: float | None, expected: Verdict, name: str,
    seed: int,
) -> tuple[PrivacyCheck, int]:  # fmt: skip
    """Return the check of two lists of outputs, and the outputs of each that it may use."""
    claims.require_claim(claim)
    for side in (left, right):
        if len(side) < FEWEST:
            raise InvalidArgument(f"{side.source} has {len(side):,} outputs; at least {FEWEST:,} are needed")
        require_independent(side)
    require_apart(left, right)
    taken: Any = replace(claim, relation=Neighbors(claim.relation.name, lambda *_: None))  # type: ignore[type-var]
    check = PrivacyCheck(
        name=name, mechanism=Handout((left, right), seed), claim=taken, pairs=[(left, right)], method="fixed",
        tolerance=tolerance, expected=expected,
    )  # fmt: skip
    fewest = min(len(left), len(right))
    apart = BLOCK if fewest >= _LONG_CALL else 0  # for one large call, which shows how a mechanism behaves in such
    return check, int(fewest - 6 * math.sqrt(fewest) - 64 - apart)  # the coins decide how many of each side are used


def require_independent(side: DrawnOutputs) -> None:
    """Raise for a list of numbers that no independent runs give: sorted, or with outputs that were drawn again."""
    if not side.is_floating:
        return
    columns = side.outputs.reshape(len(side), -1).T
    if any(map(_is_sorted, columns)):
        told = "a column is sorted, as one that numbers the rows: leave it out, by --column NAME of the others"
        order = "it is sorted: give the outputs in the order in which they were drawn"
        raise InvalidArgument(f"{side.source}: {told if len(columns) > 1 else order}")
    require_unrepeated(columns[0], side.source)


def require_apart(left: DrawnOutputs, right: DrawnOutputs) -> None:
    """Raise where both sides are one list, or hold the same long numbers: independent runs give neither."""
    both = f"{left.source} and {right.source}"
    if left.digest == right.digest and len(set(map(repr, left.outputs))) > 1:
        raise InvalidArgument(f"{both} hold the same outputs in the same order: give those of each dataset")
    if left.is_floating and right.is_floating:
        first = [side.outputs.reshape(len(side), -1)[:, 0] for side in (left, right)]
        require_unrepeated(np.concatenate(first), f"{both} together")


def require_unrepeated(numbers: np.ndarray, source: str) -> None:
    """Raise for numbers of which long ones repeat evenly: counts of atoms, and of the values of a grid, are uneven."""
    long = numbers[np.isfinite(numbers) & (numbers != np.round(numbers, 0)) & (_round(numbers) != numbers)]
    values, counts = np.unique(long, return_counts=True)
    rare = counts <= _ATOM * len(numbers)
    long, counts = long[np.isin(long, values[rare])], counts[rare]
    repeats = len(long) - len(counts)
    is_even = bool(repeats) and np.var(counts) < 2 * np.mean(counts)
    if is_even and len(long) > FEWEST / 2 and repeats / len(long) > max(_REPEATED, _expect_repeats(long)):
        repeated = f"{repeats:,} of {len(long):,} numbers with {_LONG} digits or more repeat"
        why = "as in a list that was resampled or written twice: give each output of the mechanism once"
        raise InvalidArgument(f"{source}: {repeated}, {why}")


def _is_sorted(numbers: np.ndarray) -> bool:
    ordered = float(np.mean(numbers[1:] >= numbers[:-1])) if len(np.unique(numbers)) > len(numbers) / 2 else 0.5
    return not 1 - _ALMOST_ALL < ordered < _ALMOST_ALL


def _expect_repeats(numbers: np.ndarray) -> float:
    """Return a share of repeats that independent numbers of single precision stay below; 0 for others."""
    single = numbers.astype(np.float32)
    if np.any(single != numbers):
        return 0.0
    first, last = np.percentile(numbers, [25, 75])
    return float(len(numbers) * np.median(np.spacing(np.abs(single))) / max(last - first, np.finfo(float).tiny))


def _round(numbers: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = 10.0 ** (_LONG - 1 - np.floor(np.log10(np.abs(numbers))))
        return np.round(numbers * scale) / scale
