"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

from audit.extensions.conformance.library import Library
from audit.extensions.conformance.queries import Parameters
from audit.extensions.conformance.running import conform, parametrize

__all__ = ["Library", "Parameters", "conform", "parametrize"]
