"""The three verdicts and their order."""

from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """Name what a check found: FAIL > INCONCLUSIVE > PASS, and the worst one wins.

    Examples
    --------
    >>> from audit import Verdict
    >>> print(max([Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE], key=lambda verdict: verdict.severity))
    FAIL
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

    def __str__(self) -> str:
        return self.value


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


OUTCOMES = {
    "PASS": "the claim holds, exactly or up to the resolution",
    "FAIL": "the claim is refuted",
    "INCONCLUSIVE": "neither, for the reason given",
    "CAUGHT": "an expected FAIL: a fault, or a statement known to be false, is refuted",
    "OPEN": "an expected INCONCLUSIVE: a question that the check leaves open",
    "MISSED": "a PASS where a FAIL was expected: a fault was not caught",
}


def outcome(verdict: Verdict, expected: Verdict) -> str:
    """Return the word for a verdict beside the expected one, a key of `OUTCOMES`.

    What is expected to hold keeps its verdict. Self-tests have words of their own, so that no report shows a FAIL that
    is good news.
    """
    if expected is Verdict.FAIL:
        return {Verdict.FAIL: "CAUGHT", Verdict.PASS: "MISSED"}.get(verdict, verdict.value)
    return "OPEN" if verdict is expected is Verdict.INCONCLUSIVE else verdict.value
