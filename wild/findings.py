"""Public findings as data: `wild/<library>/findings.toml`, and a script of the library alone for each.

A finding is here once its address is public. Its script prints what it counted, and ends with an error where the
finding does not show. `releases` records what the script said of each release.
"""

from __future__ import annotations

import datetime
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from audit import Verdict
from wild.audits import Caveat, checks_of
from wild.environments import CATALOGUE, Environment, Pin, libraries

DATA = "findings.toml"
CLASSES = {
    "A": "no noise, or an exact leak",
    "B": "wrong calibration",
    "C": "an edge input or an exception",
    "D": "outside the usual domain",
    "E": "low-order bits",
    "F": "documented behavior",
}
DOCUMENTED = "F"
SHOWS, SILENT, BROKEN = STATUSES = ("shows", "does not show", "does not run")
SECONDS = 1_200.0  # by the clock: the machine may be busy
_LATE, _KILLED = "did not end within", "was killed by signal"


class InvalidFinding(ValueError):
    """The data of a finding break a rule; the text names the file, the key, the rule and the value."""


@dataclass(frozen=True)
class Search:
    """A look-up of what upstream knows: the query, when, how many hits, and which of them are about the cause."""

    query: str
    date: datetime.date
    hits: int
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One cause in one library.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    name : str
        That of its script.
    title : str
        What it is about, in a few words.
    letter : str
        Its class, a key of `CLASSES`.
    address : str
        Where it is public.
    cause : str
        The lines of the release that bring it about; Markdown.
    releases : mapping
        Package -> status of `STATUSES` -> versions, the oldest first.
    access : str
        What an adversary must see or choose; empty for one released result.
    caveat : Caveat, optional
        The words of the documentation that state the behavior.
    true_epsilon : mapping
        Name of a check, after the slash -> its true epsilon on the pair, where it is known.
    searches : tuple of Search
        Look-ups of what upstream knows about this cause; empty where nobody looked.
    checks : list of checks
        Which show it in the release that is served.
    """

    library: str
    name: str
    title: str
    letter: str
    address: str
    cause: str
    releases: Mapping[str, Mapping[str, list[str]]]
    access: str = ""
    caveat: Caveat | None = None
    true_epsilon: Mapping[str, float] = field(default_factory=dict)
    searches: tuple[Search, ...] = ()
    checks: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        statuses = set(chain.from_iterable(self.releases.values()))
        for key, holds, rule, value in (
            ("class", self.letter in CLASSES, f"be one of {', '.join(CLASSES)}", self.letter),
            ("address", self.address, "be where the finding is public", self.address),
            ("caveat", (self.letter == DOCUMENTED) == (self.caveat is not None), "quote documented behavior, and no "
             "other", self.caveat),
            ("releases", statuses <= set(STATUSES), f"have statuses of {', '.join(STATUSES)}", statuses),
            ("releases", self.affected, "name a release in which it shows", dict(self.releases)),
        ):  # fmt: skip
            if not holds:
                raise InvalidFinding(f"{self.library}/{DATA}, {self.name}: `{key}` must {rule}, got {value!r}")

    @property
    def affected(self) -> dict[str, list[str]]:
        """The versions in which it shows, by package."""
        return {package: said[SHOWS] for package, said in self.releases.items() if said.get(SHOWS)}

    @property
    def script(self) -> Path:
        """The script that shows it."""
        return CATALOGUE / self.library / "findings" / f"{self.name}.py"

    def shows_in(self, pin: Pin) -> bool:
        """Return whether it is known to show in a release."""
        return pin.version in self.affected.get(pin.package, [])

    def checks_in(self, pin: Pin) -> list[Any]:
        """Return its checks, with the verdict that is expected in a release."""
        expected = Verdict.FAIL if self.shows_in(pin) else Verdict.PASS
        return [replace(check, expected=expected) for check in self.checks]


def read(library: str, data: Mapping[str, Any]) -> Finding:
    """Return the finding of a table.

    Raises
    ------
    InvalidFinding
        When its data break a rule.
    """
    said = dict(data)
    checks = checks_of({key: said.pop(key) for key in ("check", "searched") if key in said}, library)
    searches = tuple(Search(**{**each, "relevant": tuple(each["relevant"])}) for each in said.pop("search", ()))
    caveat = Caveat(**said.pop("caveat")) if "caveat" in said else None
    try:
        return Finding(library, letter=said.pop("class", ""), caveat=caveat, searches=searches, checks=checks, **said)
    except TypeError as error:
        raise InvalidFinding(f"{library}/{DATA}, {data.get('name')}: {error}") from None


@cache
def findings_of(library: str) -> tuple[Finding, ...]:
    """Return the findings of a library, in the order of its file."""
    path = CATALOGUE / library / DATA
    data = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return tuple(read(library, each) for each in data.get("finding", ()))


def all_findings() -> list[Finding]:
    """Return every finding, by class, library and name."""
    found = chain.from_iterable(map(findings_of, libraries()))
    return sorted(found, key=lambda each: (each.letter, each.library, each.name))


class Shown(NamedTuple):
    """Hold what became of a script: its status, one of `STATUSES`, and what was printed."""

    status: str
    printed: str


def run_script(path: Path, environment: Environment) -> Shown:
    """Run a script in an environment; an exception that the script did not mean is no answer about the finding."""
    command = [str(environment.python), "-I", "-W", "ignore", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Shown(BROKEN, f"{_LATE} {SECONDS:g} seconds")
    if done.returncode < 0:
        return Shown(BROKEN, f"{_KILLED} {-done.returncode}")
    printed = (done.stdout + done.stderr).strip()
    last = "".join(printed.splitlines()[-1:])
    answers = last.startswith("AssertionError") or "Traceback" not in printed
    return Shown(SHOWS if done.returncode == 0 else SILENT if answers else BROKEN, printed)
