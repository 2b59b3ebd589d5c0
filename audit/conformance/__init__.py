"""Ask every library the same: a table of queries and inputs, and what a library says to be asked."""

from audit.conformance.library import Library
from audit.conformance.queries import Parameters
from audit.conformance.running import conform, parametrize

__all__ = ["Library", "Parameters", "conform", "parametrize"]
