"""The three verdicts, the worst of which wins, and the refusal of all that would decide by accident."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NoReturn

from audit.errors import MisreadVerdict


class Verdict(StrEnum):
    """Name the verdict of a check, a text: "PASS", "FAIL" or "INCONCLUSIVE".

    Compare it with one of these words, as in `assert result.verdict == "PASS"`. Any other text or a truth value raises
    `MisreadVerdict`, and so do `bool(verdict)` and `<`: each of them would let a test pass by accident. The order is
    that of `severity`.

    Examples
    --------
    >>> from audit import Verdict
    >>> Verdict.FAIL == "FAIL"
    True
    >>> print(max([Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE], key=lambda verdict: verdict.severity))
    FAIL
    >>> Verdict.FAIL == "failed"
    Traceback (most recent call last):
    ...
    audit.errors.MisreadVerdict: a verdict is "PASS", "INCONCLUSIVE" or "FAIL", compared with 'failed'
    """

    PASS = "PASS"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"

    @property
    def severity(self) -> int:
        """The position in the order: 0 for PASS, 1 for INCONCLUSIVE, 2 for FAIL."""
        return list(Verdict).index(self)

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends with this verdict: 0 PASS, 1 FAIL, 2 INCONCLUSIVE."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 2}[self]

    def __eq__(self, other: object) -> bool:
        require_word(other)
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        require_word(other)
        return str.__ne__(self, other) if isinstance(other, str) else NotImplemented

    __hash__ = str.__hash__  # a dict or a set finds it by its text

    def __bool__(self) -> NoReturn:
        raise MisreadVerdict(
            'a verdict is not a truth value: write `verdict == "PASS"`, or `str(verdict)` for its text'
        )

    def __lt__(self, other: Any) -> NoReturn:
        raise MisreadVerdict("verdicts have no order as texts: compare `verdict.severity`, or sort `str(verdict)`")

    __le__ = __gt__ = __ge__ = __lt__


def require_word(other: object) -> None:
    """Raise for a text that is none of the three words, and for a truth value: no verdict equals either."""
    if isinstance(other, bool) or (isinstance(other, str) and str(other) not in _WORDS):
        said = " or ".join(f'"{word}"' for word in _WORDS).replace(" or ", ", ", 1)
        raise MisreadVerdict(f"a verdict is {said}, compared with {other!r}")


_WORDS = tuple(verdict.value for verdict in Verdict)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts; INCONCLUSIVE when there is none, since nothing was examined."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.INCONCLUSIVE)


def standing(verdict: Verdict, expected: Verdict) -> Verdict:
    """Return what a check contributes to the verdict of its run, given the verdict that its author expects.

    A check that is expected to PASS counts as it came out. One that is expected to FAIL (a fault, a statement known
    to be false) counts as PASS once it is refuted, and as INCONCLUSIVE as long as it is not.
    """
    if verdict is expected:
        return Verdict.PASS
    return verdict if verdict is Verdict.FAIL else Verdict.INCONCLUSIVE


BASES = {  # what a verdict rests on, the strongest first
    "proof": "every random choice of the code was followed, and nothing about the code was assumed",
    "computed": "computed without noise, from the code or from values, under the assumptions that are listed",
    "law": "a stated law, which outputs of the code were tested against",
    "noise followed": "the noise of runs of the code was followed from the generator to the output",
    "outputs": "drawn outputs, or losses of them, by bounds that hold in finite samples",
    "none": "nothing decided",
}


def outcome(verdict: Verdict, expected: Verdict) -> str:
    """Return the verdict as it is shown beside the expected one: "PASS", "FAIL, expected" or "PASS, expected FAIL"."""
    if expected is Verdict.PASS:
        return verdict.value
    return f"{verdict}, expected" if verdict is expected else f"{verdict}, expected {expected}"
