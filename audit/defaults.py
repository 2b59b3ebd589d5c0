"""Defaults that all faces share: the functions, the command line, and pytest, with the settings of its session."""

from __future__ import annotations

from dataclasses import dataclass

from audit.validate import Budget

DEFAULT_BUDGET = "auto"  # as many outputs as the claim and the number of checks need
DEFAULT_SIGNIFICANCE = 0.05  # probability that any true claim of a run is suspected, and tested again
DEFAULT_CONFIRMATION = 1e-6  # probability that any true claim of a run is judged FAIL
DEFAULT_TIMEOUT = 600.0  # seconds for one check of a run
DEFAULT_EXECUTOR = "processes"  # where the checks of a run are audited: in processes of this machine
FIXTURE = "dp_audit"  # of the pytest plugin


@dataclass
class Options:
    """Options of the command line, and the number of tests that audit."""

    significance: float  # of the whole session, in (0, 1)
    budget: Budget  # of an audit that states none
    seed: int  # of all audits; each draws outputs of its own
    recorded: bool = False  # a certificate is needed
    tests: int = 1  # among which the significance is shared
    confirmation: float | None = None  # of the whole session
    floats: str = "real"  # of privacy audits that state nothing else


@dataclass(frozen=True)
class Settings:
    """Settings of the audits of one test, from its marker."""

    budget: Budget | None = None
    audits: int | None = None
    seed: int | None = None
    timeout: float | None = None
