"""Entries of a library's audits: each becomes a check, with a remark where one is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audit import AddRemove, PrecisionCheck, PrivacyCheck, PrivacyClaim
from wild.mechanism import Served

Pairs = Sequence[tuple[Any, Any]]


class Entry(NamedTuple):
    """A check and what is said about it in the register; no text for a check that speaks for itself."""

    check: PrivacyCheck
    note: str = ""


@dataclass(frozen=True)
class Release:
    """Makes entries for one release of a library.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    prefix : str
        Name of the library in the names of its checks, the same for all releases.
    name : str
        Library and version, as its documentation calls them.
    budget : int
        Outputs per dataset of a check that states no other budget.
    own_randomness : bool
        Whether the library draws from a generator of its own.
    """

    library: str
    prefix: str
    name: str
    budget: int = 200_000
    own_randomness: bool = True

    def entry(
        self,
        served: str,
        pairs: Pairs | Any,
        says: str,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        relation: Any = None,
        note: str = "",
        bits: bool = False,
        claim: Any = None,
        named: str = "",
        **settings: Any,
    ) -> Entry:
        """Return one audited claim.

        Parameters
        ----------
        served : str
            A key of `MECHANISMS`; the check's name follows from it.
        pairs : sequence of (left, right), or a function of the parameters
            Neighboring datasets.
        says : str
            Where the claim stands, and its words.
        epsilon, delta, relation
            Of the claim; the relation is add/remove unless another is given.
        note : str
            A remark on the claim.
        bits : bool
            Whether the bits of the released floats are examined.
        claim : function, optional
            The claim at a setting, where `parameters` are searched.
        named : str
            What stands in the name in place of epsilon and delta.
        **settings
            Of the check.
        """
        kind = PrecisionCheck if bits else PrivacyCheck
        relation = AddRemove() if relation is None else relation
        source = f"{self.name}, {says}"
        at = named or f"eps={epsilon:.4g}" + (f" delta={delta:.4g}" if delta else "")
        check = kind(
            name=f"{self.prefix}/{served}{', bits' if bits else ''} {at}",
            claim=claim or PrivacyClaim(epsilon, delta, relation, source),
            pairs=pairs,
            **{
                "mechanism": Served(self.library, served, own_randomness=self.own_randomness),
                "budget": self.budget,
                "method": "fixed",
                **settings,
            },
        )
        return Entry(check, note)


def notes_of(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the remarks, by name of the check."""
    return {each.check.name: each.note for each in entries if each.note}
