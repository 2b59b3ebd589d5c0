"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

from audit.conformance.library import Library
from audit.conformance.queries import Parameters
from audit.conformance.running import conform, parametrize

__all__ = ["Library", "Parameters", "conform", "parametrize"]
