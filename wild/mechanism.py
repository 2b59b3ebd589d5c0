"""A served mechanism as the auditor sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audit.adapters import Program
from audit.mechanism.call import SubjectFailed
from wild.environments import CATALOGUE, is_javascript, node_of, pins_of, python_of, served_of


@dataclass(frozen=True)
class Served:
    """`MECHANISMS[name]` of a library's `served.py` or `served.js`, asked in the library's own environment.

    The environment must exist when it is called, not before: checks can be listed without it.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    name : str
        A key of its `MECHANISMS`.
    own_randomness : bool
        Whether the library draws from a generator of its own, so that a run cannot be repeated.
    timeout : float > 0
        Seconds that one answer may take.
    """

    library: str
    name: str
    own_randomness: bool = False
    timeout: float = 120.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", f"wild.{self.library}.served")  # what a certificate calls it
        object.__setattr__(self, "__qualname__", f"MECHANISMS[{self.name!r}]")

    @property
    def program(self) -> Program:
        """The server, in the library's environment."""
        python, served = _python(self.library), str(served_of(self.library, CATALOGUE))
        pins = str(pins_of(self.library, CATALOGUE))
        command = [str(python), "-I", str(CATALOGUE / "serve.py"), served, self.name, pins]
        if is_javascript(self.library, CATALOGUE):
            server = str(CATALOGUE / "serve.js")
            command = [str(node_of(self.library)), server, served, str(python.parents[1]), self.name]
        return Program(command, timeout=self.timeout, own_randomness=self.own_randomness)

    @property
    def audited(self) -> Any:
        """The release of the library, as its server says that it has it installed."""
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


def _python(library: str) -> Path:
    python = python_of(library)
    if not python.is_file():
        raise SubjectFailed("did not start", f"has no environment: python -m wild --library {library} makes it")
    return python
