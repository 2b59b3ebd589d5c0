"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

from audit.faces.conformance.library import Library, once
from audit.faces.conformance.queries import Parameters
from audit.faces.conformance.running import conform, parametrize

__all__ = ["Library", "Parameters", "conform", "once", "parametrize"]
