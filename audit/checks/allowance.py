"""Say what a check may spend: draws, error probabilities, seeds, time, and where it draws."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

from audit.base.arguments import Budget, Effort, budget_of, integer, open_probability
from audit.base.defaults import DEFAULT_CONFIRMATION
from audit.subjects import Stream
from audit.subjects.place import HERE, Place


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
    seconds: float | None = None  # for which outputs may be drawn
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
            budget_of(budget),
            open_probability(significance, "significance"),
            Stream(integer(seed, "seed", at_least=0)),
            None if confirmation is None else open_probability(confirmation, "confirmation"),
            Place(workers=workers),
        )

    def share(self, checks: int) -> Allowance:
        """Return the allowance of each of some checks that share both probabilities equally."""
        confirmation = None if self.confirmation is None else self.confirmation / checks
        return replace(self, significance=self.significance / checks, confirmation=confirmation)
