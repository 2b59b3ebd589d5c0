"""How a privacy check looks at its mechanism: the three methods of the package, and those that extensions add."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from audit import plugins
from audit.claims import Claim
from audit.errors import InvalidArgument
from audit.evidence.base import Allowance

CoreMethod = Literal["auto", "fixed", "exact"]
Floats = Literal["real", "audit"]


class ListedPairs(tuple[tuple[Any, Any], ...]):
    """The pairs that a method lists for the datasets of a check."""


class Method(ABC):
    """A method that an extension adds: a frozen dataclass whose fields are its settings, which a record holds.

    A user writes the object, `method=audit.Enumeration(states=100)`, or its name, "enumerate", for usual settings.
    """

    way: ClassVar[str]  # its name
    plays: ClassVar[str] = ""  # the method of the package whose evidence it brings as well
    find: ClassVar[Any] = staticmethod(plugins.find_method)
    list_ways: ClassVar[Any] = staticmethod(lambda: plugins.list_keys("methods"))

    @property
    @abstractmethod
    def words(self) -> str:
        """The method in words, as a page shows it."""

    def require_claim(self, claim: Claim) -> None:  # noqa: B027
        """Raise `InvalidArgument` for a claim that the method cannot judge."""

    def list_pairs(self, datasets: Any, claim: Claim) -> ListedPairs:
        """Return the pairs that `datasets` stands for; raise `InvalidArgument` where it stands for none."""
        raise InvalidArgument.of("datasets", "be searched with method='auto'", datasets)

    def plan_budget(self, terms: Any, significance: float) -> int | None:
        """Return the outputs per dataset that resolve a claim; None where its method of the package decides."""
        return None

    @abstractmethod
    def gather(self, check: Any, allowance: Allowance) -> Any:
        """Return the `PrivacyEvidence` of a check."""

    def look_first(self, session: Any) -> Any:
        """Return a `Way` of looking before the game of a session; None where there is none.

        Where it keeps the claim, and looked at calls as long as those of a game, few outputs follow, which confirm it.
        `session` has the pairs, the claim and the time.
        """
        return None

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the epsilon of one pair, from below or estimated; a search climbs it. NaN where there is none."""
        return math.nan


AnyMethod = CoreMethod | Method | str  # what a check is given: the name of a method, or one
