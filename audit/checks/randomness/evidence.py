"""What a randomness check observed: numbers of comparisons won and lost, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import stats

from audit.checks.base import Evidence

KINDS = {
    "same noise in every call": "different calls give the same outputs at the same place, whatever generator they get",
    "reused between calls": "outputs of one call come back in another call",
    "repeats within a call": "outputs of one call repeat each other",
    "shared within a call": "outputs of one call lie on the same side of those of another call",
    "short period": "the outputs of successive calls repeat themselves at a fixed distance",
    "short period within a call": "the outputs of one long call repeat themselves at a fixed distance",
    "serial correlation": "outputs at a fixed distance in a call are correlated",
    "same noise in workers": "two worker processes give the same outputs at the same place",
}
IN_WORKERS = "same noise in workers"


@dataclass(frozen=True)
class Comparison:
    """One way of being dependent, held against independence.

    A comparison takes two pairs (P, Q) and (P', Q') of outputs, or of groups of outputs, whose partners would be alike
    if noise were reused this way. It is won when they are more alike than after swapping Q and Q', lost when less.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    won, lost, tied : int
        Comparisons of either outcome; they have no output in common.
    able : int
        Comparisons that would be won if each Q repeated its P: those with P and P' different.
    lag : int or None
        Distance between partners, chosen on outputs that are not compared; None where there is none to choose.
    """

    kind: str
    won: int
    lost: int
    tied: int
    able: int
    lag: int | None = None

    @property
    def pvalue(self) -> float:
        """Exact: under independence each comparison that is not tied is won with probability 1/2."""
        return float(stats.binom.sf(self.won - 1, self.won + self.lost, 0.5))

    @property
    def least_pvalue(self) -> float:
        """The p-value if noise were reused throughout."""
        return 0.5**self.able

    @property
    def text(self) -> str:
        """What was seen, in words."""
        at = "" if self.lag is None else f" of {self.lag}"
        said = KINDS[self.kind].replace("at a fixed distance", f"at a distance{at}")
        return f"{said} ({self.won} comparisons won, {self.lost} lost, {self.tied} tied; {self._shown})"

    @property
    def _shown(self) -> str:
        return f"p = {self.pvalue:.2g}" if self.pvalue > 0 else "p < 1e-300"


@dataclass(frozen=True)
class RandomnessEvidence(Evidence):
    """The comparisons.

    Parameters
    ----------
    samples : int
        Outputs drawn, those of the workers included.
    comparisons : tuple of Comparison
        At most one of each kind.
    workers : int
        Worker processes that drew outputs; 0 where processes cannot be forked.
    failure : str or None
        Why the check ended early.
    """

    comparisons: tuple[Comparison, ...] = ()
    workers: int = 0
