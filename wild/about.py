"""State what no certificate says about an audited release: its repository, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """Facts about a library that its `audits.py` states as `ABOUT`.

    Parameters
    ----------
    repository : str
        Public repository, as `owner/name`; empty when there is none.
    not_audited : tuple of str
        Parts of the public interface that no check calls, each with the reason where it is not lack of time.
    """

    repository: str = ""
    not_audited: tuple[str, ...] = ()
