"""A served mechanism as the auditor sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import SubjectFailed
from audit.extensions.adapters import Program
from wild.environments import CATALOGUE, SERVED, environment_of


@dataclass(frozen=True)
class Served:
    """`MECHANISMS[name]` of a library's `served.py`, asked in the environment of a release.

    The environment must exist when it is called, not before: checks can be listed without it.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    name : str
        A key of its `MECHANISMS`.
    own_randomness : bool
        Whether the library draws from a generator of its own, so that a run cannot be repeated.
    release : str, optional
        Another release than the one in its requirements, such as `opendp==0.15.1`.
    timeout : float > 0
        Seconds that one answer may take.
    """

    library: str
    name: str
    own_randomness: bool = False
    release: str | None = None
    timeout: float = 120.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", f"wild.{self.library}.served")  # what a certificate calls it
        object.__setattr__(self, "__qualname__", f"MECHANISMS[{self.name!r}]")

    @property
    def program(self) -> Program:
        """The server, in the environment."""
        found = environment_of(self.library, self.release, CATALOGUE)
        if not found.python.is_file():
            raise SubjectFailed("did not start", f"has no environment: python -m wild {self.library} makes it")
        served = CATALOGUE / self.library / SERVED
        command = [found.python, "-I", CATALOGUE / "serve.py", served, self.name, found.requirements]
        return Program(list(map(str, command)), timeout=self.timeout, own_randomness=self.own_randomness)

    @property
    def audited(self) -> Any:
        """The release of the library, as its server has it installed."""
        return self.program.audited

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator, **setting: Any) -> Any:
        """Ask for `size` outputs, at a setting of the mechanism's parameters where these are searched.

        Raises
        ------
        SubjectFailed
            When the server fails, or when a whole batch raised: the audit then asks for single outputs.
        """
        try:
            sent = {"dataset": dataset, "setting": setting} if setting else dataset
            return self.program(sent, size, rng)
        except SubjectFailed as failure:
            if failure.kind == "refused":
                raise SubjectFailed("raised", str(failure)) from None
            raise
