"""What the suite, the reports and the faces know of a check and of its result; nothing else is asked of either."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Protocol, Self

from audit.base.verdict import Verdict


class Check(Protocol):
    """A claim with the settings to test it: the unit that gets a verdict."""

    @property
    def name(self) -> str: ...
    @property
    def claim(self) -> Any: ...
    @property
    def expected(self) -> Verdict: ...
    @property
    def budget(self) -> int | None: ...
    @property
    def timeout(self) -> float | None: ...


class Result(Protocol):
    """The outcome of a check: verdict, and a record from which the verdict can be computed again."""

    @property
    def check(self) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def reason(self) -> str: ...
    @property
    def significance(self) -> float: ...
    @property
    def samples(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def met(self) -> bool: ...

    def record(self) -> dict[str, Any]:
        """Plain data without durations."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the duration."""
        ...


class Outcome(ABC):
    """What the results of all kinds share: a check, its evidence, and a judgement of it.

    Subclasses are frozen dataclasses with these as fields, and say what their record holds.
    """

    check: Any
    evidence: Any
    judgement: Any
    seconds: float

    @property
    def name(self) -> str:
        """Name of the check."""
        return str(self.check.name)

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        verdict: Verdict = self.judgement.verdict
        return verdict

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return str(self.judgement.reason)

    @property
    def samples(self) -> int:
        """Outputs, losses or trials drawn, or values computed."""
        return int(self.evidence.samples)

    @property
    def met(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.check.expected

    def of(self, check: Any) -> Self:
        """The same result with the caller's own check, in place of a copy that has been to another process."""
        return replace(self, check=check)  # type: ignore[type-var]

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Plain data without durations: the same evidence gives the same record, wherever it was gathered."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in a certificate, with the duration."""
        return {**self.record(), "seconds": self.seconds}
