"""Hold a recorded check with its run: what evidence has to agree with, beside itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.plugins import find_method


@dataclass(frozen=True)
class RecordedCase:
    """A check of a certificate with its evidence, or with that of one look at fresh outputs."""

    record: Mapping[str, Any]
    evidence: Any  # an `Evidence`
    seed: int  # of the run
    budget: int  # draws that the check was allowed, or that this look was
    look: int | None = None  # at fresh outputs; None for the first evidence

    @property
    def name(self) -> str:
        """Name of the check."""
        return str(self.record["name"])

    @property
    def claim(self) -> Mapping[str, Any]:
        """The claim, as plain data."""
        return dict(self.record["claim"])

    @property
    def pairs(self) -> Sequence[Mapping[str, str]]:
        """The pairs of datasets; none where a kind of check has no pairs."""
        return tuple(self.record.get("pairs", ()))

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """The event that breaks the claim; a look at fresh outputs states none."""
        return self.record.get("witness") if self.look is None else None

    @property
    def method(self) -> str:
        """Name of the method of a privacy check."""
        method = self.record["settings"]["method"]
        return str(method["way"] if isinstance(method, Mapping) else method)

    @property
    def methods(self) -> set[str]:
        """The method, and that of the package whose evidence it brings as well."""
        if not isinstance(self.record["settings"]["method"], Mapping) or (found := find_method(self.method)) is None:
            return {self.method}
        return {self.method, found.plays}

    @property
    def significance(self) -> float:
        """Significance of the check."""
        return float(self.record["settings"]["significance"])

    @property
    def confirmation(self) -> float | None:
        """Confirmation of the check; None where its significance is that."""
        found: float | None = self.record["settings"]["confirmation"]
        return found

    @property
    def own_seed(self) -> int:
        """The seed of the check: the run's, or in a session of pytest that of its test."""
        return int(self.record["settings"].get("seed", self.seed))
