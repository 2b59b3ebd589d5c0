"""Findings as data: a folder each, with what was found, its class, and who knows of it.

A folder holds `finding.toml`, `checks.toml` or `checks.py` with the checks that show the finding, and the certificates
of those checks by release. A public finding is in `wild/<library>/findings/`; every other one is in `drafts/`, which
neither site nor distribution includes. To publish a finding is to move its folder.
"""

from __future__ import annotations

import datetime
import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from audit import Verdict
from wild.audits import audits_of, checks_of
from wild.environments import CATALOGUE

ROOT = CATALOGUE.parent
DRAFTS = Path("drafts")
DATA, CHECKS = "finding.toml", "checks.toml"

CLASSES = {
    "A": "no noise, or an exact leak",
    "B": "wrong calibration",
    "C": "an edge input or an exception",
    "D": "outside the usual domain",
    "E": "low-order bits",
    "F": "documented behavior",
}
SEVERE = ("A", "B")  # what makes a badge red
DOCUMENTED = "F"
DRAFT, REPORTED, PUBLIC = STATUSES = ("draft", "reported", "public")


class InvalidFinding(ValueError):
    """The data of a finding break a rule; the text names the file, the key, the rule and the value."""


@dataclass(frozen=True)
class Search:
    """A look-up of what upstream knows: where, the query, when, how many hits, and which of them are about the cause.

    Parameters
    ----------
    where : str
        What was searched, as a sentence on the page says it.
    query : str
        The words.
    date : date
        When.
    hits : int >= 0
        Number of hits that the search returned.
    relevant : tuple of str
        Addresses of hits about the same cause, or a related one.
    """

    where: str
    query: str
    date: datetime.date
    hits: int
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One cause in one library, with the checks that show it.

    Parameters
    ----------
    folder : Path
        Of its data, relative to the working folder.
    title : str
        What it is about, in a few words.
    letter : str
        Its class, a key of `CLASSES`.
    status : str
        One of `STATUSES`: nobody outside knows, the maintainers were told, or it is public.
    cause : str
        The lines of the release that bring it about; Markdown.
    releases : tuple of str
        Folders of `wild` with the releases in which it is looked for.
    kept : tuple of str
        Those of them that keep the claim.
    reported : date, optional
        When the maintainers were told.
    address : str
        Where it is public already.
    access : str
        What an adversary must see or choose; empty for one released result.
    true_epsilon : mapping
        Name of a check, after the slash -> its true epsilon on the pair, where it is known.
    searches : tuple of Search
        Look-ups of what upstream knows.
    no_script : str
        Why a few lines do not show it, where it has no script.
    """

    folder: Path
    title: str
    letter: str
    status: str
    cause: str
    releases: tuple[str, ...]
    kept: tuple[str, ...] = ()
    reported: datetime.date | None = None
    address: str = ""
    access: str = ""
    true_epsilon: Mapping[str, float] = field(default_factory=dict)
    searches: tuple[Search, ...] = ()
    no_script: str = ""

    def __post_init__(self) -> None:
        for key, holds, rule in (
            ("class", self.letter in CLASSES, f"must be one of {', '.join(CLASSES)}"),
            ("status", self.status in STATUSES, f"must be one of {', '.join(STATUSES)}"),
            (
                "address",
                bool(self.address) == self.is_public,
                "must say where a public finding is public, and no other",
            ),
            ("reported", self.status != REPORTED or self.reported, "must be the date of the report"),
            ("releases", bool(self.releases), "must name a folder of `wild`"),
            ("status", self.is_public != self.is_withheld, f"must be public outside of {DRAFTS}/, and not in it"),
        ):
            if not holds:
                raise InvalidFinding(f"{self.folder / DATA}: `{key}` {rule}")

    @property
    def name(self) -> str:
        """Library and name of the finding."""
        return f"{self.library}/{self.folder.name}"

    @property
    def library(self) -> str:
        """The folder of `wild` whose mechanisms the checks call."""
        return self.folder.parts[1]

    @property
    def is_public(self) -> bool:
        """Return whether it may be shown."""
        return self.status == PUBLIC

    @property
    def is_withheld(self) -> bool:
        """Return whether it is in the folder that nobody publishes."""
        return self.folder.parts[0] == DRAFTS.name

    @cached_property
    def own_checks(self) -> list[Any]:
        """Its checks, of the release whose mechanisms they call."""
        path = ROOT / self.folder / CHECKS
        if path.is_file():
            checks = checks_of(tomllib.loads(path.read_text(encoding="utf-8")), self.library)
        else:  # queries that are functions
            checks = importlib.import_module(".".join([*self.folder.parts, path.stem])).CHECKS
        return [replace(check, expected=Verdict.FAIL) for check in checks]

    def checks(self, release: str) -> list[Any]:
        """Return its checks of one of its releases, with the verdict that is expected."""
        found = self.own_checks
        if release != self.library:
            sibling = audits_of(release).sibling
            assert sibling is not None, f"{release} is no other release of {self.library}"
            found = sibling.cast(found)
        expected = Verdict.PASS if release in self.kept else Verdict.FAIL
        return [replace(check, expected=expected) for check in found]


def read(folder: Path) -> Finding:
    """Return the finding of a folder.

    Raises
    ------
    InvalidFinding
        When its data break a rule.
    """
    data = tomllib.loads((ROOT / folder / DATA).read_text(encoding="utf-8"))
    searches = tuple(Search(**{**each, "relevant": tuple(each["relevant"])}) for each in data.pop("searches", ()))
    lists = {key: tuple(data.pop(key, ())) for key in ("releases", "kept")}
    try:
        return Finding(folder, letter=data.pop("class", ""), searches=searches, **lists, **data)
    except TypeError as error:
        raise InvalidFinding(f"{folder / DATA}: {error}") from None


def all_findings() -> list[Finding]:
    """Return every finding, withheld ones among them, by class and name."""
    public = (path.parent for path in CATALOGUE.glob(f"*/findings/*/{DATA}"))
    withheld = (path.parent for path in (ROOT / DRAFTS).glob(f"*/*/{DATA}"))
    found = [read(folder.relative_to(ROOT)) for folder in (*public, *withheld)]
    return sorted(found, key=lambda each: (each.letter, each.name))
