"""The names of this extension, each imported from its module when it is first used."""

from audit.extensions.adapters.functions import Documented as Documented
from audit.extensions.adapters.functions import LibraryObject as LibraryObject
from audit.extensions.adapters.program import Program as Program

__all__ = ["Documented", "LibraryObject", "Program"]
