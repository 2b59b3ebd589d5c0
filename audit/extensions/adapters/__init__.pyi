"""The names of this extension, each imported from its module when it is first used."""

from .functions import Documented as Documented
from .functions import LibraryObject as LibraryObject
from .program import Program as Program

__all__ = ["Documented", "LibraryObject", "Program"]
