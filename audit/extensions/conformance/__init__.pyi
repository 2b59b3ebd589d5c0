"""The names of this extension, each imported from its module when it is first used."""

from audit.extensions.conformance.usual import discrete_gaussian as discrete_gaussian
from audit.extensions.conformance.library import Library as Library
from audit.extensions.conformance.queries import Parameters as Parameters
from audit.extensions.conformance.running import conform as conform
