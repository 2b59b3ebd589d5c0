"""What the suite, the reports and the faces know of a check and of its result; nothing else is asked of either."""

from __future__ import annotations

from typing import Any, Protocol

from audit.verdict import Verdict


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
