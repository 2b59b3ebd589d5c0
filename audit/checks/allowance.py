"""Say what a check may spend: draws, error probabilities, seeds, time, and where it draws."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from typing import Any

from audit.defaults import DEFAULT_CONFIRMATION
from audit.execution.deadline import clock
from audit.execution.seeds import Stream
from audit.execution.workers import HERE, Place
from audit.validate import Budget, Effort, budget_of, integer, open_probability

DRAWING_SHARE, FIRST_SHARE = 0.8, 0.6  # of a time limit, for drawing; of that, for what comes before fresh outputs


def name_key(name: str) -> int:
    """Return the number of a check's name: its seeds depend on it, and on no other check."""
    return zlib.crc32(name.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Allowance:
    """Say what one check may spend, and where."""

    budget: Any  # outputs per dataset of a pair, draws in all for other kinds; a name before the check has planned them
    significance: float  # probability that a true claim is suspected, and tested again on fresh outputs
    stream: Stream  # source of all seeds
    confirmation: float | None = None  # probability of a wrong FAIL; None: the significance is
    place: Place = HERE  # where blocks of outputs are drawn when they take long; the evidence does not depend on it
    enough: int | None = None  # runs of a guess game that resolve the claim; None: all that the budget has
    seconds: float | None = None  # for which outputs may be drawn, where the budget is a name
    limit: float | None = None  # seconds until all drawing ends, that of fresh outputs too
    setting: str = "timeout={:g}"  # how the user sets the time limit
    effort: Effort | None = None  # by which a check plans that has to search for its claim first

    @classmethod
    def of(
        cls,
        budget: Budget,
        significance: float,
        seed: int,
        workers: int | None = 0,
        confirmation: float | None = DEFAULT_CONFIRMATION,
    ) -> Allowance:
        """Return the allowance of a check that runs alone; raise for a value outside its admissible set."""
        return cls(
            budget=budget_of(budget),
            significance=open_probability(significance, "significance"),
            stream=Stream(integer(seed, "seed", at_least=0)),
            confirmation=None if confirmation is None else open_probability(confirmation, "confirmation"),
            place=Place(workers=workers),
        )

    def limited(self, timeout: float) -> Allowance:
        """Return the allowance within a time limit of a check, in seconds; a part of it is for what is not drawing."""
        return replace(self, limit=DRAWING_SHARE * timeout)

    @property
    def first_seconds(self) -> float:
        """Seconds for outputs before there is a suspicion that fresh ones have to confirm."""
        limit = math.inf if self.limit is None else FIRST_SHARE * min(self.limit, clock().left)
        return min(limit, math.inf if self.seconds is None else self.seconds)

    def timeout_for(self, seconds: float) -> str:
        """Return the time limit to set, in the user's words, for that many seconds of drawing at first."""
        wanted = max(1.2 * seconds / FIRST_SHARE, 2 * (self.limit or 0.0)) / DRAWING_SHARE
        return self.setting.format(float(f"{wanted:.2g}"))

    def out_of_time(self, noun: str) -> str:
        """Return the reason of a check whose drawing the limit ended: whose time it was, and what limit would do."""
        now, timeout = clock(), (self.limit or 0.0) / DRAWING_SHARE
        is_own = 2 * now.called < now.elapsed
        said = f"{'the audit' if is_own else noun} took longer than {timeout:g} s"
        wanted = now.planned * now.pace + (now.elapsed - now.called if is_own else 0.0)
        enough = float(f"{max(2 * timeout, 1.2 * wanted / DRAWING_SHARE):.2g}")
        took = f"{now.called:.2g} of {now.elapsed:.2g} s in its calls, which gave {now.outputs:,} outputs"
        return f"{said} ({took}): set {self.setting.format(enough)}"

    def share(self, checks: int) -> Allowance:
        """Return the allowance of each of some checks that share both probabilities equally."""
        confirmation = None if self.confirmation is None else self.confirmation / checks
        return replace(self, significance=self.significance / checks, confirmation=confirmation)
