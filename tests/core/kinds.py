"""A kind of check of the core's tests, `divisible`, added as another distribution does: by an entry point."""

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata

import pytest

from audit import plugins
from audit.checks.base import UNNAMED, StatedCheck, run_alone
from audit.evidence.base import Evidence, Interval, conclude

CACHED = ("list_plugins", "find_check", "find_evidence", "find_method", "list_scorers", "list_first")


@dataclass(frozen=True)
class Divided(Evidence):
    """What the division left over."""

    rest: int = 0


@dataclass(frozen=True, kw_only=True)
class DivisibleCheck(StatedCheck):
    """The claim that a function returns a multiple of a number."""

    function: object
    by: int
    kind, callables = "divisible", {"function": "()"}
    evidence_type, summary = Divided, "a multiple"

    def _validate(self):
        assert self.by >= 1

    def gather(self, allowance):
        return Divided(1, rest=self.function() % self.by, uses="evaluator")

    @staticmethod
    def decide(terms, evidence, significance):
        found, broken = (Interval("rest", evidence.rest, evidence.rest),), f"{evidence.rest} is left"
        return conclude("computed", found, broken=broken if evidence.rest else None, why_open=None, kept="nothing left")


def check_divisible(function, by, name=None, significance=0.05, confirmation=1e-6, seed=0, timeout=None, budget=2):
    """Check that a function returns a multiple of a number."""
    check = DivisibleCheck(name=name or UNNAMED, function=function, by=by, timeout=timeout)
    return run_alone(check, budget=budget, significance=significance, confirmation=confirmation, seed=seed)


PLUGIN = plugins.Plugin(
    name="divisible", kinds={"divisible": (f"{__name__}:DivisibleCheck", f"{__name__}:check_divisible")}
)


@contextmanager
def listed():
    """Register the kind for a while, as the entry point of another distribution."""
    entry = metadata.EntryPoint("added", f"{__name__}:PLUGIN", plugins.GROUP)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata, "entry_points", lambda group: [entry] if group == plugins.GROUP else [])
        forget()
        yield
    forget()


def forget():
    for name in CACHED:
        getattr(plugins, name).cache_clear()
